import { isCall, isInput, isOutput, mayReferTo, type ResponsesRule } from "./item-view.ts";

export const outputsFollowCalls: ResponsesRule = {
  id: "R08",
  title: "Outputs stand directly behind the calls of their response",
  evidence: "T03, T04, P10",
  todo: "Move what stands between behind the outputs.",
  start({ kept }) {
    const open = new Set<string>();
    return {
      item(item) {
        if (kept?.items === true && mayReferTo(item, "output")) open.clear();
        if (isCall(item) && item.callId !== undefined) open.add(item.callId);
        else if (isOutput(item) && item.callId !== undefined) open.delete(item.callId);
        else if (open.size > 0 && isInput(item))
          return `No tool output found for function call ${[...open][0]}.`;
        return undefined;
      },
    };
  },
};
