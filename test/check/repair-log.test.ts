/**
 * A log of ours whose next request breaks a numbered rule is repaired by appending, for every rule that a log can break
 * at all; then the strict emulator accepts the next request at the first attempt.
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, memoryStore, type Store } from "../../src/index.ts";
import type { AppendDraft, Log } from "../../src/runtime/log/index.ts";
import { CHAT_RULES, MESSAGES_RULES, RESPONSES_RULES } from "../../src/runtime/rules/index.ts";
import { planRepair, previewFromLog } from "../../src/runtime/session/index.ts";
import { emulatedModel } from "../exhaustive/corpus.ts";
import { EXHAUSTIVE, someOf } from "../exhaustive/how-much.ts";
import { stamped, userMessage } from "../support/next-request.ts";
import { Tally } from "../support/runs.ts";
import { type HandMade, handMadeLog, type Json, tools } from "./hand-made-log.ts";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

const RS = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAAABo" };
const MSG = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hi.", annotations: [] }],
};
const FC = {
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_1",
  name: "get_weather",
  arguments: '{"city":"Rome"}',
};
const THINK = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
const TEXT = { type: "text", text: "Hi." };
const USE = { type: "tool_use", id: "toolu_1", name: "get_weather", input: { city: "Rome" } };
const CALL = {
  id: "call_1",
  type: "function",
  function: { name: "get_weather", arguments: '{"city":"Rome"}' },
};
const SAYS = { content: "Hi." };

const honest = (...raws: readonly Json[]): readonly HandMade[] => raws.map((raw) => ({ raw }));
/** The event has the first value; the text is the second. */
const lying = (says: Json, raw: Json): HandMade => ({ raw, says });

interface Case {
  readonly model: string;
  readonly groups: readonly (readonly HandMade[])[];
  readonly first?: boolean;
}

const OPAQUE = { opaque: true, itemId: "rs_1" };

/** One for each rule that a log can break. */
const BREAKS: Readonly<Record<string, Case>> = {
  R01: { model: "emu-reasoner", groups: [honest(RS, { ...MSG, role: "user" })] },
  R02: {
    model: "emu-reasoner",
    groups: [[...honest(RS), lying({ itemId: "msg_1" }, { ...MSG, id: undefined })]],
  },
  R03: {
    model: "emu-reasoner",
    groups: [[lying(OPAQUE, { ...RS, encrypted_content: undefined }), ...honest(MSG)]],
  },
  R04: { model: "emu-reasoner", groups: [[...honest(MSG), lying({ itemId: "msg_2" }, MSG)]] },
  R05: { model: "emu-reasoner", groups: [[lying({ itemId: "msg_1" }, { ...MSG, id: "a b" })]] },
  R07: { model: "emu-reasoner", groups: [honest(FC, { ...FC, id: "fc_2" })] },
  R09: { model: "emu-reasoner", groups: [honest({ ...FC, call_id: undefined })] },
  R12: {
    model: "emu-reasoner",
    groups: [honest({ ...MSG, content: [{ type: "input_text", text: "Hi." }] })],
  },
  R14: {
    model: "emu-reasoner",
    groups: [
      [
        lying(
          { type: "assistant_message", itemType: "message", text: "Hi." },
          { type: "item_reference", id: "msg_1" },
        ),
      ],
    ],
  },
  R17: { model: "emu-reasoner", groups: [[lying({ text: "Hi." }, { ...MSG, content: undefined })]] },
  M03: {
    model: "emu-claude",
    groups: [[lying({ opaque: true }, { ...THINK, signature: "" }), ...honest(TEXT)]],
  },
  M05: {
    model: "emu-claude",
    groups: [
      [
        lying(
          { type: "reasoning", itemType: "thinking", opaque: true, parts: [] },
          { type: "text", text: "Hm." },
        ),
        ...honest(THINK, TEXT),
      ],
    ],
  },
  M07: { model: "emu-claude", groups: [honest({ ...USE, id: undefined })] },
  M09: {
    model: "emu-claude",
    groups: [
      [
        lying(
          {
            type: "tool_call",
            itemType: "tool_use",
            callId: "toolu_1",
            name: "get_weather",
            arguments: "{}",
          },
          TEXT,
        ),
      ],
    ],
  },
  M11: { model: "emu-claude", groups: [honest({ ...USE, id: undefined })] },
  M12: { model: "emu-claude", groups: [honest(USE), honest(USE)] },
  M13: { model: "emu-claude", groups: [honest(USE, USE)] },
  M14: { model: "emu-claude", groups: [[lying({ text: "Hi." }, { type: "text", text: "" })]] },
  M16: { model: "emu-claude", groups: [honest(TEXT)], first: false },
  M23: { model: "emu-claude", groups: [honest({ ...USE, input: "cut o" })] },
  M25: { model: "emu-claude", groups: [[lying({ name: "get_weather" }, { ...USE, name: "f.get_weather" })]] },
  Q01: { model: "emu-deepseek", groups: [[lying({ callId: "call_1" }, { ...CALL, id: undefined })]] },
  Q02: { model: "emu-deepseek", groups: [honest(CALL, CALL)] },
  Q03: { model: "emu-kimi", groups: [honest({ reasoning_content: "" }, CALL)] },
  Q06: {
    model: "emu-router",
    groups: [1, 2].map(() =>
      honest({ reasoning_details: [{ type: "reasoning.summary", summary: "x", id: "a" }] }, SAYS),
    ),
  },
  Q08: { model: "emu-deepseek", groups: [[lying({ callId: "call_1" }, { ...CALL, id: undefined })]] },
  Q11: {
    model: "emu-deepseek",
    groups: [
      [
        lying(
          { name: "get_weather", arguments: "{}" },
          { ...CALL, function: { name: "get_weather", arguments: {} } },
        ),
      ],
    ],
  },
  Q12: {
    model: "emu-deepseek",
    groups: [
      [lying({ name: "get_weather" }, { ...CALL, function: { ...CALL.function, name: "f.get_weather" } })],
    ],
  },
  R18: {
    model: "emu-reasoner",
    groups: [[lying({ name: "get_weather" }, { ...FC, name: "f.get_weather" })]],
  },
};

