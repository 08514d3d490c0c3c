/** Questions of running tools over HTTP: any client answers, exactly one answer counts, and nothing else is an answer. */

import { expect, test } from "vitest";

import type { ElicitationAnswer, ElicitationRequest } from "../../src/base/events/index.ts";
import type { SessionHandle } from "../../src/index.ts";
import { askingTool, form } from "../contracts/elicit-fixture.ts";
import { call, ofType, say } from "../contracts/session-fixture.ts";
import { ask, codeIn, followUntil, served, type Served } from "./server-fixture.ts";

interface Asked extends Served {
  readonly session: SessionHandle;
  readonly got: ElicitationAnswer[];
  readonly question: () => Promise<ElicitationRequest>;
  /** Sends an answer as any client may; resolves to the status and the code. */
  readonly answer: (requestId: string, body: unknown) => Promise<readonly [number, unknown]>;
}

async function asked(request = form()): Promise<Asked> {
  const got: ElicitationAnswer[] = [];
  const script = [{ output: [call("ask")] }, { output: [say("done")] }];
  const parts = await served({ script, tools: [askingTool(request, got)] });
  const session = await parts.remote.open({ id: "s1" });
  return {
    ...parts,
    session,
    got,
    question: async () => {
      const events = await followUntil(session, ({ type }) => type === "elicitation_request");
      return ofType(events, "elicitation_request")[0] as ElicitationRequest;
    },
    answer: async (requestId, body) => {
      const path = `/api/sessions/s1/elicitations/${encodeURIComponent(requestId)}`;
      const answer = await ask(parts.server, { method: "POST", path, body: JSON.stringify(body) });
      return [answer.status, codeIn(answer)];
    },
  };
}

test("another client sees the question and answers it; the values reach the tool and no viewer", async () => {
  const a = await asked();
  const turn = a.session.send("go");
  const { requestId, server, fields } = await a.question();
  expect([server, fields?.length]).toEqual(["people", 2]);
  const other = await a.remote.open({ id: "s1" });
  await other.answer(requestId, { action: "accept", content: { name: "Typed-Elsewhere", count: 7 } });
  expect((await turn.result()).text).toBe("done");
  expect(a.got).toEqual([{ action: "accept", content: { name: "Typed-Elsewhere", count: 7 } }]);
  const log = await ask(a.server, { path: "/api/sessions/s1/log" });
  expect(log.text).toContain('"type":"elicitation_answer"');
  expect(log.text).not.toContain("Typed-Elsewhere");
  await other.close();
});

test("of many simultaneous answers of two clients exactly one counts", async () => {
  const a = await asked();
  const turn = a.session.send("go");
  const { requestId } = await a.question();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      a.answer(
        requestId,
        n % 2 === 0 ? { action: "decline" } : { action: "accept", content: { name: `n${n}` } },
      ),
    ),
  );
  expect(answers.filter(([status]) => status === 200)).toHaveLength(1);
  expect(answers.filter(([status]) => status !== 200)).toEqual(
    Array.from({ length: 19 }, () => [409, "elicitation_not_pending"]),
  );
  await turn.result();
  expect(a.got).toHaveLength(1);
});

test("a malformed answer, a wrong id and a closed connection are no answers", async () => {
  const a = await asked();
  const turn = a.session.send("go");
  const { requestId, callId } = await a.question();
  for (const body of [
    {},
    { action: "yes" },
    { action: "accept", content: "x" },
    { action: "accept", content: { name: "x" }, by: "person" },
    [],
    null,
  ])
    expect((await a.answer(requestId, body))[0]).toBe(400);
  expect(await a.answer(requestId, { action: "accept", content: { count: 1 } })).toEqual([
    400,
    "elicitation_invalid",
  ]);
  expect(await a.answer(requestId, { action: "decline", content: {} })).toEqual([400, "elicitation_invalid"]);
  for (const id of [callId, `${requestId}x`, "%00", "__proto__"])
    expect(await a.answer(id, { action: "decline" })).toEqual([409, "elicitation_not_pending"]);
  await a.session.close(); // the client that started the turn is gone
  expect(a.got).toEqual([]);
  const other = await a.remote.open({ id: "s1" });
  await other.answer(requestId, { action: "decline" });
  await other.close();
  await expect.poll(() => a.got).toEqual([{ action: "decline" }]);
  await turn.result().catch(() => undefined);
});

test("cancelling the turn answers the question with cancel", async () => {
  const a = await asked();
  const turn = a.session.send("go");
  const { requestId } = await a.question();
  await a.session.cancel();
  expect((await turn.result()).status).toBe("cancelled");
  expect(a.got).toEqual([{ action: "cancel" }]);
  expect(await a.answer(requestId, { action: "decline" })).toEqual([409, "elicitation_not_pending"]);
});
