/**
 * What a client changes around the answers: reminders and clocks in user texts, a clock in the system prompt, old tool
 * results that it clears.
 *
 * @module
 */

import { arrayOf, objectOf } from "../../../src/base/support/index.ts";
import type { Draft } from "./dialect.ts";
import type { DialectName, Element } from "./truth.ts";

/** Which user texts: the last one, as most clients do, or all. */
export type Which = "last" | "all";

export function addReminder(draft: Draft, which: Which, clock: number): Draft {
  const reminder = `<system-reminder>The to-do list has ${clock % 7} open entries. Clock: ${clock}.</system-reminder>`;
  return mapUserTexts(draft, which, (text) => `${text}\n${reminder}`);
}

export function addClockLine(draft: Draft, which: Which, clock: number): Draft {
  const line = `Current time: ${new Date(1_790_000_000_000 + clock * 61_000).toISOString()}`;
  return mapUserTexts(draft, which, (text) => `${text}\n\n${line}`);
}

export function addSystemClock(draft: Draft, clock: number): Draft {
  const line = ` It is minute ${clock}.`;
  const { head } = draft;
  const name = ["instructions", "system"].find((one) => typeof head[one] === "string");
  if (name !== undefined) return { ...draft, head: { ...head, [name]: String(head[name]) + line } };
  const list = draft.list.map((one) =>
    one["role"] === "system" ? { ...one, content: String(one["content"]) + line } : one,
  );
  return { ...draft, list };
}

/** Results before the last `keep` elements of the list. */
export function clearOutputs(dialect: DialectName, draft: Draft, keep: number): Draft {
  const cleared = "[Old tool result cleared]";
  const end = draft.list.length - keep;
  const list = draft.list.map((element, at): Element => {
    if (at >= end) return element;
    if (element["type"] === "function_call_output") return { ...element, output: cleared };
    if (element["role"] === "tool") return { ...element, content: cleared };
    if (dialect !== "anthropic-messages" || !Array.isArray(element["content"])) return element;
    const content = element["content"].map((block: Element) =>
      block["type"] === "tool_result" ? { ...block, content: cleared } : block,
    );
    return { ...element, content };
  });
  return { ...draft, list };
}

function mapUserTexts(draft: Draft, which: Which, map: (text: string) => string): Draft {
  const last = draft.list.findLastIndex(isUserText);
  const list = draft.list.map((element, at): Element => {
    if (!isUserText(element) || (which === "last" && at !== last)) return element;
    const { content } = element;
    if (typeof content === "string") return { ...element, content: map(content) };
    const parts = arrayOf(content).map(objectOf);
    const text = parts.findLastIndex((part) => typeof part["text"] === "string");
    return {
      ...element,
      content: parts.map((part, index) =>
        index === text ? { ...part, text: map(String(part["text"])) } : part,
      ),
    };
  });
  return { ...draft, list };
}

function isUserText(element: Element): boolean {
  if (element["role"] !== "user") return false;
  const { content } = element;
  return (
    typeof content === "string" || arrayOf(content).some((part) => typeof objectOf(part)["text"] === "string")
  );
}
