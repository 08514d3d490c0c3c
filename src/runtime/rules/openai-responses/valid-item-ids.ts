import type { ResponsesRule } from "./item-view.ts";

/** The prefixes of item ids by type (failures.md I06). The API refuses any other. */
export const ITEM_ID_PREFIXES: Readonly<Record<string, readonly string[]>> = {
  message: ["msg", "amsg"],
  reasoning: ["rs"],
  function_call: ["fc"],
  function_call_output: ["fco"],
  custom_tool_call: ["ctc"],
  custom_tool_call_output: ["ctco"],
  web_search_call: ["ws"],
  image_generation_call: ["ig"],
  compaction: ["cmp"],
  tool_search_call: ["tsc"],
  tool_search_output: ["tso"],
  local_shell_call: ["lsh"],
  program: ["cm"],
};

const ITEM_ID = /^[A-Za-z0-9_-]+$/;

export const validItemIds: ResponsesRule = {
  id: "R05",
  title: "Item ids are 1 to 64 letters, digits, _ or -, with the prefix of their type",
  evidence: "I05, I06, I07",
  todo: "Omit the id, along with all ids and the reasoning of its response.",
  item({ id, index, type }) {
    if (id === undefined) return undefined;
    if (id.length > 64) {
      return `Invalid 'input[${index}].id': string too long. Expected a string with maximum length 64, but got a string with length ${id.length} instead.`;
    }
    if (!ITEM_ID.test(id)) {
      return `Invalid 'input[${index}].id': '${id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`;
    }
    const prefixes = ITEM_ID_PREFIXES[type];
    if (prefixes === undefined || prefixes.some((prefix) => id.startsWith(prefix))) return undefined;
    return `Invalid 'input[${index}].id': '${id}'. Expected an ID that begins with '${prefixes[0]}'.`;
  },
};
