/** Unknown options and wrong values throw at once, name the function and the option, and change nothing. */

import { expect, test } from "vitest";

import { memoryStore } from "../log/index.ts";
import { emulator, openaiChat } from "../models/index.ts";
import { tool } from "../tools/index.ts";
import { createAgent } from "./index.ts";
import type { Session } from "./types.ts";

const model = emulator();

const refused = (message: string): unknown =>
  expect.objectContaining({ code: "options_invalid", message: expect.stringContaining(message) as unknown });

const real = tool({ name: "add", description: "Adds", input: { type: "object" }, run: () => 1 });
const { access: _access, ...withoutAccess } = real;

test.each([
  [{ instructions: "Be brief" }, 'createAgent: unknown option "instructions"; did you mean "system"?'],
  [{ maxSteps: 3 }, 'createAgent: unknown option "maxSteps"; did you mean "limits.maxSteps"?'],
  [{ limits: { maxStep: 3 } }, 'unknown option "limits.maxStep"; did you mean "limits.maxSteps"?'],
  [{ canAsk: false }, 'unknown option "canAsk"; did you mean "interactive"?'],
  [{ replay: { foreign: "note" } }, 'unknown option "replay.foreign"; did you mean "replay.otherModels"?'],
  [{ replay: { reasoning: "some" } }, 'replay.reasoning is "some"'],
  [{ replay: { reasoning: { maxItem: 1 } } }, 'did you mean "replay.reasoning.maxItems"?'],
  [{ replay: "all" }, 'replay is "all"'],
  [{ compaction: { at: 7 } }, "compaction.at is 7"],
  [{ compaction: { atShare: 0.5 } }, 'unknown option "compaction.atShare"'],
  [{ limits: { maxSteps: 1.5 } }, "limits.maxSteps is 1.5: use a whole number, 1 or more"],
  [{ limits: { maxSteps: Number.NaN } }, "limits.maxSteps is NaN"],
  [{ limits: { maxSteps: "10" } }, 'limits.maxSteps is "10"'],
  [{ limits: 10 }, "limits is 10"],
  [{ permissions: "red-only" }, 'did you mean "read-only"?'],
  [{ interactive: "no" }, 'interactive is "no": use true or false'],
  [{ tools: [{}] }, "made with tool(…)"],
  [{ tools: [withoutAccess] }, "the access of add must be read, write or execute"],
  [{ tools: real }, "tools is an object: use an array of tools"],
  [{ system: 42 }, "system is 42: use a string"],
  [{ fetch: "x" }, 'fetch is "x": use a function'],
  [{ trace: true }, "trace is true: use a function"],
  [{ clock: {} }, "clock is an object: use a clock with now, monotonic and sleep"],
  [{ cwd: 7 }, "cwd is 7: use a string"],
  [{ secrets: "sk-1" }, "secrets is a string: use an array of strings"],
  [{ modelFrom: "openai" }, 'modelFrom is "openai": use a function'],
  [{ model: "openai/gpt-5.6" }, 'modelFrom("openai/gpt-5.6")'],
])("createAgent refuses %j", (options, message) => {
  expect(() => createAgent({ model, ...options } as never)).toThrow(refused(message));
});

test.each([
  [{ store: "./sessions" }, 'open: store is "./sessions": use a store: fileStore("./sessions")'],
  [{ store: {} }, "open: store is an object: use a store: fileStore(…), postgresStore(…) or memoryStore()"],
  [{ sessionId: "s" }, 'open: unknown option "sessionId"; did you mean "id"?'],
  [{ id: 7 }, "open: id is 7"],
  [{ mode: "rw" }, 'open: mode is "rw": use "write", "read"'],
  ["s", 'open: the options are "s": use an object'],
])("open refuses %j", async (options, message) => {
  await expect(createAgent({ model }).open(options as never)).rejects.toThrow(refused(message));
});

test("sessions refuses a folder instead of a store", () => {
  expect(() => createAgent({ model }).sessions("./sessions" as never)).toThrow(
    refused('sessions: store is "./sessions": use a store: fileStore("./sessions")'),
  );
});

