/**
 * Announces a running turn to a screen reader: each title once, and the end. The transcript itself is not a live region,
 * because it would be read out token by token.
 */

import { unmistakableLine } from "../../../base/support/index.ts";
import { reasoningLabel, toolLabel } from "../../fragments/index.ts";
import type { SessionView } from "../session-view.ts";

export function Announcer({ view }: { readonly view: SessionView }) {
  return (
    <p class="visually-hidden" role="status">
      {words(view)}
    </p>
  );
}

function words(view: SessionView): string {
  const { blocks } = view;
  const last = blocks.findLast(({ superseded }) => !superseded);
  if (view.busy) {
    const asks = blocks.find((block) => block.kind === "tool" && block.permission?.question?.waits === true);
    if (asks?.kind === "tool") return `${unmistakableLine(toolLabel(asks))} asks for permission.`;
    const question = blocks
      .flatMap((block) => (block.kind === "tool" ? (block.elicitations ?? []) : []))
      .find(({ waits }) => waits);
    if (question !== undefined) return `${unmistakableLine(question.asked.server)} asks a question.`;
    if (last?.kind === "reasoning" && last.generating) return `Thinking: ${reasoningLabel(last)}`;
    return last?.kind === "tool" ? `Tool ${toolLabel(last)}.` : "";
  }
  if (last?.kind !== "turn_end") return "";
  return last.status === "completed" ? "The answer is ready." : `The turn was ${last.status}.`;
}
