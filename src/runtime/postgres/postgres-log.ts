/**
 * The log of one session in PostgreSQL. An append is one guarded statement, durable when it resolves. Everything a
 * writer holds ends with its node, or when another node has acquired the session.
 */

import { createHash } from "node:crypto";

import { asRead, type LoggedEvent } from "../../base/events/index.ts";
import { addAll, codeOf, type ThroughlineError } from "../../base/support/index.ts";
import { SessionFacts, summaryOf } from "../facts/index.ts";
import {
  type AppendDraft,
  type AppendOptions,
  assertFormat,
  changesOf,
  closed,
  createStamper,
  damagedLog,
  frameLine,
  type Log,
  type LogChange,
  LogSize,
  nextEpoch,
  readOnly,
  replaced,
  LARGEST_WHOLE_BYTES,
  scanLines,
  type Scratch,
  type Stamper,
} from "../log/index.ts";
import { type Appended, type AppendSource, type Batch, overtaken } from "./appender.ts";
import type { Flying, Hold, Pending, PostgresLogParts } from "./log-parts.ts";
import { readBlob } from "./read-blob.ts";
import { NOTHING_SEEN, type OpenTurnOnRelease } from "./releases.ts";
import { summaryText } from "./summaries.ts";

const PAGE = 1000;

export class PostgresLog implements Log, AppendSource {
  readonly session: string;
  readonly mode: "write" | "read";
  readonly location = "the PostgreSQL store";
  readonly events: LoggedEvent[] = [];
  readonly scratch: Scratch;
  readonly restored: boolean;
  readonly takeovers: number;
  readonly #parts: PostgresLogParts;
  readonly #stamper: Stamper;
  readonly #limit: LogSize;
  readonly #loss = new AbortController();
  readonly #closing = new AbortController();
  #facts = new SessionFacts();
  #epoch = 1;
  #size = 0;
  #made: boolean;
  #pending: Pending[] = [];
  #flying: Flying | undefined;
  #asked: string;
  /** Reads one after the other, so that no event is taken twice. */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(parts: PostgresLogParts) {
    this.#parts = parts;
    this.session = parts.id;
    this.mode = parts.hold === undefined ? "read" : "write";
    this.restored = parts.hold?.restored === true;
    this.takeovers = parts.hold?.takeovers ?? 0;
    this.#made = parts.made;
    this.#asked = parts.hold?.asked ?? "0";
    this.#stamper = createStamper(parts.clock);
    this.#limit = new LogSize(parts.id, parts.largestLogBytes ?? LARGEST_WHOLE_BYTES);
    this.scratch = parts.live.scratchOf({
      tenant: parts.tenant,
      session: parts.id,
      fence: parts.hold?.fence ?? "0",
    });
    if (parts.hold === undefined) return;
    parts.node.add(this);
    parts.watcher.hold(parts.tenant, this);
  }

  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  get hold(): Hold | undefined {
    return this.#parts.hold;
  }

  /** What this writer has seen of the inbox. */
  get asked(): string {
    return this.#asked;
  }

  set asked(asked: string) {
    this.#asked = asked;
  }

  /** Reads the log up to `next_seq`, in pages, so that memory holds only events. */
  async load(nextSeq: number): Promise<this> {
    const { connections, statements, tenant } = this.#parts;
    while (this.events.length < nextSeq) {
      const values = [tenant, this.session, this.events.length, nextSeq, PAGE];
      const rows = await connections.read(statements.lines, values);
      if (rows.length === 0) throw this.#missing(nextSeq);
      this.#take(rows.map(({ line }) => String(line)));
    }
    this.#epoch = nextEpoch(this.events);
    this.#facts.add(this.events);
    return this;
  }

