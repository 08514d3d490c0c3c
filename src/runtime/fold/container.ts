/**
 * Where the provider runs the code of this conversation: a request that continues it has to say so (failures.md C17).
 * Judged by the newest event in the request, never by a clock, so the same log gives the same request.
 */

import type { Settings } from "../../base/events/index.ts";
import type { Entry, Group } from "./entries.ts";
import type { GroupForm } from "./server-pairs.ts";

/** Undefined if no answer of this origin named one, or if it has expired. */
export function containerOf(
  entries: readonly Entry[],
  formOf: (group: Group) => GroupForm,
): string | undefined {
  const now = newestAt(entries.at(-1));
  let answered = false;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index] as Entry;
    if (entry.kind !== "group" && answered) return undefined;
    if (entry.kind !== "group" || formOf(entry) !== "home") continue;
    answered = true;
    const { id, expiresAt } = entry.end?.container ?? {};
    // An answer that waits for one of our tools may omit it (anthropic-sdk-python#1801); then the loop's container
    // applies.
    if (id !== undefined) return expiresAt === undefined || expiresAt > now ? id : undefined;
  }
  return undefined;
}

/** Whether the user's parameters name one for all requests. */
export function givesContainer({ parameters }: Settings): boolean {
  const { container } = parameters;
  if (typeof container === "object" && container !== null) return "id" in container;
  return typeof container === "string";
}

function newestAt(entry: Entry | undefined): string {
  return entry?.kind === "group" ? entry.newestAt : (entry?.event.at ?? "");
}
