/**
 * Repairs what only the API can see: whether a payload is its own, and whether a thought is missing. The API's error names
 * one item, and the history is repaired there and wherever the same is plain to see. An error about something else changes
 * nothing.
 */

import type { History } from "../history.ts";
import { textMember } from "../json-text.ts";
import { carries, namedField, withoutReasoning } from "./chat.ts";
import { lookupOf } from "./lookup.ts";
import { allThinking, expected, openTurn, trailingThinking, unthought } from "./messages-thinking.ts";
import { blocksAt } from "./messages.ts";
import { type Aim, drop, type Repair, strip } from "./repair.ts";
import { idsWithoutReasoning, loosen, orphanThought } from "./responses-runs.ts";
import { thinkingOff } from "./thinking-off.ts";

const RULE = "error";

export function repairsFromError(error: string, history: History, aim: Aim): readonly Repair[] {
  if (history.dialect === "openai-responses") return responses(error, history, aim);
  return history.dialect === "anthropic-messages" ? messages(error, history, aim) : chat(error, history, aim);
}

/** Removes every payload that only its maker can read, or those that are meant: the last resort. */
export function allReasoning(
  history: History,
  aim: Aim,
  isMeant: (payload: string) => boolean = () => true,
): readonly Repair[] {
  return history.pieces.flatMap(({ text }, index): readonly Repair[] => {
    if (!payloadsOf(history, index).some(isMeant)) return [];
    if (history.dialect === "openai-responses") return loosen(RULE, history, index);
    if (history.dialect === "anthropic-messages") return unthought({ rule: RULE, index }, history, aim);
    return withoutReasoning(RULE, index, text);
  });
}

/** What only its maker can read in a piece; for chat, the whole piece. An empty payload counts. */
function payloadsOf(history: History, index: number): readonly string[] {
  const text = history.pieces[index]?.text ?? "";
  if (history.dialect === "openai-responses")
    return OPAQUE.has(textMember(text, "type") ?? "") ? [textMember(text, "encrypted_content") ?? ""] : [];
  if (history.dialect === "openai-chat") return [text];
  return blocksAt(history, index).flatMap((block) => {
    const type = textMember(block, "type") ?? "";
    return type.endsWith("thinking")
      ? [textMember(block, "signature") ?? textMember(block, "data") ?? ""]
      : [];
  });
}

const OPAQUE: ReadonlySet<string> = new Set(["reasoning", "compaction"]);

const UNREADABLE =
  /could not be verified|could not decrypt|not issued to this caller|different account|not written by this server|did not match the target|Invalid `(?:signature|data)`|(?:signature|data): Field required|thought.signature/i;
const GONE = /Item with id '[^']*' not found|not persisted/;
const UNUSABLE = /can only be provided to a reasoning/;

function responses(error: string, history: History, aim: Aim): readonly Repair[] {
  const index = namedItem(error, history);
  if (GONE.test(error)) return gone(error, history, index);
  // Whoever leaves out a part of one response does so with others.
  if (error.includes("without its required")) {
    if (index === undefined) return [];
    const named = error.includes("required following item")
      ? orphanThought(RULE, history, index)
      : loosen(RULE, withRun(history, index), index);
    return [...named, ...idsWithoutReasoning(RULE, history)];
  }
  if (!UNREADABLE.test(error) && !UNUSABLE.test(error)) return [];
  const unreadable = index ?? quotedItem(error, history);
  if (UNUSABLE.test(error)) return everyThought(history, () => true);
  return unreadable === undefined
    ? allReasoning(history, aim)
    : loosen(RULE, withRun(history, unreadable), unreadable);
}

function namedItem(error: string, history: History): number | undefined {
  const id = /\b(?:Item (?:with id )?|for item )'?([A-Za-z0-9_-]+)'?/.exec(error)?.[1];
  return id === undefined ? undefined : lookupOf(history).item(id);
}

/** By the ends of its payload. */
function quotedItem(error: string, { pieces }: History): number | undefined {
  const [, head = "", tail = ""] = /encrypted content (\S{4})\.\.\.(\S{4}) could not/.exec(error) ?? [];
  const index = pieces.findIndex(({ text }) => {
    const payload = textMember(text, "encrypted_content") ?? "";
    return head !== "" && payload.startsWith(head) && payload.endsWith(tail);
  });
  return index === -1 ? undefined : index;
}

