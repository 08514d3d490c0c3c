import { nounOf } from "./call-types.ts";
import { isCall, isOutput, mayReferTo, type ResponsesRule } from "./item-view.ts";

export const outputsHaveCalls: ResponsesRule = {
  id: "R07",
  title: "Every output answers one call before it, once",
  evidence: "T02, T10",
  todo: "Leave the output out, or send its call.",
  about: (type) => type !== "reasoning" && type !== "message",
  start({ kept }) {
    const open = new Set<string>();
    const answered = new Set<string>();
    /** Whether calls that only the server has may be answered here, each once. */
    let unseen = kept?.front === true;
    return {
      item(item) {
        if (kept?.items === true && mayReferTo(item, "call")) unseen = true;
        if (item.callId === undefined) return undefined;
        if (isCall(item)) open.add(item.callId);
        if (!isOutput(item)) return undefined;
        const first = !answered.has(item.callId);
        answered.add(item.callId);
        if (open.delete(item.callId) || (unseen && first)) return undefined;
        return `No tool call found for ${nounOf(item.type)} output with call_id ${item.callId}.`;
      },
    };
  },
};
