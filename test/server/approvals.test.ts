/** Approvals over HTTP: a tool runs with exactly the arguments that were shown and approved, or it does not run. */

import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import type { SessionEvent, SessionHandle } from "../../src/index.ts";
import { anyTool, call, ofType, say, type ScriptStep } from "../contracts/session-fixture.ts";
import { ask, codeIn, followUntil, served, type Served } from "./server-fixture.ts";

type Question = Extract<SessionEvent, { readonly type: "permission_request" }>;

interface Attacked extends Served {
  readonly session: SessionHandle;
  /** The arguments with which the tool ran. */
  readonly runs: unknown[];
  /** Sends an answer as any client may; resolves to the status and the code. */
  readonly answer: (requestId: string, body: object) => Promise<readonly [number, unknown]>;
  /** The question with this number, counted from 1. */
  readonly question: (number: number) => Promise<Question>;
}

async function attacked(script: readonly ScriptStep[]): Promise<Attacked> {
  const runs: unknown[] = [];
  const write = anyTool(
    "write",
    (input) => {
      runs.push(input["path"]);
      return "ok";
    },
    { access: "write" },
  );
  const parts = await served({ script, tools: [write], permissions: "ask" });
  const session = await parts.remote.open({ id: "s1" });
  return {
    ...parts,
    session,
    runs,
    answer: async (requestId, body) => {
      const path = `/api/sessions/s1/permissions/${encodeURIComponent(requestId)}`;
      const answer = await ask(parts.server, { method: "POST", path, body: JSON.stringify(body) });
      return [answer.status, codeIn(answer)];
    },
    question: async (number) => {
      let seen = 0;
      const events = await followUntil(session, ({ type }) => {
        if (type === "permission_request") seen += 1;
        return type === "permission_request" && seen === number;
      });
      return ofType(events, "permission_request")[number - 1] as Question;
    },
  };
}

const writes = (path: string): object => call("write", { path });
const hashOf = ({ tool, arguments: text }: Question): string =>
  createHash("sha256").update(`${tool}\0${text}`).digest("hex");
const NOT_PENDING = [409, "permission_not_pending"];
const MISMATCH = [409, "permission_mismatch"];

test("a question carries the hash of the arguments it shows; approving other arguments is refused and runs nothing", async () => {
  const a = await attacked([{ output: [writes("shown")] }, { output: [say("done")] }]);
  const turn = a.session.send("go");
  const question = await a.question(1);
  expect(question.argumentsHash).toBe(hashOf(question));
  const other = createHash("sha256").update('write\0{"path":"other"}').digest("hex");
  for (const argumentsHash of [other, "", question.argumentsHash.toUpperCase()])
    expect(await a.answer(question.requestId, { decision: "allow", argumentsHash })).toEqual(MISMATCH);
  await expect(a.session.approve(question.requestId, { argumentsHash: other })).rejects.toMatchObject({
    code: "permission_mismatch",
  });
  expect(a.runs).toEqual([]);
  const { argumentsHash } = question;
  expect(await a.answer(question.requestId, { decision: "allow", argumentsHash })).toEqual([200, undefined]);
  expect((await turn.result()).text).toBe("done");
  expect(a.runs).toEqual(["shown"]);
});

test("the hash and the id of one call do not approve another", async () => {
  const a = await attacked([{ output: [writes("first"), writes("second")] }, { output: [say("done")] }]);
  const turn = a.session.send("go");
  const first = await a.question(1);
  expect(await a.answer(first.callId, { decision: "allow" })).toEqual(NOT_PENDING);
  expect(await a.answer(`${first.requestId}x`, { decision: "allow" })).toEqual(NOT_PENDING);
  expect(await a.answer(first.requestId, { decision: "deny" })).toEqual([200, undefined]);
  const second = await a.question(2);
  const { argumentsHash } = first;
  expect(await a.answer(second.requestId, { decision: "allow", argumentsHash })).toEqual(MISMATCH);
  expect(await a.answer(first.requestId, { decision: "allow", argumentsHash })).toEqual(NOT_PENDING);
  expect(await a.answer(second.requestId, { decision: "allow" })).toEqual([200, undefined]);
  expect((await turn.result()).text).toBe("done");
  expect(a.runs).toEqual(["second"]);
});

test("arguments sent along with an approval, or any other field, are refused", async () => {
  const a = await attacked([{ output: [writes("shown")] }, { output: [say("done")] }]);
  const turn = a.session.send("go");
  const { requestId } = await a.question(1);
  for (const more of [
    { arguments: '{"path":"other"}' },
    { input: {} },
    { argumentsHash: 7 },
    { callId: "x" },
  ]) {
    const [status] = await a.answer(requestId, { decision: "allow", ...more });
    expect(status).toBe(400);
  }
  expect(a.runs).toEqual([]);
  await a.session.approve(requestId);
  await turn.result();
  expect(a.runs).toEqual(["shown"]);
});

