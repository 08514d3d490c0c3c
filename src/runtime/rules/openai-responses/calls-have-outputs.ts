import { nounOf } from "./call-types.ts";
import { isCall, isOutput, type ItemView, mayReferTo, type ResponsesRule } from "./item-view.ts";

export const callsHaveOutputs: ResponsesRule = {
  id: "R06",
  title: "Every call has an output",
  evidence: "T01",
  todo: "Add an output that says what became of the call.",
  about: (type) => type !== "reasoning" && type !== "message",
  start({ kept }) {
    const open = new Map<string, ItemView>();
    return {
      item(item) {
        // A referenced output may answer any earlier call.
        if (kept?.items === true && mayReferTo(item, "output")) open.clear();
        if (item.callId === undefined || item.hosted) return undefined;
        if (isCall(item)) open.set(item.callId, item);
        else if (isOutput(item)) open.delete(item.callId);
        return undefined;
      },
      end: () =>
        [...open].map(([callId, call]) => ({
          index: call.index,
          message: `No tool output found for ${nounOf(call.type)} ${callId}.`,
        })),
    };
  },
};
