import { isCall, isOutput, mayReferTo, type ResponsesRule } from "./item-view.ts";

export const callsHaveOutputs: ResponsesRule = {
  id: "R06",
  title: "Every call has an output",
  evidence: "T01",
  todo: "Add an output that says what became of the call.",
  start({ kept }) {
    const open = new Map<string, number>();
    return {
      item(item) {
        // An output the server is to put there may be that of any call before it.
        if (kept?.items === true && mayReferTo(item, "output")) open.clear();
        if (item.callId === undefined) return undefined;
        if (isCall(item)) open.set(item.callId, item.index);
        else if (isOutput(item)) open.delete(item.callId);
        return undefined;
      },
      end: () =>
        [...open].map(([callId, index]) => ({
          index,
          message: `No tool output found for function call ${callId}.`,
        })),
    };
  },
};
