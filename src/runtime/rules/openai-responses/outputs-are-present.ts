import { isOutputType } from "./call-types.ts";
import type { ResponsesRule } from "./item-view.ts";

export const outputsArePresent: ResponsesRule = {
  id: "R13",
  title: "A call output has its output field, even if it is empty",
  evidence: "T09",
  todo: 'Send "output": "".',
  about: isOutputType,
  item: (item) =>
    !item.hasOutput && item.type !== "apply_patch_call_output"
      ? `Missing required parameter: 'input[${item.index}].output'.`
      : undefined,
};
