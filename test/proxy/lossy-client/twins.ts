/**
 * Twins: answers that nobody can tell apart from outside. Same account, same visible history, same visible
 * answer, and no id in the request that says which one it is.
 *
 * @module
 */

import { barePlaceBefore, placeBefore } from "./dialect.ts";
import type { Answer, Slot } from "./truth.ts";

/** `near`: the histories differ only in reminders and clocks. */
export type Likeness = "twin" | "near twin" | "twin despite its ids" | undefined;

/** Whether `other` can stand for `answer`, whose run in the request begins at `start`. */
export function likenessOf(answer: Answer, other: Answer, slots: readonly Slot[], start: number): Likeness {
  if (answer.account !== other.account || answer.says !== other.says) return undefined;
  const exact = answer.place === other.place || other.place === placeBefore(slots, start);
  const near = answer.barePlace === other.barePlace || other.barePlace === barePlaceBefore(slots, start);
  if (!exact && !near) return undefined;
  if (tellsItself(answer, slots, start)) return "twin despite its ids";
  return exact ? "twin" : "near twin";
}

/** Whether the run in the request has an id that only this answer was given. */
function tellsItself({ calls, pieces }: Answer, slots: readonly Slot[], start: number): boolean {
  const answer = slots[start]?.from?.answer;
  const run = slots.slice(start).filter(({ from }) => from !== undefined && from.answer === answer);
  const ids = [
    ...calls.map(({ id }) => id).filter((id) => !id.startsWith("functions.")),
    ...pieces.flatMap(({ type, id }) =>
      (type === "message" || type === "function_call") && typeof id === "string" ? [id] : [],
    ),
  ];
  return run.some(({ json }) => ids.some((id) => json.includes(`"${id}"`)));
}
