/**
 * Whether the database is the one we know. A restored backup, a promoted standby and a copy differ from it in the
 * server's identifier or its timeline. Such a store gets a new incarnation, which ends every lease of the old one: what
 * was acknowledged before may be missing, so no writer may simply go on.
 */

import { randomUUID } from "node:crypto";

import { codedError, codeOf } from "../../base/support/index.ts";
import type { Connections } from "./connections.ts";
import type { Row, Statement } from "./lane.ts";
import { assertUtf8, tooNew, tooOld } from "./migrate.ts";
import { sqlState } from "./problems.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import type { Statements } from "./statements.ts";

/** What tells one server from another. Undefined where a provider hides it. */
export interface ServerMarks {
  readonly systemId: string;
  readonly timeline: string;
}

/** After a promotion `pg_control_checkpoint()` may still name the old timeline; the WAL file's name does not. */
const MARKS: Statement = {
  name: "tl_marks",
  text: `select system_identifier::text as system_id,
                ('x' || lpad(left(pg_walfile_name(pg_current_wal_lsn()), 8), 16, '0'))::bit(64)::bigint::text as timeline
           from pg_control_system()`,
};

/** A managed server hides its marks. */
const HIDDEN: ReadonlySet<string | undefined> = new Set(["42501", "42883", "0A000"]);
/** A standby has no position to write at, until it is promoted. It may be read. */
const IN_RECOVERY = "55000";

export class Identity {
  readonly #connections: Connections;
  readonly #statements: Statements;
  #checked: Promise<void> | undefined;
  #incarnation = "";
  #marksHidden = false;

  constructor(connections: Connections, statements: Statements) {
    this.#connections = connections;
    this.#statements = statements;
  }

  get incarnation(): string {
    return this.#incarnation;
  }

  /** Whether a restored database is noticed without `throughline store restored`. */
  get marksHidden(): boolean {
    return this.#marksHidden;
  }

  /** Checks the store once, before its first use. A failed check is repeated. */
  check(): Promise<void> {
    this.#checked ??= this.#check().catch((error: unknown) => {
      this.#checked = undefined;
      throw error;
    });
    return this.#checked;
  }

  /** The incarnation in which this node begins. */
  adopt(row: Row | undefined): void {
    if (row !== undefined) this.#incarnation = String(row["incarnation"]);
  }

  /** Compares the store's row with the server, and returns the incarnation in force. */
  async compare(row: Row): Promise<string> {
    assertVersions(row);
    const known = String(row["incarnation"]);
    const marks = await this.#readMarks();
    if (marks === undefined) return (this.#incarnation = known);
    const { systemId, timeline } = marks;
    if (row["system_id"] === null) {
      await this.#connections.ask(this.#statements.settle, [systemId, timeline]).catch(unlessReadOnly);
      return (this.#incarnation = known);
    }
    if (row["system_id"] === systemId && row["timeline"] === timeline) return (this.#incarnation = known);
    await this.restored(known, marks);
    return this.#incarnation;
  }

  /** Gives the store a new incarnation, unless another node did. */
  async restored(known: string, marks: ServerMarks | undefined): Promise<void> {
    const next = randomUUID();
    const values = [known, next, marks?.systemId ?? null, marks?.timeline ?? null];
    const [first] = await this.#connections.ask(this.#statements.reincarnate, values);
    if (first !== undefined) this.#incarnation = next;
    else this.#incarnation = String((await this.row())["incarnation"]);
  }

  async row(): Promise<Row> {
    const [row] = await this.#connections.ask(this.#statements.identity, []);
    if (row === undefined) throw tooOld(0);
    return row;
  }

  /** Undefined as well for a standby, which has them only once it is promoted. */
  async marks(): Promise<ServerMarks | undefined> {
    try {
      return await this.#readMarks();
    } catch (error) {
      if (stateOf(error) !== IN_RECOVERY) throw error;
      return undefined;
    }
  }

  async #readMarks(): Promise<ServerMarks | undefined> {
    if (this.#marksHidden) return undefined;
    try {
      const [row] = await this.#connections.ask(MARKS, []);
      return { systemId: String(row?.["system_id"]), timeline: String(row?.["timeline"]) };
    } catch (error) {
      if (!HIDDEN.has(stateOf(error))) throw error;
      this.#marksHidden = true;
      return undefined;
    }
  }

  async #check(): Promise<void> {
    await assertUtf8(this.#connections.quick);
    const row = await this.row();
    try {
      await this.compare(row);
    } catch (error) {
      if (stateOf(error) !== IN_RECOVERY) throw error;
      this.adopt(row);
    }
  }
}

function stateOf(error: unknown): string | undefined {
  const { details } = error as { readonly details?: { readonly sqlState?: string } };
  return details?.sqlState ?? sqlState(error);
}

/** Who may only read leaves it to the first that writes. */
function unlessReadOnly(error: unknown): void {
  if (codeOf(error) !== "store_no_rights") throw error;
}

/** An older program may go on while the tables say so. */
export function assertVersions(row: Row): void {
  const [version, oldest] = [Number(row["version"]), Number(row["oldest_writer"])];
  if (version < SCHEMA_VERSION) throw tooOld(version);
  if (oldest > SCHEMA_VERSION) throw tooNew(version);
}

export function leaseOver(why: string): Error {
  return codedError(
    "session_fenced",
    `${why}, so another node may go on with this session. Open it again to continue`,
  );
}
