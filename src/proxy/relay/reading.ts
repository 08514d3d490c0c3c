/** A request as the proxy understands it. */

import type { IncomingHttpHeaders } from "node:http";

import type { Dialect } from "../../base/events/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { idMark, Reader, type Reading, readPieces } from "../marks/index.ts";
import {
  type Beginning,
  beginningOf,
  beginsWith,
  type Body,
  openAfter,
  openWire,
  requestFacts,
  type RequestFacts,
  type Target,
} from "../restore/index.ts";
import { type Route, targetOf } from "./routes.ts";

export interface ReadRequest {
  readonly body: Body;
  readonly facts: RequestFacts;
  readonly target: Target;
  readonly reading: Reading;
  readonly scope: string;
}

/** The mark of whom something is issued to: account, address and dialect. */
export function scopeOf(ledger: Ledger, account: string, { url }: Route, dialect: Dialect): string {
  return ledger.mark(`scope\n${account}\n${url.origin}${url.pathname}\n${dialect}`);
}

/** Beginnings that are remembered, so that a request of a long conversation costs what is new in it. */
const MOST_BEGINNINGS = 128;
const MOST_BEGINNING_BYTES = 48 * 1024 * 1024;

interface Known {
  readonly beginning: Beginning;
  /** Stands after the last element. */
  readonly reader: Reader;
  readonly start: string;
}

/** Reads requests. Remembers how the latest ones began. */
export class RequestReader {
  #known: readonly Known[] = [];

  /** Undefined if the body is not a request with a history. */
  read(dialect: Dialect, bytes: Buffer, given: Given): ReadRequest | undefined {
    const found = this.#longest(dialect, bytes);
    const continued = found && openAfter(found.beginning, bytes);
    const body = continued?.body ?? openWire(dialect, bytes.toString("latin1"));
    if (body === undefined) return undefined;
    const { ledger, route, account, headers } = given;
    const told = requestFacts(dialect, body.head, ledger.mark);
    const facts = { ...told, hints: [...told.hints, ...headerHints(headers, ledger)] };
    const scope = scopeOf(ledger, account, route, dialect);
    const start = startOf(facts, ledger, scope);
    const goesOn = continued !== undefined && found?.start === start;
    const reader = (goesOn ? found.reader.copy() : undefined) ?? Reader.from(ledger.mark, start);
    const values = goesOn ? continued.added : body.values;
    const offset = goesOn ? body.spans.length - values.length : 0;
    for (const [index, value] of values.entries())
      for (const piece of readPieces(dialect, value, offset + index)) reader.push(piece);
    this.#remember({ body, reader, start }, bytes, found);
    return { body, facts, target: targetOf(route, dialect, facts.model), reading: reader.read(), scope };
  }

  #longest(dialect: Dialect, bytes: Buffer): Known | undefined {
    let longest: Known | undefined;
    for (const known of this.#known) {
      const { beginning } = known;
      if (beginning.dialect !== dialect || beginning.bytes.length <= (longest?.beginning.bytes.length ?? 0))
        continue;
      if (beginsWith(bytes, beginning)) longest = known;
    }
    return longest;
  }

  #remember(
    read: { readonly body: Body; readonly reader: Reader; readonly start: string },
    bytes: Buffer,
    old: Known | undefined,
  ): void {
    const reader = read.reader.copy();
    const beginning = reader && beginningOf(read.body, bytes);
    if (reader === undefined || beginning === undefined || beginning.bytes.length < WORTH_BYTES) return;
    const others = this.#known.filter((one) => one !== old).slice(1 - MOST_BEGINNINGS);
    let size = beginning.bytes.length;
    const kept = others
      .toReversed()
      .filter((one) => (size += one.beginning.bytes.length) <= MOST_BEGINNING_BYTES);
    this.#known = [...kept.toReversed(), { beginning, reader, start: read.start }];
  }
}

/** Shorter requests are read as fast as they are found. */
const WORTH_BYTES = 4096;

interface Given {
  readonly ledger: Ledger;
  readonly route: Route;
  readonly account: string;
  readonly headers: IncomingHttpHeaders;
}

/** A request that goes on from a stored response begins after it. */
function startOf({ previous }: RequestFacts, ledger: Ledger, scope: string): string {
  if (previous === undefined) return "";
  const hash = idMark(ledger.mark, previous);
  const group = ledger.index.ofResponse(scope, hash);
  return ledger.mark(`after\n${group?.id ?? hash}`);
}

/** Names that clients give their conversation. They choose among twins and never make a match. */
const SESSION_HEADERS = [
  "session_id",
  "session-id",
  "x-session-id",
  "conversation_id",
  "x-conversation-id",
  "x-claude-code-session-id",
  "x-session-affinity",
] as const;

function headerHints(headers: IncomingHttpHeaders, ledger: Ledger): readonly string[] {
  return SESSION_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [ledger.mark(`conversation\n${String(value)}`)];
  });
}
