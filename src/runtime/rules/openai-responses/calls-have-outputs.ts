import { isCall, isOutput, type ResponsesRule } from "./item-view.ts";

export const callsHaveOutputs: ResponsesRule = {
  id: "R06",
  title: "Every call has an output",
  evidence: "T01",
  todo: "Add an output that says what became of the call.",
  start() {
    const open = new Map<string, number>();
    return {
      item(item) {
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
