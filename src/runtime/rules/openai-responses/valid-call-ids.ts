import { isCallType, isOutputType } from "./call-types.ts";
import type { ResponsesRule } from "./item-view.ts";

export const validCallIds: ResponsesRule = {
  id: "R09",
  title: "Call ids are 1 to 64 characters long",
  evidence: "T05, T06",
  todo: "Map the id, in both the call and its output.",
  about: (type) => isCallType(type) || isOutputType(type),
  item(item) {
    const length = item.callId?.length ?? 0;
    if (length === 0) {
      return `Invalid 'input[${item.index}].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.`;
    }
    if (length <= 64) return undefined;
    return `Invalid 'input[${item.index}].call_id': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`;
  },
};
