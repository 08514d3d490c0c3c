import { nounOf } from "./call-types.ts";
import { isCall, isOutput, type ResponsesRule } from "./item-view.ts";

export const outputsHaveCalls: ResponsesRule = {
  id: "R07",
  title: "Every output answers one call before it, once",
  evidence: "T02, T10",
  todo: "Leave the output out, or send its call.",
  start() {
    const open = new Set<string>();
    return {
      item(item) {
        if (item.callId === undefined) return undefined;
        if (isCall(item)) open.add(item.callId);
        if (!isOutput(item) || open.delete(item.callId)) return undefined;
        return `No tool call found for ${nounOf(item.type)} output with call_id ${item.callId}.`;
      },
    };
  },
};
