/**
 * Breaks of the short way (src/runtime/fold/whole-groups.ts and whole-items.ts): each removes one of its checks.
 *
 * @module
 */

const groups = "src/runtime/fold/whole-groups.ts";
const items = "src/runtime/providers/openai-responses/whole-items.ts";
const request = "src/runtime/providers/openai-responses/request.ts";
const stored = "src/base/events/stored-event.ts";
const sketch = "src/base/events/sketch.ts";
const head = "src/base/events/line-head.ts";
const lineBytes = "src/base/events/line-bytes.ts";
const entries = "src/runtime/fold/entries.ts";

const TESTS = {
  [groups]: ["src/runtime/fold/whole-groups.test.ts"],
  [items]: ["src/runtime/providers/openai-responses/whole-items.test.ts"],
  [request]: ["src/runtime/providers/openai-responses/whole-items.test.ts"],
  [stored]: ["src/base/events/stored-event.test.ts"],
  [entries]: ["src/runtime/fold/whole-groups.test.ts"],
  [head]: ["src/base/events/stored-event.test.ts"],
  [lineBytes]: ["src/base/events/stored-event.test.ts"],
  [sketch]: ["src/base/events/stored-event.test.ts"],
};

/** law, what is not checked, file, find, replace */
const WITHOUT = [
  [1, "refusals of the origin", groups, "overrides.length > 0 || ", ""],
  [3, "later attempts", groups, "group.superseded || ", ""],
  [3, "the end of the response", groups, " || !group.endedWell", ""],
  [3, "the status of a response", entries, 'this.end?.status === "completed" && ', ""],
  [1, "parts that came late", entries, " && this.late.length === 0", ""],
  [1, "the origin", groups, "return sameOrigin(group.origin, settings.target);", "return true;"],
  [2, "item ids", groups, 'profile.itemIds === "keep" && !isNewId', 'profile.name === "" && !isNewId'],
  [2, "missing ids", groups, "id === undefined || !isItemId(id, profile)", '!isItemId(id ?? "x", profile)'],
  [2, "the form of ids", groups, "!isItemId(id, profile) || ", ""],
  [2, "ids of earlier groups", groups, " || sent.itemIds.has(id)", ""],
  [
    2,
    "ids that repeat in the group",
    groups,
    "if (items[before]?.itemId === id) return false;",
    "void before;",
  ],
  [1, "whether the model reasons", groups, "if (!capabilities.reasoning) return false;", ""],
  [1, "payloads", groups, 'if (profile.reasoningPayload === "required" && !item.opaque) return false;', ""],
  [1, "callers", groups, "if (item.called) return false;", ""],
  [6, "blank messages", groups, " || item.blank", ""],
  [1, "types of items", groups, 'item.type !== "assistant_message" || ', ""],
  [6, "results", groups, "?.hasParts !== false) return false;", "?.hasParts === true) return false;"],
  [6, "images of results", groups, "?.hasParts !== false) return false;", " === undefined) return false;"],
  [6, "empty ids of calls", groups, 'callId === "" || ', ""],
  [6, "long ids of calls", groups, "callId.length > maxCallIdLength || ", ""],
  [6, "the pattern of call ids", groups, " || callIdPattern !== undefined", ""],
  [6, "tool names", groups, "if (!isSendableToolName(name)) return false;", ""],
  [6, "call ids of earlier groups", groups, "!sent.callIds.has(callId) && ", ""],
  [
    6,
    "call ids that repeat in the group",
    groups,
    " && items.findIndex((one) => one.callId === callId) === at",
    "",
  ],
  [3, "thoughts without a follower", groups, ' && items.at(-1)?.type !== "reasoning"', ""],
  [6, "empty groups", groups, "items.length > 0 && ", ""],
  [
    1,
    "fields that are not sent back",
    items,
    "if (field === -1) return undefined;",
    "if (field === -1) continue;",
  ],
  [1, "repeated fields", items, "if ((seen & (1 << field)) !== 0) return undefined;", ""],
  [2, "whether ids are sent", items, "(!withIds || itemId === undefined)", "itemId === undefined"],
  [
    1,
    "that text and head agree",
    items,
    "if (field <= NAME && !isText(item, valueAt, valueEnd, valueOf(field, expected))) return undefined;",
    "",
  ],
  [
    6,
    "the form of a summary",
    items,
    "if (field === SUMMARY && item.charCodeAt(valueAt) !== OPEN_BRACKET) return undefined;",
    "",
  ],
  [6, "payloads that are null", items, 'if (item.startsWith("null", valueAt)) return undefined;', ""],
  [6, "missing summaries", items, "(1 << TYPE) | (1 << SUMMARY)", "1 << TYPE"],
  [1, "ids that JSON escapes", items, 'callId !== "" && !PLAIN.test(callId)', "false"],
  [2, "prefixes of ids", request, "withIds ? fitsItsType(itemId, itemType) : ", "withIds || "],
  [2, "calls that need their id", request, " : !CALLS_BY_ID.has(itemType)", " : true"],
  [1, "repeated keys of a line", stored, "      this.#assertSame(event);\n", ""],
  [
    1,
    "other escapes in results",
    sketch,
    "if (json[at + 1] === SMALL_U || json[at + 1] === SLASH) return true;",
    "void json;",
  ],
  [1, "counts of usage", sketch, "at === end - 1 && ", ""],
  [1, "which origin a line names", sketch, "isSame(bytes, from, known.raw, 0, known.raw.length)", "true"],
  [3, "the status in a line", head, "!isAt(bytes, from, COMPLETED)", "false"],
  [1, "objects in a line", head, "bytes[valueStart] === OPEN_BRACE && ", "false && "],
  [1, "lists in a line", lineBytes, "if (first === OPEN_BRACKET) return -1;", ""],
  [
    1,
    "fields that the folds need",
    head,
    "for (const key of loud) if (isKey(bytes, keyStart, keyEnd, key)) return true;",
    "",
  ],
  [1, "repeated fields of a line", head, "if ((seen & (1 << index)) !== 0) return true;", ""],
];

/** @type {readonly import("./breaks.mjs").Break[]} */
export const wholeGroupBreaks = WITHOUT.map(([law, what, file, find, replace]) => ({
  law,
  what: `${what}: not checked in what is sent whole`,
  file,
  find,
  replace,
  tests: TESTS[file],
}));
