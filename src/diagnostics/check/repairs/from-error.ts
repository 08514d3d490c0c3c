/**
 * Repairs what only the API can see: whether a payload is its own, and whether a thought is missing. The API's error names
 * the item, and the history is repaired there. If the error names nothing, all opaque reasoning is removed.
 */

import { sliceArray, sliceMember } from "../../../base/support/index.ts";
import type { History } from "../history.ts";
import { textMember } from "../json-text.ts";
import { REASONING_FIELDS } from "./chat.ts";
import { allThinking, blocksAt } from "./messages.ts";
import { drop, type Repair, strip } from "./repair.ts";
import { loosen } from "./responses.ts";

export function repairsFromError(error: string, history: History): readonly Repair[] {
  if (!ABOUT_REASONING.test(error)) return [];
  if (history.dialect === "openai-responses") return responses(error, history);
  if (history.dialect === "anthropic-messages") return messages(error, history);
  return allReasoning(history);
}

const ABOUT_REASONING =
  /without its required|could not be verified|could not decrypt|not found\. Items are not persisted|Zero Data Retention|reasoning|thinking|signature|not issued to this caller|different account/i;

/** Removes every payload that only its maker can read: the last resort. */
export function allReasoning(history: History): readonly Repair[] {
  return history.pieces.flatMap(({ text }, index): readonly Repair[] => {
    if (history.dialect === "openai-responses")
      return OPAQUE.has(textMember(text, "type") ?? "") ? loosen("error", history, index) : [];
    if (history.dialect === "anthropic-messages") return allThinking("error", history, index);
    return REASONING_FIELDS.filter((field) => carries(text, field)).map((field) =>
      strip("error", { index }, field, "reasoning"),
    );
  });
}

const OPAQUE: ReadonlySet<string> = new Set(["reasoning", "compaction"]);

function carries(text: string, field: string): boolean {
  if (field !== "content_thinking") return sliceMember(text, field) !== undefined;
  return sliceArray(sliceMember(text, "content") ?? "").some(
    (part) => textMember(part, "type") === "thinking",
  );
}

function responses(error: string, history: History): readonly Repair[] {
  const named = /\b(?:Item (?:with id )?|for item )'?([A-Za-z0-9_-]+)'?/.exec(error)?.[1];
  const index = history.pieces.findIndex(
    ({ text }) => named !== undefined && textMember(text, "id") === named,
  );
  if (index !== -1) {
    const around = withRun(history, index);
    const alone = error.includes("required following item");
    return alone ? [drop("error", { index }, "reasoning")] : loosen("error", around, index);
  }
  const [, head = "", tail = ""] = /encrypted content (\S{4})\.\.\.(\S{4}) could not/.exec(error) ?? [];
  const quoted = history.pieces.findIndex(({ text }) => {
    const payload = textMember(text, "encrypted_content") ?? "";
    return head !== "" && payload.startsWith(head) && payload.endsWith(tail);
  });
  return quoted === -1 ? allReasoning(history) : loosen("error", history, quoted);
}

/** Without the missing thought, nothing marks the end of its response: all adjacent items with ids count as one. */
function withRun(history: History, index: number): History {
  if (history.pieces[index]?.run !== undefined) return history;
  const made = (at: number): boolean => {
    const text = history.pieces[at]?.text;
    return text !== undefined && textMember(text, "id") !== undefined && textMember(text, "role") !== "user";
  };
  let [from, to] = [index, index];
  while (made(from - 1)) from -= 1;
  while (made(to + 1)) to += 1;
  const pieces = history.pieces.map((piece, at) =>
    at >= from && at <= to ? { ...piece, run: "named" } : piece,
  );
  return { ...history, pieces };
}

function messages(error: string, history: History): readonly Repair[] {
  const index = Number(/messages\.(\d+)/.exec(error)?.[1] ?? Number.NaN);
  if (Number.isNaN(index) || blocksAt(history, index).length === 0) return allReasoning(history);
  // A bound thought is refused with every later one (C04).
  const bound = error.includes("bound to a different conversation");
  return history.pieces.flatMap((_, at) =>
    at === index || (bound && at > index) ? allThinking("error", history, at) : [],
  );
}
