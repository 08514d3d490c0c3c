import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { JsonObject } from "../support/index.ts";
import { CANONICAL_TYPES, isItemEvent, type LoggedEvent } from "./canonical.ts";
import { parseLine } from "./line.ts";

const LOGS = join(import.meta.dirname, "../../../test/fixtures/logs");

const RULE = {
  v: 1,
  seq: 1,
  id: "ev_1",
  at: "2026-01-01T00:00:00.000Z",
  epoch: 1,
  type: "permission_rule",
  rule: "run_command:git *",
  by: "person",
  sum: "00000000",
};

const { rule: _rule, by: _by, type: _type, ...ENVELOPE } = RULE;
const ASKED = {
  ...ENVELOPE,
  turn: "tn_1",
  response: "rsp_1",
  type: "elicitation_request",
  callId: "call_1",
  requestId: "el_1",
  server: "files",
  message: "Which one?",
};
const FORM = {
  ...ASKED,
  mode: "form",
  fields: [{ name: "one", type: "string", required: true }],
};
const ADDRESS = { ...ASKED, mode: "url", url: "https://a.example/" };
const ANSWERED = {
  ...ENVELOPE,
  response: "rsp_1",
  type: "elicitation_answer",
  callId: "call_1",
  requestId: "el_1",
  action: "decline",
  by: "policy",
};

/** Events of types that the first kept logs do not have: with as few fields as possible, and with all. */
const NEWER: readonly JsonObject[] = [
  RULE,
  { ...RULE, turn: "tn_1", requestId: "pr_1", removed: true },
  FORM,
  ADDRESS,
  ANSWERED,
  { ...ANSWERED, turn: "tn_1", reason: "nobody is there" },
];

/** For each type, the events of the kept logs with the most fields, so that optional fields are covered too. */
const SAMPLES: ReadonlyMap<string, readonly JsonObject[]> = samples();

function samples(): Map<string, JsonObject[]> {
  const found = new Map<string, Map<string, JsonObject>>();
  const take = (event: JsonObject): void => {
    const type = String(event["type"]);
    const shapes = found.get(type) ?? new Map<string, JsonObject>();
    found.set(type, shapes.set(Object.keys(event).toSorted().join(), event));
  };
  NEWER.forEach(take);
  for (const file of readdirSync(LOGS, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".jsonl")) continue;
    for (const line of readFileSync(join(LOGS, file), "utf8").split("\n")) {
      const event = objectOf(line);
      if (event !== undefined) take(event);
    }
  }
  return new Map([...found].map(([type, shapes]) => [type, [...shapes.values()]]));
}

function objectOf(line: string): JsonObject | undefined {
  try {
    const value = JSON.parse(line) as JsonObject;
    return value["v"] === 1 && typeof value["sum"] === "string" ? value : undefined;
  } catch {
    return undefined; // the torn end of a log that was cut off
  }
}

const isAccepted = (event: object): boolean => {
  try {
    return parseLine(JSON.stringify(event)).type !== "unknown";
  } catch {
    return false;
  }
};

/** One level of nested objects counts too: `usage.inputTokens`, `origin.model`. */
function* fieldsOf(
  event: JsonObject,
): Generator<readonly [path: string, without: JsonObject, broken: JsonObject]> {
  for (const [name, value] of Object.entries(event)) {
    if (name === "sum" || name === "type") continue;
    const { [name]: _, ...rest } = event;
    yield [name, rest, { ...rest, [name]: wrong(value) }];
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    if (name === "item" || name === "unknown") continue;
    for (const [inner, part] of Object.entries(value)) {
      const { [inner]: __, ...others } = value as JsonObject;
      yield [
        `${name}.${inner}`,
        { ...rest, [name]: others },
        { ...rest, [name]: { ...others, [inner]: wrong(part) } },
      ];
    }
  }
}

const wrong = (value: unknown): unknown => (typeof value === "string" ? 7 : "not what it was");

const RESULT = { type: "tool_result", response: "r", callId: "c", status: "ok", text: "t" } as const;

