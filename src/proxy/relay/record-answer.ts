/** Makes a group of an answer: what every client shows of it, and the thoughts that go with it. */

import { type Group, type Ledger } from "../ledger/index.ts";
import { idMark, type IssuedThought, isUnmistakableId, readIssued, thoughtMarks } from "../marks/index.ts";
import { type Body, sentPrefixes } from "../restore/index.ts";
import type { WatchedAnswer } from "./answer-watch.ts";
import type { ReadRequest } from "./reading.ts";

export interface AnsweredRequest {
  readonly id: string;
  readonly at: number;
  readonly account: string;
  readonly scope: string;
  readonly request: ReadRequest;
  /** The request as the provider accepted it. */
  readonly sent: Body;
  readonly parent: Group | undefined;
}

export interface MadeGroup {
  readonly group: Group;
  readonly thoughts: readonly IssuedThought[];
}

/** Undefined if nothing of the answer could be known again. */
export function groupOf(
  answer: WatchedAnswer,
  given: AnsweredRequest,
  ledger: Ledger,
): MadeGroup | undefined {
  const { id, at, account, scope, request, sent, parent } = given;
  const { body, facts, reading, target } = request;
  const { mark } = ledger;
  if (facts.several) return undefined;
  const issued = readIssued(body.dialect, answer.items, mark);
  if (issued === undefined) return undefined;
  const thoughts = issued.thoughts.map((thought) => withRepeated(thought, answer, ledger));
  const { providerResponseId } = answer.end;
  const bound = target.profile.prefixBound && body.dialect === "anthropic-messages";
  return {
    thoughts,
    group: {
      type: "group",
      id,
      at,
      scope,
      account,
      dialect: body.dialect,
      model: facts.model,
      keys: reading.end,
      parent: parent?.id,
      members: issued.members,
      openings: issued.openings,
      thoughts: thoughts.map(({ raw: _raw, ...known }) => known),
      ids: issued.ids.filter(isUnmistakableId).map((one) => idMark(mark, one)),
      thinking: facts.thinking,
      stored: facts.stored,
      hints: facts.hints,
      sent: bound ? sentPrefixes(sent, mark).at(-1) : undefined,
      response:
        facts.stored && providerResponseId !== undefined ? idMark(mark, providerResponseId) : undefined,
    },
  };
}

/** A client may keep the payload of the last event instead of the one of the item. */
function withRepeated(
  thought: IssuedThought,
  { items, repeated }: WatchedAnswer,
  { mark }: Ledger,
): IssuedThought {
  const item = items.find((one) => one.item === thought.raw);
  const payload = item === undefined ? undefined : repeated.get(item.outputIndex);
  if (payload === undefined) return thought;
  const at = { element: 0 };
  const { identity } = thoughtMarks(
    { kind: "thought", at, form: thought.form, identity: payload, words: "" },
    mark,
  );
  return { ...thought, identities: [...new Set([...thought.identities, identity])] };
}
