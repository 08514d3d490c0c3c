/**
 * Group append: what many sessions have to write goes into one statement as soon as a connection is free. One commit for
 * all of them is several times as fast as one commit each (bench/postgres).
 *
 * Every append has one of three outcomes. Written. Refused: another node holds the session, or this append was written
 * before its answer was lost, which a look at the rows tells. Or no answer: then the very same statement is sent again,
 * because of two copies only one can find the expected `next_seq`. If the lease ends before an answer comes, the writer
 * is lost: it must not go on without knowing whether the last append is there.
 */

import { type Clock, codedError } from "../../base/support/index.ts";
import type { Connections } from "./connections.ts";
import { leaseOver } from "./identity.ts";
import type { Lane } from "./lane.ts";
import { NO_ANSWER, type StoreNode } from "./node.ts";
import { isHeldUp, outcomeOf, sqlState, storeError } from "./problems.ts";
import type { Statements } from "./statements.ts";

/** One session's share of a statement. */
export interface Batch {
  readonly tenant: string;
  readonly session: string;
  readonly holder: string;
  readonly fence: string;
  readonly incarnation: string;
  readonly seq: number;
  /** Without their LF. Empty to make an empty session. */
  readonly lines: readonly string[];
  readonly bytes: number;
  readonly openTurn: string | null;
  /** What its writer has seen of the inbox. */
  readonly asked: string;
  readonly summary: string | null;
}

export type Appended =
  | { readonly how: "written"; readonly asked: string }
  /** Another writer holds the session, or this node's lease is over: nothing can be written any more. */
  | { readonly how: "lost"; readonly error: Error }
  /** The database refused it and wrote nothing. The next append may succeed. */
  | { readonly how: "failed"; readonly error: Error };

/** A log with something to append. */
export interface AppendSource {
  /** What waits, as one batch. Nothing more is taken from the source until it is settled. */
  take(): Batch | undefined;
  /** Returns whether more waits. */
  settle(outcome: Appended): boolean;
}

export interface AppendCounters {
  batches: number;
  appends: number;
  refused: number;
  /** Statements that were sent again because no answer came. */
  repeated: number;
  /** Refused appends that turned out to be written. */
  foundWritten: number;
  /** Turns that were given up. */
  abandoned: number;
  /** The time of all statements, from the first attempt to the answer. */
  ms: number;
}

const MOST_SESSIONS = 256;
const MOST_BYTES = 1024 * 1024;
const FIRST_WAIT_MS = 10;
const MOST_WAIT_MS = 500;

interface Taken {
  readonly source: AppendSource;
  readonly batch: Batch;
}

export class Appender {
  readonly #connections: Connections;
  readonly #statements: Statements;
  readonly #node: StoreNode;
  readonly #clock: Clock;
  readonly #waiting = new Set<AppendSource>();
  readonly #large: Taken[] = [];
  readonly #free: Lane[];
  #largeBusy = false;
  readonly counters: AppendCounters = {
    batches: 0,
    appends: 0,
    refused: 0,
    repeated: 0,
    foundWritten: 0,
    abandoned: 0,
    ms: 0,
  };
  /** Called with the sessions of each statement that was written. */
  onWritten: (batches: readonly Batch[]) => void = () => undefined;

  constructor(connections: Connections, statements: Statements, node: StoreNode, clock: Clock) {
    this.#connections = connections;
    this.#statements = statements;
    this.#node = node;
    this.#clock = clock;
    this.#free = [...connections.appends];
  }

  add(source: AppendSource): void {
    this.#waiting.add(source);
    this.#pump();
  }