const calls: readonly (readonly [string, (session: Session) => unknown, string])[] = [
  ["send", (s) => s.send("x", { abortSignal: null } as never), 'did you mean "signal"?'],
  ["send", (s) => s.send("x", { signal: new AbortController() } as never), "controller.signal"],
  ["send", (s) => s.send("x", { schema: {} } as never), 'did you mean "output"?'],
  ["send", (s) => s.send("x", { keepEvents: true } as never), 'did you mean "bufferEvents"?'],
  ["send", (s) => s.send("x", { model: 42 } as never), "model is 42"],
  ["send", (s) => s.send("x", { whenBusy: "wait" } as never), 'whenBusy is "wait"'],
  ["send", (s) => s.send("x", { turn: 7 } as never), "turn is 7"],
  ["resume", (s) => s.resume({ abortSignal: null } as never), 'did you mean "signal"?'],
  ["retry", (s) => s.retry({ form: "message" } as never), 'did you mean "from"?'],
  ["retry", (s) => s.retry({ from: "start" } as never), 'from is "start": use "message"'],
  ["edit", (s) => s.edit(2, "x", { sginal: null } as never), 'did you mean "signal"?'],
  ["fork", (s) => s.fork({ form: 3 } as never), 'unknown option "form"'],
  ["fork", (s) => s.fork({ at: 1.5 }), "at is 1.5"],
  ["compact", (s) => s.compact({ keepTurn: 1 } as never), 'did you mean "keepTurns"?'],
  ["events", (s) => s.events({ since: 1 } as never), 'did you mean "after"?'],
  ["events", (s) => s.events({ after: "1" } as never), 'after is "1"'],
  ["follow", (s) => s.follow({ singal: null } as never), 'did you mean "signal"?'],
  ["preview", (s) => s.preview({ modle: "x" } as never), 'did you mean "model"?'],
  ["explain", (s) => s.explain({ requst: 1 } as never), 'did you mean "request"?'],
  ["explain", (s) => s.explain({ request: 1.5 }), "request is 1.5"],
  ["checkout", (s) => s.checkout({ too: 1 } as never), 'did you mean "to"?'],
  ["approve", (s) => s.approve("pr", { argumentHash: "x" } as never), 'did you mean "argumentsHash"?'],
  ["answer", (s) => s.answer("el", { actoin: "accept" } as never), 'did you mean "action"?'],
  ["answer", (s) => s.answer("el", {} as never), "action is undefined"],
  ["truncateFrom", (s) => s.truncateFrom(1.5), "seq is 1.5"],
  ["setModel", (s) => s.setModel(42 as never), "model is 42: use a model, or the name of one"],
];

test.each(calls)("%s refuses what it does not know (%#)", async (method, call, message) => {
  const session = await createAgent({ model }).open({ store: memoryStore() });
  await session.send("Hello").result();
  const before = session.lastSeq;
  await expect(async () => await call(session)).rejects.toThrow(refused(message));
  await expect(async () => await call(session)).rejects.toThrow(`${method}: `);
  expect(session.lastSeq).toBe(before);
  await session.close();
});

test("a mistyped effort gets a suggestion", async () => {
  const session = await createAgent({ model }).open();
  expect(() => session.send("x", { effort: "hgih" as never })).toThrow('did you mean "high"?');
  await session.close();
});

test("keepLastTurns refuses a text", async () => {
  const session = await createAgent({ model }).open();
  await session.send("Hello").result();
  await expect(session.keepLastTurns("2" as never)).rejects.toMatchObject({ code: "keep_turns_invalid" });
  await session.close();
});

test.each([
  [{ heders: {} }, 'toResponse: unknown option "heders"; did you mean "headers"?'],
  [{ headers: 5 }, "toResponse: headers is a number: use an object of strings"],
])("toResponse refuses %j", async (options, message) => {
  const session = await createAgent({ model }).open();
  const turn = session.send("Hello");
  expect(() => turn.toResponse(options as never)).toThrow(refused(message));
  await turn.result();
  await session.close();
});

test("a mistyped profile gets a suggestion", () => {
  expect(() => openaiChat("m", { profile: "deepsek" as never })).toThrow(/did you mean "deepseek"\?$/);
});
