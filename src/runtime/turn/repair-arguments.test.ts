import { createHash } from "node:crypto";

import { describe, expect, test, vi } from "vitest";

import {
  anyTool,
  call,
  history,
  inputOf,
  ofType,
  play,
  say,
  scriptedSession,
} from "../../../test/contracts/session-fixture.ts";
import type { AgentOptions, RepairArguments } from "../../index.ts";
import { type AppendDraft, memoryStore } from "../log/index.ts";
import { tool } from "../tools/index.ts";

const BROKEN = '{"city": "Paris"';
const FIXED = '{"city":"Paris"}';
const MISFIT = '{"town":"Paris"}';

const weather = (ran: unknown[] = [], more: { readonly idempotent?: boolean } = {}) =>
  tool({
    name: "get_weather",
    description: "Weather of a city",
    input: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
    access: "write",
    ...more,
    run: (input) => {
      ran.push(input);
      return "Sunny";
    },
  });

async function runCall(
  text: string,
  repairArguments: RepairArguments | undefined,
  options: Partial<AgentOptions> = {},
) {
  const ran: unknown[] = [];
  const { session, emulator } = await scriptedSession(
    [{ output: [call("get_weather", text)] }, { output: [say("done")] }],
    { tools: [weather(ran)], permissions: "auto", repairArguments, ...options },
  );
  const { result } = await play(session.send("go"));
  const events = await history(session);
  const [answer] = ofType(events, "tool_result");
  return { ran, result, events, answer, emulator, session };
}

