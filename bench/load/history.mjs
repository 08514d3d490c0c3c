/**
 * A long history as wire items: one user message, then steps of a thought, a call and its output. ASCII, like most text.
 *
 * @module
 */
import { Random } from "./random.mjs";
import { TOOL } from "./scenarios.mjs";

/** Returns `count` items. The last one is a tool's output. */
export function historyItems(count) {
  const items = [{ type: "message", role: "user", content: [{ type: "input_text", text: "Begin." }] }];
  for (let step = 0; items.length + 3 <= count; step += 1) items.push(...historyStep(step));
  return items;
}

export function historyStep(step) {
  const random = new Random(50_000 + step);
  const call_id = `call_${random.hex(24)}`;
  const words = (count) => Array.from({ length: count }, () => random.asciiWord()).join("");
  return [
    {
      id: `rs_${random.hex(48)}`,
      type: "reasoning",
      summary: [{ type: "summary_text", text: `**Step ${step}**\n\n${words(12)}` }],
      encrypted_content: random.base64(1200),
    },
    {
      id: `fc_${random.hex(48)}`,
      type: "function_call",
      status: "completed",
      call_id,
      name: TOOL.name,
      arguments: JSON.stringify({ path: `src/file-${step}.ts`, line: step }),
    },
    { type: "function_call_output", call_id, output: words(110) },
  ];
}
