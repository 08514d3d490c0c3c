import { isCallType, isOutputType } from "./call-types.ts";
import type { ResponsesRule } from "./item-view.ts";

const MAX_LENGTH = 128;

export const validToolNames: ResponsesRule = {
  id: "R18",
  title: "Tool names are 1 to 128 letters, digits, _ or -",
  evidence: "T15",
  todo: "Map the name, in both the call and its output, to one that no tool has.",
  about: (type) => isCallType(type) || isOutputType(type),
  item(item) {
    const { index, name } = item;
    if (name === undefined) return undefined;
    const at = `Invalid 'input[${index}].name'`;
    if (name === "") {
      return `${at}: empty string. Expected a string with minimum length 1, but got an empty string instead.`;
    }
    if (name.length > MAX_LENGTH) {
      return `${at}: string too long. Expected a string with maximum length ${MAX_LENGTH}, but got a string with length ${name.length} instead.`;
    }
    if (/^[a-zA-Z0-9_-]+$/.test(name)) return undefined;
    return `${at}: string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  },
};
