/** What a permission function may return, and what becomes of tools that neither side says anything about. */

import { expect, test } from "vitest";

import { call, history, ofType, say, scriptedSession } from "../../../test/contracts/session-fixture.ts";
import { tool, type Tool } from "../tools/index.ts";

const writes = (done: string[]): Tool =>
  tool({
    name: "write",
    description: "Writes",
    input: { type: "object" },
    access: "write",
    run: () => done.push("ran"),
  });

test.for([true, "yes", undefined, null, { allow: true }, { decision: "yes" }])(
  "a permission function that returns %j fails the turn, and nothing runs",
  async (answer) => {
    for (const permissions of [async () => answer, () => answer]) {
      const done: string[] = [];
      const { session, emulator } = await scriptedSession(
        [{ output: [call("write"), call("write", { again: true })] }, { output: [say("x")] }],
        { tools: [writes(done)], permissions: permissions as never },
      );
      const result = await session.send("go").result();
      expect(result).toMatchObject({
        status: "failed",
        error: {
          code: "permission_invalid",
          message: expect.stringContaining('Return { decision: "allow" } or') as unknown,
        },
      });
      const events = await history(session);
      expect(ofType(events, "permission_decision")).toEqual([]);
      expect(ofType(events, "tool_start")).toEqual([]);
      expect(ofType(events, "tool_result").map(({ status }) => status)).toEqual([
        "not_executed",
        "not_executed",
      ]);
      expect(done).toEqual([]);
      expect((await session.send("and now?").result()).status).toBe("completed");
      expect(emulator.report().totals.refused).toBe(0);
    }
  },
);

test("a permission function may return a decision without a promise", async () => {
  const done: string[] = [];
  const { session } = await scriptedSession([{ output: [call("write")] }, { output: [say("x")] }], {
    tools: [writes(done)],
    permissions: (() => ({ decision: "allow" })) as never,
  });
  expect((await session.send("go").result()).status).toBe("completed");
  expect(done).toEqual(["ran"]);
});

const plain = tool({ name: "add", description: "Adds", input: { type: "object" }, run: () => 3 });
const declared = tool({
  name: "add",
  description: "Adds",
  input: { type: "object" },
  access: "execute",
  run: () => 3,
});

const script = [
  { output: [call("add")] },
  { output: [call("add", { again: true })] },
  { output: [say("x")] },
];

test("the first denial by default says once per session what to change", async () => {
  const { session } = await scriptedSession(script, { tools: [plain], permissions: undefined });
  await session.send("go").result();
  const events = await history(session);
  expect(ofType(events, "tool_result").map(({ status }) => status)).toEqual(["denied", "denied"]);
  expect(ofType(events, "notice")).toEqual([
    expect.objectContaining({
      code: "tool_denied_by_default",
      message:
        'the tool "add" was denied by default: a tool without "access" counts as "execute", and an agent without "permissions" is "read-only". Set access: "read" on the tool if it only reads, or permissions: "ask" or "auto" on the agent',
    }),
  ]);
});

test.for([
  ["the agent names its permissions", { tools: [plain], permissions: "read-only" }],
  ["the tool names its access", { tools: [declared] }],
] as const)("a denial says nothing more if %s", async ([, options]) => {
  const { session } = await scriptedSession(script, { permissions: undefined, ...options });
  await session.send("go").result();
  const events = await history(session);
  expect(ofType(events, "tool_result").map(({ status }) => status)).toEqual(["denied", "denied"]);
  expect(ofType(events, "notice")).toEqual([]);
});