test("of many simultaneous answers, from two clients and both ways, one counts and the tool runs at most once", async () => {
  const a = await attacked([{ output: [writes("shown")] }, { output: [say("done")] }]);
  const turn = a.session.send("go");
  const { requestId } = await a.question(1);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => a.answer(requestId, { decision: n % 2 === 0 ? "allow" : "deny" })),
  );
  expect(answers.filter(([status]) => status === 200).length).toBe(1);
  expect(answers.filter(([status]) => status !== 200)).toEqual(Array.from({ length: 19 }, () => NOT_PENDING));
  const allowed = answers.findIndex(([status]) => status === 200) % 2 === 0;
  expect((await turn.result()).text).toBe("done");
  expect(a.runs).toEqual(allowed ? ["shown"] : []);
  expect(await a.answer(requestId, { decision: "allow" })).toEqual(NOT_PENDING);
});

test("an answer to a question of a stopped turn approves nothing in its retry or in the edited message", async () => {
  const a = await attacked([
    { output: [writes("first")] },
    { output: [writes("retried")] },
    { output: [say("done")] },
    { output: [writes("edited")] },
    { output: [say("done")] },
  ]);
  const stopped = a.session.send("go");
  const first = await a.question(1);
  await a.session.cancel();
  expect((await stopped.result()).status).toBe("cancelled");
  const allow = { decision: "allow", argumentsHash: first.argumentsHash };
  expect(await a.answer(first.requestId, allow)).toEqual(NOT_PENDING);

  const retried = a.session.retry({ from: "message" });
  const second = await a.question(2);
  expect(await a.answer(first.requestId, { decision: "allow" })).toEqual(NOT_PENDING);
  expect(await a.answer(second.requestId, allow)).toEqual(MISMATCH);
  await a.session.approve(second.requestId, { argumentsHash: second.argumentsHash });
  expect((await retried.result()).status).toBe("completed");
  expect(a.runs).toEqual(["retried"]);

  const log = await followUntil(a.session, ({ type }) => type === "user_message");
  const message = ofType(log, "user_message")[0];
  const edited = a.session.edit(message?.seq ?? -1, "go elsewhere");
  const third = await a.question(3);
  for (const old of [first, second])
    expect(await a.answer(old.requestId, { decision: "allow" })).toEqual(NOT_PENDING);
  await a.session.approve(third.requestId, { argumentsHash: third.argumentsHash });
  expect((await edited.result()).status).toBe("completed");
  expect(a.runs).toEqual(["retried", "edited"]);
});

test("an answer for the session adds the rule that was shown, over HTTP too; a denial cannot, and a request without a rule refuses it", async () => {
  const a = await attacked([
    { output: [writes("first"), writes("second")] },
    { output: [writes("third")] },
    { output: [say("done")] },
  ]);
  const turn = a.session.send("go");
  const first = await a.question(1);
  expect(first.rule).toBe("write");
  expect(await a.answer(first.requestId, { decision: "deny", forSession: true })).toEqual([
    400,
    "field_invalid",
  ]);
  expect(await a.answer(first.requestId, { decision: "allow", forSession: "yes" })).toEqual([
    400,
    "field_invalid",
  ]);
  await a.session.approve(first.requestId, { argumentsHash: first.argumentsHash, forSession: true });
  expect((await turn.result()).text).toBe("done");
  expect(a.runs).toEqual(["first", "second", "third"]);
  expect(a.session.rules).toEqual([{ rule: "write", from: "session" }]);
  await a.session.disallow("write");
  expect(a.session.rules).toEqual([]);
  await expect(a.session.disallow("write")).rejects.toMatchObject({ code: "rule_not_found" });
  await expect(a.session.allow("write:x")).rejects.toMatchObject({ code: "allow_rule_invalid" });
  await a.session.allow("write");
  expect(a.session.rules).toEqual([{ rule: "write", from: "session" }]);
});

test("a message that waits while a question is open does not change what is approved", async () => {
  const a = await attacked([
    { output: [writes("shown")] },
    { output: [say("done")] },
    { output: [say("again")] },
  ]);
  const turn = a.session.send("go");
  const question = await a.question(1);
  const waiting = a.session.send("and then");
  await a.session.approve(question.requestId, { argumentsHash: question.argumentsHash });
  expect((await turn.result()).text).toBe("done");
  expect((await waiting.result()).text).toBe("again");
  expect(a.runs).toEqual(["shown"]);
});

test("when a second attempt replaces the answer, only the calls of the last attempt are asked about and run", async () => {
  const a = await attacked([
    { output: [writes("replaced"), say("x")], faults: ["cut=after-item:0"] },
    { output: [writes("last")] },
    { output: [say("done")] },
  ]);
  const turn = a.session.send("go");
  const question = await a.question(1);
  expect(JSON.parse(question.arguments)).toEqual({ path: "last" });
  await a.session.approve(question.requestId, { argumentsHash: question.argumentsHash });
  expect((await turn.result()).text).toBe("done");
  expect(a.runs).toEqual(["last"]);
});
