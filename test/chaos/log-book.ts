/** Reads the logs from the database as they grow, and checks every line on the way. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { messageOf } from "../../src/base/support/index.ts";
import { scanLines } from "../../src/runtime/log/index.ts";
import type { ChaosDatabase } from "./database.ts";
import type { Ledger } from "./ledger.ts";

export interface ReadLog {
  readonly events: LoggedEvent[];
  /** The text of each line, without its checksum: what a stream tells. */
  readonly lines: string[];
  bytes: number;
  isDamaged: boolean;
}

const PAGE = 5000;

export class LogBook {
  readonly #database: ChaosDatabase;
  readonly #ledger: Ledger;
  readonly logs = new Map<string, ReadLog>();
  /** Ends by turn. */
  readonly ends = new Map<string, string>();
  /** The turn that a message has joined, by the id under which it was sent. */
  readonly joined = new Map<string, string>();
  readonly #turns = new Set<string>();

  constructor(database: ChaosDatabase, ledger: Ledger) {
    this.#database = database;
    this.#ledger = ledger;
  }

  /** How a turn ended, or the turn that its message has joined. */
  endOf(turn: string): string | undefined {
    return this.ends.get(this.joined.get(turn) ?? turn);
  }

  /** Whether the log has anything of the turn. */
  isKnown(turn: string): boolean {
    return this.#turns.has(turn) || this.joined.has(turn);
  }

  /** Reads what is new: contiguous `seq`, `epoch` that never falls, right checksums. */
  read(): Promise<void> {
    return this.#database.alone(() => this.#read());
  }

  async #read(): Promise<void> {
    const rows = await this.#database.sql(
      "select id, next_seq::text as next_seq from throughline.sessions where made",
    );
    for (const { id, next_seq: next } of rows) {
      const log = this.#logOf(String(id));
      while (!log.isDamaged && log.events.length < Number(next)) await this.#readPage(String(id), log);
    }
  }

  /** Also compares the sessions' rows with their events. Nothing may be written meanwhile. */
  async readAll(): Promise<void> {
    await this.read();
    const rows = await this.#database.sql(
      `select s.id, s.next_seq::text as next_seq, s.bytes::text as bytes, s.open_turn,
              (select count(*) from throughline.events e where e.tenant = s.tenant and e.session = s.id)::text as events
         from throughline.sessions s where made`,
    );
    for (const row of rows) {
      const id = String(row["id"]);
      const log = this.#logOf(id);
      const found = [row["next_seq"], row["events"], row["bytes"], row["open_turn"]];
      const expected = [String(log.events.length), String(log.events.length), String(log.bytes), null];
      if (!log.isDamaged && found.join() !== expected.join())
        this.#ledger.violate(`the row of ${id} does not fit its events`, { found, expected });
    }
  }

  /** Forgets everything and reads it again: a promotion has taken back the ends of logs. The caller is alone. */
  async readAnew(): Promise<void> {
    this.logs.clear();
    this.ends.clear();
    this.joined.clear();
    this.#turns.clear();
    await this.#read();
  }

  /** For the files of a run that failed. */
  write(folder: string): void {
    mkdirSync(folder, { recursive: true });
    for (const [id, { lines }] of this.logs) writeFileSync(join(folder, `${id}.jsonl`), lines.join("\n"));
  }

  async #readPage(id: string, log: ReadLog): Promise<void> {
    const from = log.events.length;
    const rows = await this.#database.sql(
      `select seq::text as seq, line from throughline.events where tenant = '' and session = $1 and seq >= $2
        order by events.seq limit $3`,
      [id, from, PAGE],
    );
    const lines = rows.map(({ line }) => String(line));
    const wrong = rows.findIndex(({ seq }, index) => Number(seq) !== from + index);
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    try {
      if (wrong !== -1 || rows.length === 0) throw new Error(`row ${from + Math.max(wrong, 0)} is missing`);
      const { events, tornBytes } = scanLines(bytes, {
        offset: log.bytes,
        firstSeq: from,
        lowestEpoch: log.events.at(-1)?.epoch ?? 0,
        session: id,
      });
      if (tornBytes > 0) throw new Error("a line is torn");
      for (const event of events) {
        log.events.push(event);
        if (event.turn !== undefined) this.#turns.add(event.turn);
        if (event.type === "user_message" && event.steer !== undefined && event.turn !== undefined)
          this.joined.set(event.steer, event.turn);
        if (event.type === "turn_end") this.#ended(id, event.turn, event.status);
      }
      for (const line of lines) log.lines.push(line.replace(/,"sum":"[0-9a-f]{8}"\}$/, "}"));
      log.bytes += bytes.length;
    } catch (error) {
      log.isDamaged = true;
      this.#ledger.violate(`the log of ${id} is damaged: ${messageOf(error)}`);
    }
  }

  #ended(session: string, turn: string, status: string): void {
    const before = this.ends.get(turn);
    if (before !== undefined)
      this.#ledger.violate(`turn ${turn} of ${session} ended twice: ${before} and ${status}`);
    this.ends.set(turn, status);
  }

  #logOf(id: string): ReadLog {
    const known = this.logs.get(id);
    if (known !== undefined) return known;
    const made: ReadLog = { events: [], lines: [], bytes: 0, isDamaged: false };
    this.logs.set(id, made);
    return made;
  }
}