describe("an event of the kept logs", () => {
  test("covers every canonical type", () => {
    expect([...CANONICAL_TYPES].filter((type) => !SAMPLES.has(type))).toEqual([]);
  });

  test.for([...CANONICAL_TYPES])(
    "%s is accepted, and so is a field that this version does not know",
    (type) => {
      for (const event of SAMPLES.get(type) ?? []) {
        expect(isAccepted(event)).toBe(true);
        expect(isAccepted({ ...event, later: { anything: [1] } })).toBe(true);
      }
    },
  );

  test.for([...CANONICAL_TYPES])("%s is refused when a field has another type", (type) => {
    const passed = new Set<string>();
    for (const event of SAMPLES.get(type) ?? [])
      for (const [path, , broken] of fieldsOf(event)) if (isAccepted(broken)) passed.add(path);
    const unchecked = type === "permission_decision" ? FROM_A_FUNCTION : ANYTHING;
    expect([...passed].filter((path) => !unchecked.test(path))).toEqual([]);
  });

  test.for([...CANONICAL_TYPES])("%s is refused without a field that all its lines have", (type) => {
    const all = SAMPLES.get(type) ?? [];
    const always = Object.keys(all[0] ?? {}).filter((name) => all.every((event) => name in event));
    const missed = always.filter((name) => {
      const { [name]: _, ...rest } = all[0] ?? {};
      return name !== "sum" && isAccepted(rest);
    });
    expect(missed.filter((name) => !MAY_BE_ABSENT.test(`${type}.${name}`))).toEqual([]);
  });
});

/** Free JSON from a provider, a policy that is a name or an object, and a field that one kept line has from a later version. */
const ANYTHING = /^(?:item|settings\.replay|colour)$/;

/** What a permission function returned. Earlier versions logged it unchecked. */
const FROM_A_FUNCTION = /^(?:decision|reason)$/;

/** Optional by type, though every kept line has it. */
const MAY_BE_ABSENT =
  /^(?:(?!turn_end).*\.turn|session_start\.cwd|compaction\.by|.*_?item\.itemId|assistant_message\.itemId)$/;

const envelope = {
  v: 1,
  seq: 3,
  id: "ev_3",
  at: "2026-01-01T00:00:00.000Z",
  epoch: 1,
  turn: "tn_1",
} as const;

describe("the refusal names the field", () => {
  test.for([
    [{ type: "notice", code: 1, message: "" }, "notice: code is not a string"],
    [{ type: "title" }, "title: title is not a string"],
    [{ type: "branch", to: null, why: "undo" }, "branch: to is not a number"],
    [{ type: "branch", to: 1.5, why: "undo" }, "branch: to is 1.5, which is not an earlier event"],
    [{ type: "branch", to: 99, why: "undo" }, "branch: to is 99, which is not an earlier event"],
    [
      { type: "compaction", before: 99, summary: "" },
      "compaction: before is 99, which is not an earlier event",
    ],
    [
      { type: "user_message", by: "a robot", content: [] },
      'user_message: by is "a robot", which this version does not know',
    ],
    [{ type: "user_message", by: "person", content: {} }, "user_message: content is not a list"],
    [
      { type: "user_message", by: "person", content: [{ type: "text" }] },
      "user_message: content[0].text is not a string",
    ],
    [
      { type: "user_message", by: "person", content: [{ type: "image", mediaType: "image/png" }] },
      "user_message: content[0].data is not a string",
    ],
    [
      { type: "user_message", by: "person", content: [{ type: "sound" }] },
      'user_message: content[0].type is "sound", which this version does not know',
    ],
    [{ ...RESULT, parts: {} }, "tool_result: parts is not a list"],
    [
      { ...RESULT, parts: [{ type: "image", mediaType: "image/png", bytes: 1 }] },
      "tool_result: parts[0].blob is not a string",
    ],
    [
      { ...RESULT, parts: [{ type: "sound", mediaType: "audio/wav", blob: "b", bytes: 1 }] },
      'tool_result: parts[0].type is "sound", which this version does not know',
    ],
    [{ ...RESULT, forPerson: 1 }, "tool_result: forPerson is not a string"],
    [
      { type: "turn_end", status: "paused", steps: 1, usage: {}, durationMs: 1 },
      'turn_end: status is "paused", which this version does not know',
    ],
    [
      { type: "turn_end", status: "failed", steps: 1, usage: { inputTokens: 1 }, durationMs: 1 },
      "turn_end: usage.cachedTokens is not a number",
    ],
    [
      { type: "other_item", response: "r", outputIndex: 0, itemType: "new_call" },
      "other_item: item is missing",
    ],
  ] as const)("%j", ([event, problem]) => {
    expect(() => parseLine(JSON.stringify({ ...envelope, ...event }))).toThrow(
      expect.objectContaining({ code: "event_invalid", message: expect.stringContaining(problem) }),
    );
  });
});

test("a value that only informs people may be new: the event keeps its meaning", () => {
  const branch = { ...envelope, type: "branch", to: 1, why: "a reason of a later version" };
  expect(parseLine(JSON.stringify(branch))).toEqual(branch);
});

test("every item event needs its item", () => {
  const items = [...CANONICAL_TYPES].filter((type) => isItemEvent({ type } as LoggedEvent));
  for (const type of items) {
    const [event] = SAMPLES.get(type) ?? [];
    const { item: _, ...rest } = event ?? {};
    expect(isAccepted(rest)).toBe(false);
  }
});