/** docs/reliability.md says why no log can. */
const NEVER =
  "R06 R08 R10 R11 R13 R15 R16 M01 M02 M04 M06 M08 M10 M15 M17 M18 M19 M20 M21 M22 M24 Q04 Q05 Q07 Q09 Q10".split(
    " ",
  );

/** A store with this log in it. */
async function storeOf(events: readonly LoggedEvent[]): Promise<Store> {
  const store = memoryStore();
  await store.create("s", { events: events as readonly AppendDraft[], blobs: new Map() });
  return store;
}

/** The rules that the request of the next message would break. */
async function brokenRules(log: Log): Promise<readonly string[]> {
  const next: Log = { ...log, events: stamped(log.events, [userMessage("Next")]) };
  return [...new Set((await previewFromLog(next)).violations.map(({ rule }) => rule))];
}

test("every rule is listed as one that a log can break or as one that no log can", () => {
  const all = [...RESPONSES_RULES, ...MESSAGES_RULES, ...CHAT_RULES].map(({ id }) => id);
  expect([...Object.keys(BREAKS), ...NEVER].toSorted()).toEqual(all.toSorted());
});

describe("a log whose next request breaks", () => {
  test.each(Object.entries(BREAKS))(
    "%s is repaired by appending, and the next request is accepted",
    async (rule, { model, groups, first }) => {
      const store = await storeOf(handMadeLog(model, emulator.baseUrl, groups, first));
      const log = await store.open("s", { mode: "write" });
      const before = [...log.events];
      expect(await brokenRules(log)).toContain(rule);
      const { drafts, repairs, remaining } = await planRepair(log);
      expect(remaining).toEqual([]);
      expect(repairs.length).toBeGreaterThan(0); // one correction may repair several
      expect(drafts.at(-1)).toMatchObject({ type: "notice", code: "log_repaired" });
      await log.append(drafts);
      expect(log.events.slice(0, before.length)).toEqual(before);
      expect(await brokenRules(log)).toEqual([]);
      expect((await planRepair(log)).drafts).toEqual([]);
      await log.close();
      await expectTaken(store, model);
    },
  );
});