  #pump(): void {
    while (this.#waiting.size > 0) {
      const lane = this.#free.pop();
      if (lane === undefined) return;
      const taken = this.#take();
      if (taken.length === 0) {
        this.#free.push(lane);
        break;
      }
      void this.#run(lane, taken).finally(() => {
        this.#free.push(lane);
        this.#pump();
      });
    }
  }

  /** A batch above the limit goes alone on its own connection, so that it holds up nobody. */
  #take(): readonly Taken[] {
    const taken: Taken[] = [];
    let bytes = 0;
    for (const source of this.#waiting) {
      if (taken.length >= MOST_SESSIONS || bytes >= MOST_BYTES) break;
      this.#waiting.delete(source);
      const batch = source.take();
      if (batch === undefined) continue;
      if (batch.bytes > MOST_BYTES) {
        this.#large.push({ source, batch });
        void this.#pumpLarge();
        continue;
      }
      bytes += batch.bytes;
      taken.push({ source, batch });
    }
    return taken;
  }

  async #pumpLarge(): Promise<void> {
    if (this.#largeBusy) return;
    this.#largeBusy = true;
    for (let next = this.#large.shift(); next !== undefined; next = this.#large.shift())
      await this.#run(this.#connections.large, [next]);
    this.#largeBusy = false;
  }

  /** A batch that is held up has one try here if `isPatient` is false, and then goes where it holds up nobody. */
  async #run(lane: Lane, taken: readonly Taken[], isPatient = true): Promise<void> {
    let refused: readonly Taken[];
    try {
      refused = await this.#send(lane, taken, isPatient && taken.length === 1);
    } catch (error) {
      if (taken.length > 1 && (isOfOne(error) || isHeldUp(error))) {
        // One member is refused, or waits for a lock, and takes the others down with it.
        for (const one of taken) await this.#run(lane, [one], false);
        return;
      }
      if (!isPatient && isHeldUp(error) && this.#node.leftMs > 0) {
        this.#large.push(...taken);
        void this.#pumpLarge();
        return;
      }
      for (const one of taken) await this.#failed(one, error);
      return;
    }
    for (const one of refused) await this.#refused(one);
  }

  /** Settles what was written, and returns the rest. */
  async #send(lane: Lane, taken: readonly Taken[], isPatient: boolean): Promise<readonly Taken[]> {
    const batches = taken.map(({ batch }) => batch);
    const [only] = batches;
    const isOne = only !== undefined && batches.length === 1;
    const statement = isOne ? this.#statements.appendOne : this.#statements.append;
    const values = isOne ? valuesOfOne(only) : valuesOf(batches);
    this.counters.batches += 1;
    this.counters.appends += taken.length;
    const started = performance.now();
    let wait = FIRST_WAIT_MS;
    for (;;) {
      try {
        const rows = await lane.query(statement, values);
        this.counters.ms += performance.now() - started;
        const asked = new Map(rows.map((row) => [keyOf(row["tenant"], row["id"]), String(row["asked"])]));
        const written = taken.filter(({ batch }) => asked.has(keyOf(batch.tenant, batch.session)));
        this.onWritten(written.map(({ batch }) => batch));
        for (const { source, batch } of written)
          this.#settle(source, {
            how: "written",
            asked: asked.get(keyOf(batch.tenant, batch.session)) ?? "",
          });
        return taken.filter((one) => !written.includes(one));
      } catch (error) {
        if (outcomeOf(error) === "no") throw error;
        const isOurs = taken.every(({ batch }) => batch.holder === this.#node.id);
        if (!isOurs || this.#node.leftMs === 0) throw leaseOver(NO_ANSWER);
        if (!isPatient && isHeldUp(error)) throw error;
        this.counters.repeated += 1;
        await this.#clock.sleep(wait);
        wait = Math.min(wait * 2, MOST_WAIT_MS);
      }
    }
  }

  async #failed({ source, batch }: Taken, error: unknown): Promise<void> {
    if (sqlState(error) === "23505") return this.#refused({ source, batch });
    const known = storeError(error);
    if (known.code === "session_fenced") return this.#settle(source, { how: "lost", error: known });
    if (known.code === "store_full") return this.#settle(source, { how: "failed", error: known });
    const message = `session "${batch.session}" can no longer be written: ${known.message}. Open it again to continue`;
    this.#settle(source, { how: "lost", error: codedError("log_failed", message, known) });
  }

  /** Refused: compares the rows byte for byte. Ours may have been written before its answer was lost. */
  async #refused({ source, batch }: Taken): Promise<void> {
    this.counters.refused += 1;
    const { tenant, session, seq, lines, fence, holder } = batch;
    try {
      const [row] = await this.#node.patiently(() =>
        this.#connections.read(this.#statements.look, [tenant, session]),
      );
      const found = await this.#node.patiently(() =>
        this.#connections.read(this.#statements.lines, [
          tenant,
          session,
          seq,
          seq + lines.length,
          lines.length,
        ]),
      );
      const ours = row?.["fence"] === fence && row["holder"] === holder;
      const same = lines.length === found.length && found.every(({ line }, index) => line === lines[index]);
      if (ours && same && Number(row["next_seq"]) === seq + lines.length) {
        this.counters.foundWritten += 1;
        this.onWritten([batch]);
        return this.#settle(source, { how: "written", asked: String(row["asked"]) });
      }
      this.#settle(source, { how: "lost", error: overtaken(session, row?.["holder_name"]) });
    } catch (error) {
      this.#settle(source, { how: "lost", error: storeError(error) });
    }
  }

  #settle(source: AppendSource, outcome: Appended): void {
    if (!source.settle(outcome)) return;
    this.#waiting.add(source);
    this.#pump();
  }
}

/** Whether the server refused a statement for a reason that may be one member's. A full disk is everybody's. */
function isOfOne(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && state !== "53100" && outcomeOf(error) === "no";
}

export function overtaken(session: string, by: unknown): Error {
  const who = typeof by === "string" ? `node ${by}` : "another node";
  return codedError(
    "session_fenced",
    `session "${session}" can no longer be written here: ${who} goes on with it. Open it again to follow`,
  );
}

function keyOf(tenant: unknown, session: unknown): string {
  return `${String(tenant)} ${String(session)}`;
}

function valuesOf(batches: readonly Batch[]): readonly unknown[] {
  const of = <T>(field: (batch: Batch) => T): T[] => batches.map(field);
  const [first] = batches;
  const firsts: number[] = [];
  const owners: number[] = [];
  const lines: string[] = [];
  for (const [index, batch] of batches.entries()) {
    firsts.push(lines.length + 1);
    for (const line of batch.lines) {
      lines.push(line);
      owners.push(index + 1);
    }
  }
  return [
    of(({ tenant }) => tenant),
    of(({ session }) => session),
    of(({ fence }) => fence),
    of(({ seq }) => seq),
    of(({ lines: own }) => own.length),
    of(({ bytes }) => bytes),
    of(({ openTurn }) => openTurn),
    of(({ asked }) => asked),
    of(({ summary }) => summary),
    firsts,
    first?.holder,
    first?.incarnation,
    lines.join("\n"),
    owners,
  ];
}

function valuesOfOne(batch: Batch): readonly unknown[] {
  const { tenant, session, fence, seq, lines, bytes, openTurn, asked, summary, holder, incarnation } = batch;
  return [
    tenant,
    session,
    fence,
    seq,
    lines.length,
    bytes,
    openTurn,
    asked,
    summary,
    holder,
    incarnation,
    lines.join("\n"),
  ];
}