describe("arguments that are not usable", () => {
  test.for([
    ["do not parse", BROKEN, /not valid JSON|JSON/],
    ["do not fit", MISFIT, /city/],
  ] as const)("go to the hook once if they %s; the call runs with what it returns", async ([, text, why]) => {
    const hook = vi.fn<RepairArguments>(async () => FIXED);
    const { ran, answer, events, emulator } = await runCall(text, hook);
    expect(hook.mock.calls).toEqual([
      [
        {
          tool: "get_weather",
          callId: answer?.callId,
          arguments: text,
          problem: expect.stringMatching(why) as string,
          signal: expect.any(AbortSignal) as AbortSignal,
        },
      ],
    ]);
    expect(ran).toEqual([{ city: "Paris" }]);
    expect(answer).toMatchObject({ status: "ok", text: "Sunny" });
    // The log keeps both texts, and the provider gets its own back.
    expect(ofType(events, "tool_call")).toMatchObject([{ arguments: text }]);
    expect(ofType(events, "tool_start")).toMatchObject([{ arguments: FIXED }]);
    const sent = inputOf(emulator, 1).find((item) => item["type"] === "function_call");
    expect(sent?.["arguments"]).toBe(text);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("are not touched if they fit, and nothing more is logged", async () => {
    const hook = vi.fn<RepairArguments>(async () => "{}");
    const { events } = await runCall(FIXED, hook);
    expect(hook).not.toHaveBeenCalled();
    expect(ofType(events, "tool_start")[0]).not.toHaveProperty("arguments");
  });

  test.for([
    ["returns nothing", async () => undefined, undefined],
    ["returns the same text", async () => BROKEN, undefined],
    ["throws", () => Promise.reject(new Error("out of ideas")), /failed: out of ideas/],
    [
      "throws at once",
      () => {
        throw new Error("no");
      },
      /failed: no/,
    ],
    ["returns no text", (async () => 42) as unknown as RepairArguments, /returned 42, not a text/],
    ["returns a text that does not fit either", async () => MISFIT, /do not fit either/],
    ["returns a text that does not parse either", async () => "{", /do not fit either/],
  ] as const)("stay as they are if the hook %s", async ([, hook, notice]) => {
    const { ran, answer, result, events } = await runCall(BROKEN, hook);
    expect(ran).toEqual([]);
    expect(result).toMatchObject({ status: "completed" });
    expect(answer).toMatchObject({
      status: "error",
      text: expect.stringMatching(/^not executed: /) as string,
    });
    const notices = ofType(events, "notice").filter(({ code }) => code === "repair_failed");
    expect(notices.map(({ message }) => message)).toEqual(
      notice === undefined ? [] : [expect.stringMatching(notice)],
    );
  });

  test("do not hold a turn that is cancelled while the hook hangs", async () => {
    const { session } = await scriptedSession([{ output: [call("get_weather", BROKEN)] }], {
      tools: [weather()],
      permissions: "auto",
      repairArguments: () => {
        queueMicrotask(() => turn.cancel());
        return new Promise(() => undefined);
      },
    });
    const turn = session.send("go");
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    expect(ofType(await history(session), "tool_result")).toMatchObject([{ status: "cancelled" }]);
  });

  test("of an unknown tool are not repaired", async () => {
    const hook = vi.fn<RepairArguments>(async () => FIXED);
    await runCall(BROKEN, hook, { tools: [anyTool("other", () => 1)] });
    expect(hook).not.toHaveBeenCalled();
  });
});

test("a question shows the repaired text, and the decision is bound to it", async () => {
  const hash = createHash("sha256").update(`get_weather\0${FIXED}`).digest("hex");
  const asked: string[] = [];
  const { events, ran } = await runCall(BROKEN, async () => FIXED, {
    permissions: async ({ arguments: text, argumentsHash }) => {
      asked.push(text, argumentsHash);
      return { decision: "allow" };
    },
  });
  expect(asked).toEqual([FIXED, hash]);
  expect(ofType(events, "permission_request")).toMatchObject([{ arguments: FIXED, argumentsHash: hash }]);
  expect(ofType(events, "permission_decision")).toMatchObject([{ argumentsHash: hash }]);
  expect(ran).toEqual([{ city: "Paris" }]);
});

/** The log as a process left it that died after its last event of this type. */
async function crashed(type: "tool_start" | "permission_request", permissions: "auto" | "ask") {
  const { session } = await scriptedSession([{ output: [call("get_weather", BROKEN)] }], {
    tools: [weather()],
    permissions,
    repairArguments: async () => FIXED,
  });
  const turn = session.send("go");
  for await (const event of turn)
    if (event.type === "permission_request") await session.approve(event.requestId);
  const events = await history(session);
  const end = events.findIndex((event) => event.type === type) + 1;
  const drafts = events
    .slice(0, end)
    .map(({ v: _v, seq: _seq, epoch: _epoch, ...draft }) => draft as AppendDraft);
  const store = memoryStore();
  await store.create("s1", { events: drafts, blobs: new Map() });
  return store;
}

describe("after a crash", () => {
  test("an idempotent call runs again with the text in the log, and the hook is not asked again", async () => {
    const ran: unknown[] = [];
    const hook = vi.fn<RepairArguments>(async () => '{"city":"Rome"}');
    const { session } = await scriptedSession([{ output: [say("done")] }], {
      store: await crashed("tool_start", "auto"),
      tools: [weather(ran, { idempotent: true })],
      permissions: "auto",
      repairArguments: hook,
    });
    expect(await session.resume().result()).toMatchObject({ status: "completed" });
    expect(ran).toEqual([{ city: "Paris" }]);
    expect(hook).not.toHaveBeenCalled();
    expect(ofType(await history(session), "tool_start").map(({ arguments: text }) => text)).toEqual([
      FIXED,
      FIXED,
    ]);
  });

  test("a call that a person was asked about is asked about with the same text", async () => {
    const ran: unknown[] = [];
    const { session } = await scriptedSession([{ output: [say("done")] }], {
      store: await crashed("permission_request", "ask"),
      tools: [weather(ran)],
      permissions: "ask",
      repairArguments: async () => '{"city":"Rome"}',
    });
    const turn = session.resume();
    const asked: string[] = [];
    for await (const event of turn) {
      if (event.type !== "permission_request") continue;
      asked.push(event.arguments);
      await session.approve(event.requestId);
    }
    expect(await turn.result()).toMatchObject({ status: "completed" });
    expect([asked, ran]).toEqual([[FIXED], [{ city: "Paris" }]]);
  });
});
