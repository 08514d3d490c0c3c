/** Rules in a session: where they come from, which calls they allow, what the log says, and how long they hold. */

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  call,
  history,
  ofType,
  say,
  scriptedSession,
  type ScriptStep,
} from "../../../test/contracts/session-fixture.ts";
import type { SessionEvent } from "../../base/events/index.ts";
import { fileStore, memoryStore } from "../log/index.ts";
import { emulator } from "../models/index.ts";
import { builtinTools } from "../tools/index.ts";
import { createAgent } from "./agent.ts";
import type { AgentOptions, Session } from "./types.ts";

type Question = Extract<SessionEvent, { readonly type: "permission_request" }>;

const command = (text: string): object => call("run_command", { command: text });
const step = (...texts: readonly string[]): ScriptStep => ({ output: texts.map(command) });
const done: ScriptStep = { output: [say("done")] };

/** Runs the turn and answers each question. Returns the questions. */
async function played(
  session: Session,
  answer: (question: Question) => Promise<unknown>,
): Promise<readonly Question[]> {
  const turn = session.send("go");
  const asked: Question[] = [];
  for await (const event of turn) {
    if (event.type !== "permission_request") continue;
    asked.push(event);
    await answer(event);
  }
  expect((await turn.result()).status).toBe("completed");
  return asked;
}

async function withCommands(
  script: readonly ScriptStep[],
  options: Partial<AgentOptions> & Parameters<typeof scriptedSession>[1] = {},
) {
  const tools = builtinTools({ cwd: temporaryFolder() });
  const settings = { tools, permissions: "ask", ...options } as const;
  return { tools, ...(await scriptedSession(script, settings)) };
}

const code = (work: Promise<void>): Promise<unknown> =>
  work.catch((error: { readonly code: string }) => error.code);

const commandsOf = (asked: readonly Question[]): readonly unknown[] =>
  asked.map((one) => (JSON.parse(one.arguments) as { readonly command: unknown }).command);

describe("a rule of the agent", () => {
  test("allows what it covers without a question, and the decision names it", async () => {
    const { session } = await withCommands([step("echo one", "echo two; echo three"), done], {
      allow: ["run_command:echo *"],
    });
    const asked = await played(session, ({ requestId }) => session.deny(requestId));
    expect(commandsOf(asked)).toEqual(["echo two; echo three"]);
    const events = await history(session);
    expect(
      ofType(events, "permission_decision").map(({ decision, by, rule }) => [decision, by, rule]),
    ).toEqual([
      ["deny", "person", undefined],
      ["allow", "policy", "run_command:echo *"],
    ]);
    expect(session.rules).toEqual([{ rule: "run_command:echo *", from: "agent" }]);
  });

  test("also allows it where there is no person to ask", async () => {
    const { session } = await withCommands([step("echo one", "date"), done], {
      allow: ["run_command:echo *"],
      interactive: false,
    });
    expect(await played(session, () => Promise.reject(new Error("asked")))).toEqual([]);
    const results = ofType(await history(session), "tool_result");
    expect(results.map(({ status }) => status).toSorted()).toEqual(["denied", "ok"]);
  });

  test.for([
    [{ permissions: "read-only" }, 'allow needs permissions: "ask"'],
    [{ permissions: "deny" }, 'allow needs permissions: "ask"'],
    [{}, 'allow needs permissions: "ask"'],
    [{ permissions: async () => ({ decision: "deny" }) }, 'allow needs permissions: "ask"'],
    [{ permissions: "ask", allow: "run_command" }, "allow"],
  ] as const)("is refused with options %j, where it could not apply", ([options, why]) => {
    const made = (): unknown =>
      createAgent({
        model: emulator(),
        tools: builtinTools({ cwd: "." }),
        allow: ["run_command"],
        ...options,
      } as AgentOptions);
    expect(made).toThrow(
      expect.objectContaining({
        code: "options_invalid",
        message: expect.stringContaining(why) as string,
      }),
    );
  });

  test("is refused by createAgent if it is wrong", () => {
    expect(() => createAgent({ model: emulator(), permissions: "ask", allow: ["nope"] })).toThrow(
      expect.objectContaining({ code: "allow_rule_invalid" }),
    );
  });

  test("does not cover a call that wraps several", async () => {
    const uses = [{ recipient_name: "functions.run_command", parameters: { command: "echo one" } }];
    const { session } = await withCommands(
      [{ output: [call("multi_tool_use.parallel", { tool_uses: uses })] }, done],
      { allow: ["run_command"] },
    );
    const asked = await played(session, ({ requestId }) => session.approve(requestId));
    expect(asked).toMatchObject([{ tool: "multi_tool_use.parallel" }]);
    expect(asked[0]?.rule).toBeUndefined();
  });
});