  append(
    drafts: readonly AppendDraft[],
    { durable = false }: AppendOptions = {},
  ): Promise<readonly LoggedEvent[]> {
    return new Promise((done, failed) => {
      this.#assertWritable();
      const isIdle = this.#pending.length === 0 && this.#flying === undefined;
      if (drafts.length === 0 && isIdle && (this.#made || !durable)) return done([]);
      this.#pending.push({ drafts, done, failed });
      if (this.#flying === undefined) this.#parts.appender.add(this);
    });
  }

  get inTurn(): boolean {
    return this.#facts.openTurn !== undefined;
  }

  take(): Batch | undefined {
    const { hold, tenant } = this.#parts;
    if (hold === undefined || this.lost.aborted || this.#flying !== undefined) return undefined;
    const own: Pending[] = [];
    const added: (readonly LoggedEvent[])[] = [];
    const lines: string[] = [];
    const stamped: LoggedEvent[] = [];
    let bytes = 0;
    for (const one of this.#pending.splice(0)) {
      try {
        const drafts = [...one.drafts, ...this.#limit.warning(this.#size + bytes, one.drafts)];
        const events = this.#stamper.stamp(drafts, this.events.length + stamped.length, this.#epoch);
        const framed = events.map((event) => frameLine(event));
        const size = framed.reduce((sum, line) => sum + line.length, 0);
        this.#limit.assertRoom(this.#size + bytes + size, one.drafts);
        own.push(one);
        added.push(events.slice(0, one.drafts.length));
        for (const line of framed) lines.push(line.toString("utf8", 0, line.length - 1));
        addAll(stamped, events);
        bytes += size;
      } catch (error) {
        one.failed(error); // only this call: the others are sound
      }
    }
    if (own.length === 0) return undefined;
    const { openTurn: turnBefore, title: titleBefore } = this.#facts;
    this.#facts.add(stamped.map(asRead)); // an event of a later version counts as unknown
    const openTurn = this.#facts.openTurn ?? null;
    // A list shows what the last turn left, and titles at once.
    const isEdge =
      (turnBefore ?? null) !== openTurn || titleBefore !== this.#facts.title || lines.length === 0;
    const summary = isEdge ? summaryText(this.session, summaryOf(this.#facts)) : null;
    this.#flying = { own, added, stamped, bytes };
    const { holder, fence, incarnation } = hold;
    const seq = this.events.length;
    return {
      tenant,
      session: this.session,
      holder,
      fence,
      incarnation,
      seq,
      lines,
      bytes,
      openTurn,
      asked: this.#asked,
      summary,
    };
  }

  settle(outcome: Appended): boolean {
    const flying = this.#flying;
    this.#flying = undefined;
    if (flying === undefined) return false;
    if (outcome.how === "written") {
      this.#made = true;
      this.#size += flying.bytes;
      addAll(this.events, flying.stamped);
      if (flying.stamped.some(isGivenUp)) this.#parts.appender.counters.abandoned += 1;
      if (outcome.asked !== this.#asked) this.#parts.watcher.unseen(this.#parts.tenant, this.session);
      for (const [index, one] of flying.own.entries()) one.done(flying.added[index] ?? []);
      return this.#pending.length > 0;
    }
    for (const one of flying.own) one.failed(outcome.error);
    if (outcome.how === "lost") {
      this.lose(outcome.error);
      return false;
    }
    this.#facts = new SessionFacts();
    this.#facts.add(this.events);
    return this.#pending.length > 0;
  }

  /** Ends this writer for good. */
  lose(error: Error): void {
    this.#parts.node.remove(this);
    this.#parts.watcher.letGo(this.#parts.tenant, this.session);
    if (!this.lost.aborted) this.#loss.abort(error);
    for (const one of this.#pending.splice(0)) one.failed(error);
  }

  refusal(): ThroughlineError | undefined {
    return this.#limit.refusal(this.#size);
  }

  /** By this process's own clock: past its deadline another node may be at work. */
  async assertWriter(): Promise<void> {
    this.#assertWritable();
    const { node } = this.#parts;
    if (node.mayAct) return;
    await node.renew(); // rejects, and ends this log, if the lease is over
    this.#assertWritable();
  }

  async lines(): Promise<Buffer> {
    const { connections, statements, tenant } = this.#parts;
    const pieces: Buffer[] = [];
    for (let at = 0; at < this.events.length;) {
      const values = [tenant, this.session, at, this.events.length, PAGE];
      const rows = await connections.read(statements.lines, values);
      if (rows.length === 0) throw replaced(this.session);
      pieces.push(bytesOf(rows.map(({ line }) => String(line))));
      at += rows.length;
    }
    const bytes = Buffer.concat(pieces);
    scanLines(bytes, { offset: 0, firstSeq: 0, lowestEpoch: 0, session: this.session });
    return bytes;
  }

  refresh(): Promise<readonly LoggedEvent[]> {
    if (this.mode === "write") return Promise.resolve([]);
    return this.#inOrder(async () => {
      const { connections, statements, tenant, born } = this.#parts;
      const before = this.events.length;
      for (;;) {
        const from = this.events.length;
        const rows = await connections.read(statements.since, [tenant, this.session, from, PAGE]);
        const [first] = rows;
        if (first === undefined || first["born"] !== born || Number(first["next_seq"]) < from)
          throw replaced(this.session);
        if (this.events.length > from) continue; // the watcher brought some meanwhile
        this.#take(rows.flatMap(({ line }) => (typeof line === "string" ? [line] : [])));
        if (this.events.length >= Number(first["next_seq"])) return this.events.slice(before);
      }
    });
  }

  changes(signal?: AbortSignal): AsyncIterable<LogChange> {
    const { watcher, tenant, born, storeClosing } = this.#parts;
    const ends = this.mode === "write" ? [AbortSignal.abort()] : [signal, this.#closing.signal, storeClosing];
    const followed = watcher.follow({
      tenant,
      session: this.session,
      born,
      seq: () => this.events.length,
      add: (seq, lines) => {
        // Reads on demand may have been faster.
        if (seq <= this.events.length) this.#take(lines.slice(this.events.length - seq));
      },
    });
    return changesOf(
      {
        events: this.events,
        ends,
        listen: (ring) => followed.listen(ring),
        prepare: () => followed.ask(),
        get writer() {
          return followed.writer;
        },
        rows: () => followed.rows(),
        refresh: async () => followed.rethrow(),
      },
      this.events.length,
    );
  }

  async hasWriter(): Promise<boolean> {
    if (this.mode === "write") return !this.#closing.signal.aborted && !this.lost.aborted;
    const { connections, statements, tenant } = this.#parts;
    const [row] = await connections.read(statements.look, [tenant, this.session]);
    return row?.["alive"] === true;
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    const { hold, connections, statements, tenant } = this.#parts;
    this.#assertWritable();
    const name = createHash("sha256").update(bytes).digest("hex");
    const values = [tenant, this.session, hold?.fence, hold?.holder, name, Buffer.from(bytes)];
    // Part of a turn: like an append, it waits for the database.
    const [row] = await this.#parts.node.patiently(() => connections.read(statements.putBlob, values));
    if (row !== undefined) return name;
    const error = overtaken(this.session, undefined);
    this.lose(error);
    throw error;
  }

  getBlob(name: string): Promise<Uint8Array | undefined> {
    return readBlob(this.#parts, name);
  }

  close(): Promise<void> {
    return this.#close("keep");
  }

  /** Releases the session with its turn left open, so that another node goes on with it at once. */
  handOver(): Promise<void> {
    return this.#close("wake");
  }

  async #close(openTurn: OpenTurnOnRelease): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const idle = this.mode === "write" ? this.#idle() : Promise.resolve();
    this.#closing.abort();
    const { hold, node, tenant, live, watcher, releases } = this.#parts;
    try {
      if (hold === undefined) return;
      await idle;
      const { session } = this;
      const { holder, fence } = hold;
      const one = { tenant, session, holder, fence, made: this.#made };
      if (this.lost.aborted) {
        // The database refused this log alone. Its node lives on, so nobody else could take the session over.
        const isOurs = codeOf(this.lost.reason) !== "session_fenced" && node.id === holder;
        if (isOurs) await releases.release({ ...one, asked: NOTHING_SEEN, openTurn: "later" });
        return;
      }
      await live.flushed();
      await releases.release({ ...one, asked: this.#asked, openTurn });
    } finally {
      if (hold !== undefined) {
        node.remove(this);
        live.forget(tenant, this.session);
        watcher.letGo(tenant, this.session);
      }
      await this.#parts.closed();
    }
  }

  /** Everything appended so far is settled. */
  async #idle(): Promise<void> {
    if (this.#pending.length === 0 && this.#flying === undefined) return;
    await new Promise<void>((done) => {
      this.#pending.push({ drafts: [], done: () => done(), failed: () => done() });
      if (this.#flying === undefined) this.#parts.appender.add(this);
    });
  }

  #take(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const bytes = bytesOf(lines);
    const { events } = scanLines(bytes, {
      offset: this.#size,
      firstSeq: this.events.length,
      lowestEpoch: this.events.at(-1)?.epoch ?? 0,
      session: this.session,
    });
    if (this.events.length === 0) assertFormat(events, this.session);
    addAll(this.events, events);
    this.#size += bytes.length;
  }

  #missing(nextSeq: number): Error {
    const problem = `events ${this.events.length} to ${nextSeq - 1} are missing`;
    const damage = { line: this.events.length + 1, byte: this.#size, problem, salvageable: true };
    return damagedLog(damage, this.session);
  }

  #assertWritable(): void {
    if (this.mode === "read") throw readOnly(this.session);
    if (this.#closing.signal.aborted) throw closed(this.session);
    if (this.lost.aborted) throw this.lost.reason;
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#reading.then(work, work);
    this.#reading = result.catch(() => undefined);
    return result;
  }
}

function bytesOf(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join("\n")}\n`, "utf8");
}

/** Counted here because every node's log passes here, whoever decided it. */
function isGivenUp(event: LoggedEvent): boolean {
  return event.type === "turn_end" && event.error?.code === "turn_abandoned";
}
