/**
 * Steering: a message that was sent while the turn runs joins it before a request, after the results of the step before.
 * The request's own sync makes it durable. While the provider's own call waits for its result, no message joins: the
 * request would have to leave that call out (fold/server-pairs.ts).
 */

import type { TurnContext } from "./context.ts";

export async function joinMessages({ live, turn, join }: TurnContext): Promise<void> {
  if (join === undefined || live.fold.waitsForServer) return;
  const messages = await join(turn);
  if (messages.length > 0) await live.append(messages);
}
