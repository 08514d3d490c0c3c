/** Switches thinking off in the request, with the switch of the vendor. Thoughts that are missing cannot be invented. */

import { sliceMember } from "../../../base/support/index.ts";
import type { History } from "../history.ts";
import { textMember } from "../json-text.ts";
import { type Aim, type Repair, setHead } from "./repair.ts";

interface Switch {
  readonly field: string;
  /** JSON text. */
  readonly off: string;
}

/** Empty without a request, and for models that always think. */
export function thinkingOff(
  rule: string,
  { dialect, head }: History,
  { vendor }: Aim,
  what = "switched thinking off",
): readonly Repair[] {
  if (head === undefined || dialect === "openai-responses") return [];
  const model = textMember(head, "model") ?? "";
  if (ALWAYS_ON.test(model)) return [];
  const { field, off } = dialect === "anthropic-messages" ? THINKING : chatSwitch(head, vendor);
  if (sliceMember(head, field) === off) return [];
  return [{ ...setHead(rule, field, off, what), thinkingOff: true }];
}

/** Claude models that refuse `disabled` (C18), later Kimi models and MiniMax (V01, Moonshot's guide). */
const ALWAYS_ON =
  /claude-(?:opus|sonnet|haiku)-5-5|claude-(?:fable|mythos)-5|emu-claude-(?:5\.5|between)|kimi-k(?:2\.[7-9]|[3-9])|minimax/i;

/** Also for DeepSeek and Kimi: a vendor that demands thoughts knows it, even behind a gateway (V01, V02). */
const THINKING: Switch = { field: "thinking", off: '{"type":"disabled"}' };

function chatSwitch(head: string, vendor: string | undefined): Switch {
  if (vendor === "openrouter") return { field: "reasoning", off: '{"enabled":false}' };
  const asksOtherwise = vendor === undefined && sliceMember(head, "enable_thinking") !== undefined;
  return asksOtherwise ? { field: "enable_thinking", off: "false" } : THINKING;
}
