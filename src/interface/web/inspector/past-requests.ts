/**
 * Requests that were sent never change, so each is asked for once. The answers belong to the facts of a session: a log that
 * is read anew has new facts.
 */

import type { Decision, RebuiltRequest } from "../../../access/client/index.ts";
import type { SessionFacts } from "../../../runtime/facts/index.ts";
import type { SessionView } from "../session-view.ts";

interface Asked {
  readonly rebuilt: Map<number, Promise<RebuiltRequest>>;
  readonly decided: Map<number, Promise<readonly Decision[]>>;
}

const asked = new WeakMap<SessionFacts, Asked>();

/** Bodies have megabytes in long sessions. */
const MOST_BODIES = 4;

export function rebuiltRequest(view: SessionView, request: number): Promise<RebuiltRequest> {
  const { rebuilt } = askedOf(view);
  const found = once(rebuilt, request, () => view.handle.rebuild(request));
  for (const oldest of rebuilt.keys()) {
    if (rebuilt.size <= MOST_BODIES) break;
    if (oldest !== request) rebuilt.delete(oldest);
  }
  return found;
}

export function decisionsOf(view: SessionView, request: number): Promise<readonly Decision[]> {
  return once(askedOf(view).decided, request, () => view.handle.explain({ request }));
}

function askedOf({ facts }: SessionView): Asked {
  const known = asked.get(facts);
  if (known !== undefined) return known;
  const made = { rebuilt: new Map(), decided: new Map() };
  asked.set(facts, made);
  return made;
}

function once<Value>(
  kept: Map<number, Promise<Value>>,
  request: number,
  ask: () => Promise<Value>,
): Promise<Value> {
  const known = kept.get(request);
  if (known !== undefined) return known;
  const made = ask();
  kept.set(request, made);
  // A failure is not an answer: the next look asks again.
  made.catch(() => kept.delete(request));
  return made;
}