/**
 * The server does not have what the history relies on. It names one item, but then it has none of them. Only a history
 * without a request loses its references: what they stand for is nowhere else.
 */
function gone(error: string, history: History, index: number | undefined): readonly Repair[] {
  if (index === undefined) {
    if (history.head !== undefined || !error.includes("not persisted")) return [];
    return history.pieces.flatMap((_, at) =>
      lookupOf(history).outline(at).type === "item_reference"
        ? [drop(RULE, { index: at }, "a reference to an item that the server does not have")]
        : [],
    );
  }
  const sealed = isSealed(history, index);
  return [
    ...loosen(RULE, withRun(history, index), index),
    // If the server looks up even a thought that carries its payload, it does so with all.
    ...everyThought(history, (at) => sealed || !isSealed(history, at)),
    ...idsWithoutReasoning(RULE, history),
  ];
}

function isSealed({ pieces }: History, index: number): boolean {
  return textMember(pieces[index]?.text ?? "", "encrypted_content") !== undefined;
}

function everyThought(history: History, which: (index: number) => boolean): readonly Repair[] {
  return history.pieces.flatMap((_, at) =>
    lookupOf(history).outline(at).type === "reasoning" && which(at) ? loosen(RULE, history, at) : [],
  );
}

/** Without the missing thought, nothing marks the end of its response: all adjacent items with ids count as one. */
function withRun(history: History, index: number): History {
  if (history.pieces[index]?.run !== undefined) return history;
  const lookup = lookupOf(history);
  const isNear = (at: number): boolean => lookup.made(at) && lookup.outline(at).id !== undefined;
  let [from, to] = [index, index];
  while (isNear(from - 1)) from -= 1;
  while (isNear(to + 1)) to += 1;
  const pieces = history.pieces.map((piece, at) =>
    at >= from && at <= to ? { ...piece, run: "named" } : piece,
  );
  return { ...history, pieces };
}

function messages(error: string, history: History, aim: Aim): readonly Repair[] {
  const named = Number(/messages\.(\d+)/.exec(error)?.[1] ?? Number.NaN);
  const index = blocksAt(history, named).length === 0 ? undefined : named;
  if (error.includes("Expected `thinking`")) return expected(RULE, history, aim);
  if (error.includes("When thinking is disabled"))
    return openTurn(history).flatMap((at) => allThinking(RULE, history, at));
  if (index !== undefined && /cannot be `(?:redacted_)?thinking`/.test(error))
    return trailingThinking({ rule: RULE, index, message: error }, history, aim);
  if (error.includes("thinking.thinking: Field required"))
    return history.pieces.flatMap((_, at) =>
      blocksAt(history, at).some(isEmptied) ? unthought({ rule: RULE, index: at }, history, aim) : [],
    );
  if (!UNREADABLE.test(error) && !error.includes("cannot be modified")) return [];
  if (index === undefined) return allReasoning(history, aim);
  // A bound thought is refused with every later one (C04).
  const bound = error.includes("bound to a different conversation");
  return history.pieces.flatMap((_, at) =>
    at === index || (bound && at > index) ? unthought({ rule: RULE, index: at }, history, aim) : [],
  );
}

/** A thought whose text a client left out. Its signature is for an empty text, if it had none. */
function isEmptied(block: string): boolean {
  return textMember(block, "type") === "thinking" && textMember(block, "thinking") === undefined;
}

function chat(error: string, history: History, aim: Aim): readonly Repair[] {
  if (/passed back to the API|is missing in assistant tool call message/.test(error))
    return thinkingOff(RULE, history, aim);
  if (UNREADABLE.test(error)) return allReasoning(history, aim);
  const field = /messages|Invalid value: 'thinking'/.test(error) ? namedField(error) : undefined;
  if (field === undefined) return [];
  return history.pieces.flatMap(({ text }, index) =>
    carries(text, field) ? [strip(RULE, { index }, field, "reasoning")] : [],
  );
}
