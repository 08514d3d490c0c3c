/**
 * Finds what could have come back in a chat request. Chat has no ids, and on another branch the same text may have been
 * said with other thoughts. So each message counts for only one response: the one whose thought it carries, if it
 * carries any.
 */

import type { Engine } from "../engine.ts";
import type { IssuedReasoning } from "../issued-record.ts";
import type { ChatMessage } from "./messages.ts";
import { isNeeded, isRead, thoughtsByMessage } from "./reasoning.ts";
import type { ChatRequest } from "./request-shape.ts";

export function acceptableIn(options: {
  readonly engine: Engine;
  readonly request: ChatRequest;
  readonly issued: readonly IssuedReasoning[];
  readonly sent: readonly string[];
}): readonly string[] {
  const { engine, request, issued } = options;
  const sent = new Set(options.sent);
  const mine = issued.filter(
    (one) => one.opaque && one.epoch === engine.seal.epoch && one.sealed?.model === request.model,
  );
  const wanted = request.messages.filter(
    (one) => one.role === "assistant" && (isNeeded(one, engine, request) || isRead(one, engine, request)),
  );
  const thoughtsOf = thoughtsByMessage(mine);
  const claimed = new Set<string>();
  const claim = (message: ChatMessage, fits: (one: IssuedReasoning) => boolean): boolean => {
    const found = thoughtsOf(message).findLast((one) => !claimed.has(uidOf(one)) && fits(one));
    if (found !== undefined) claimed.add(uidOf(found));
    return found !== undefined;
  };
  const bare = wanted.filter((message) => !claim(message, ({ id }) => sent.has(id)));
  for (const message of bare) claim(message, () => true);
  return mine.filter((one) => claimed.has(uidOf(one))).map(({ id }) => id);
}

/** Groups the thoughts of one response. */
function uidOf({ sealed, id }: IssuedReasoning): string {
  return sealed?.uid ?? id;
}
