import { nounOf } from "./call-types.ts";
import { isCall, isInput, isOutput, type ItemView, mayReferTo, type ResponsesRule } from "./item-view.ts";

export const outputsFollowCalls: ResponsesRule = {
  id: "R08",
  title: "Outputs directly follow the calls of their response",
  evidence: "T03, T04, P10",
  todo: "Put an output for each call directly after the calls, and anything in between after the outputs.",
  start({ kept }) {
    const open = new Map<string, ItemView>();
    return {
      item(item) {
        if (kept?.items === true && mayReferTo(item, "output")) open.clear();
        if (isCall(item) && item.callId !== undefined && !item.hosted) open.set(item.callId, item);
        else if (isOutput(item) && item.callId !== undefined) open.delete(item.callId);
        const [first] = open.values();
        if (first === undefined || !isInput(item)) return undefined;
        return `No tool output found for ${nounOf(first.type)} ${first.callId ?? ""}.`;
      },
    };
  },
};