describe("allow for this session", () => {
  test("adds exactly the rule of the question, and it holds after a reopening, an undo and a kill", async () => {
    const store = fileStore(temporaryFolder());
    const first = await withCommands([step("echo one"), done, step("echo one", "echo two"), done], { store });
    const [asked] = await played(first.session, ({ requestId, argumentsHash }) =>
      first.session.approve(requestId, { argumentsHash, forSession: true }),
    );
    expect(asked?.rule).toBe("run_command:echo one");
    const events = await history(first.session);
    expect(ofType(events, "permission_rule")).toMatchObject([
      { rule: "run_command:echo one", by: "person", requestId: asked?.requestId },
    ]);
    expect(ofType(events, "permission_decision")).toMatchObject([
      { decision: "allow", by: "person", requestId: asked?.requestId },
    ]);
    await first.session.undo();
    await first.session.close();

    const session = await first.agent.open({ id: "s1", store });
    expect(session.rules).toEqual([{ rule: "run_command:echo one", from: "session" }]);
    const again = await played(session, ({ requestId }) => session.deny(requestId));
    expect(commandsOf(again)).toEqual(["echo two"]);
    expect(ofType(await history(session), "permission_decision").at(-1)).toMatchObject({
      decision: "allow",
      by: "policy",
      rule: "run_command:echo one",
    });
    await session.close();
  });

  test("a fork does not inherit the rule", async () => {
    const store = memoryStore();
    const { session } = await withCommands([step("echo one"), done, step("echo one"), done], { store });
    await played(session, ({ requestId }) => session.approve(requestId, { forSession: true }));
    const child = await session.fork();
    expect(child.rules).toEqual([]);
    expect(ofType(await history(child), "permission_rule")).toEqual([]);
    const asked = await played(child, ({ requestId }) => child.deny(requestId));
    expect(commandsOf(asked)).toEqual(["echo one"]);
    await child.close();
  });

  test("a tool without patterns is allowed by its name, with any arguments", async () => {
    const tool = anyTool("deploy", () => "ok", { access: "execute" });
    const { session } = await scriptedSession(
      [{ output: [call("deploy", { to: "a" })] }, { output: [call("deploy", { to: "b" })] }, done],
      { tools: [tool], permissions: "ask" },
    );
    const asked = await played(session, ({ requestId }) => session.approve(requestId, { forSession: true }));
    expect(asked.map(({ rule }) => rule)).toEqual(["deploy"]);
  });

  test("is refused for a call that no rule says exactly; the question stays open", async () => {
    const { session } = await withCommands([step("echo one\necho two"), done]);
    const asked = await played(session, async ({ requestId }) => {
      await expect(session.approve(requestId, { forSession: true })).rejects.toMatchObject({
        code: "allow_rule_invalid",
      });
      await session.approve(requestId);
    });
    expect(asked[0]?.rule).toBeUndefined();
    expect(session.rules).toEqual([]);
  });
});

describe("allow and disallow", () => {
  test("add a rule by name and remove it; the log keeps both", async () => {
    const { session } = await withCommands([step("echo one"), done, step("echo one"), done]);
    await session.allow("run_command:echo *");
    expect(await played(session, () => Promise.reject(new Error("asked")))).toEqual([]);
    await session.disallow("run_command:echo *");
    expect(session.rules).toEqual([]);
    const asked = await played(session, ({ requestId }) => session.deny(requestId));
    expect(commandsOf(asked)).toEqual(["echo one"]);
    expect(
      ofType(await history(session), "permission_rule").map(({ rule, removed }) => [rule, removed]),
    ).toEqual([
      ["run_command:echo *", undefined],
      ["run_command:echo *", true],
    ]);
  });

  test("refuse a wrong rule, an unknown one, one of the agent, and a session that asks nothing", async () => {
    const { session } = await withCommands([done], { allow: ["run_command:date"] });
    expect(await code(session.allow("nope"))).toBe("allow_rule_invalid");
    expect(await code(session.allow("run_command:git * | x"))).toBe("allow_rule_invalid");
    expect(await code(session.disallow("run_command:ls"))).toBe("rule_not_found");
    expect(await code(session.disallow("run_command:date"))).toBe("rule_not_found");
    const auto = await withCommands([done], { permissions: "auto" });
    expect(await code(auto.session.allow("run_command:date"))).toBe("allow_rule_invalid");
  });

  test("a rule in the log that does not fit the agent's tools covers nothing", async () => {
    const store = memoryStore();
    const first = await withCommands([done], { store });
    await first.session.allow("run_command:echo *");
    await first.session.close();
    const other = anyTool("run_command", () => "ok", { access: "execute" });
    const second = await scriptedSession([step("echo one"), done], {
      store,
      tools: [other],
      permissions: "ask",
    });
    const asked = await played(second.session, ({ requestId }) => second.session.deny(requestId));
    expect(commandsOf(asked)).toEqual(["echo one"]);
  });
});

test.for(["read-only", "deny"] as const)("a rule of the session allows nothing under %s", async (mode) => {
  const store = memoryStore();
  const first = await withCommands([done], { store });
  await first.session.allow("run_command:echo *");
  await first.session.close();
  const second = await withCommands([step("echo one"), done], { store, permissions: mode });
  expect(await played(second.session, () => Promise.reject(new Error("asked")))).toEqual([]);
  expect(ofType(await history(second.session), "tool_result")).toMatchObject([{ status: "denied" }]);
});