/** One request, accepted: nothing is left to heal. */
async function expectTaken(store: Store, model: string): Promise<void> {
  const asked = emulator.exchanges.length;
  const agent = createAgent({
    model: emulatedModel(model, emulator.baseUrl),
    tools,
    system: "Be brief.",
    permissions: "auto",
  });
  const session = await agent.open({ id: "s", store });
  expect(await session.send("Hello").result()).toMatchObject({ status: "completed" });
  await session.close();
  const verdicts = emulator.exchanges.slice(asked).map(({ report }) => report?.message ?? report?.verdict);
  expect(verdicts).toEqual(["accepted"]);
}

const ODD: readonly unknown[] = [
  undefined,
  null,
  "",
  7,
  [],
  {},
  "x".repeat(100),
  "a b",
  [{ type: "input_text", text: "x" }],
  [{ type: "output_text", text: "" }],
  [null],
];

/** Good groups of each dialect, to be corrupted. */
const GROUPS: readonly (readonly [string, readonly Json[]])[] = [
  ["emu-reasoner", [RS, MSG, FC, { id: "ws_1", type: "web_search_call", status: "completed", action: {} }]],
  ["emu-claude", [THINK, { type: "redacted_thinking", data: "x" }, TEXT, USE]],
  ["emu-claude-plain", [TEXT, USE]],
  ["emu-deepseek", [{ reasoning_content: "Hm." }, SAYS, CALL]],
  ["emu-kimi", [{ reasoning_content: "Hm." }, SAYS, CALL]],
  ["emu-mistral", [{ content_thinking: "Hm." }, SAYS, CALL]],
  ["emu-router", [{ reasoning_details: [{ type: "reasoning.summary", summary: "x", id: "a" }] }, SAYS, CALL]],
  ["emu-groq", [{ reasoning: "Hm." }, SAYS, CALL]],
  ["emu-chat", [SAYS, CALL]],
];

/** Every subset, backwards, twice, doubled; every field of every item odd, with and without the event knowing it. */
function* spoilt(items: readonly Json[]): Generator<readonly (readonly HandMade[])[]> {
  for (let mask = 1; mask < 2 ** items.length; mask += 1) {
    const some = honest(...items.filter((_, index) => (mask & (1 << index)) !== 0));
    yield [some];
    yield [some.toReversed()];
    yield [some, some];
    yield [[...some, ...some]];
  }
  for (const [at, item] of items.entries()) {
    const put = (one: HandMade): readonly (readonly HandMade[])[] => [
      honest(...items).map((other, index) => (index === at ? one : other)),
    ];
    for (const key of new Set([...Object.keys(item), "id", "status", "role", "call_id", "cache_control"])) {
      for (const odd of ODD) yield put({ raw: item, instead: { ...item, [key]: odd } });
      if (!("function" in item) && !("content" in item))
        for (const odd of ODD) yield put({ raw: { ...item, [key]: odd } });
    }
    for (const instead of [{}, { type: "item_reference", id: "rs_1" }, { type: "weird" }])
      yield put({ raw: item, instead });
  }
}

const tally = new Tally();
afterAll(() => tally.print(`spoilt logs (${EXHAUSTIVE ? "all" : "a sample"})`));

test.each(GROUPS)(
  "%s: whatever is corrupted in a log, a request that can be sent after the repair breaks no rule",
  async (model, items) => {
    const all = [...spoilt(items)];
    for (const index of someOf(all.length, 40)) {
      const groups = all[index] ?? [];
      const store = await storeOf(handMadeLog(model, emulator.baseUrl, groups));
      const log = await store.open("s", { mode: "write" });
      const broken = await brokenRules(log);
      const where = `${broken.join()} of ${JSON.stringify(groups)}`;
      tally.add(broken.length === 0 ? "nothing to repair" : "repaired");
      for (const rule of broken) expect(NEVER, where).not.toContain(rule);
      const { drafts, remaining } = await planRepair(log);
      expect(remaining, where).toEqual([]);
      expect(drafts.length > 0, where).toBe(broken.length > 0);
      await log.append(drafts);
      expect(await brokenRules(log), where).toEqual([]);
      await log.close();
    }
  },
  600_000,
);
