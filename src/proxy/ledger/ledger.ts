/**
 * What a provider issued, and where: durable, without a time-to-live, found in memory. Whatever happens to its disk, a
 * request goes on: the ledger then remembers in memory only and says so.
 */

import { statSync } from "node:fs";
import { join } from "node:path";

import { type JsonObject, messageOf } from "../../base/support/index.ts";
import type { IssuedThought, Mark } from "../marks/index.ts";
import { GroupIndex } from "./index-of-groups.ts";
import type { Group, LedgerRecord } from "./records.ts";
import { markWith, newSecret, secretOf } from "./secret.ts";
import {
  type LedgerDamage,
  type Location,
  RAW_KEY,
  readRaw,
  readSegments,
  rewriteSegment,
  segmentNames,
  SegmentWriter,
  writerOf,
} from "./segments.ts";

/** How much a ledger remembers. */
export interface LedgerLimits {
  /** Groups that nobody used for so long are forgotten. */
  readonly days: number;
  /** The size of all segments; groups whose use is longest ago are forgotten first. */
  readonly maxBytes: number;
}

export const LEDGER_LIMITS: LedgerLimits = { days: 90, maxBytes: 4 * 1024 ** 3 };

const DAY_MS = 86_400_000;
/** Texts of thoughts kept in memory, so that a conversation reads no file. */
const CACHE_BYTES = 64 * 1024 * 1024;
/** Groups that a ledger without a disk remembers. */
const MEMORY_GROUPS = 10_000;

export interface LedgerOptions {
  /** Default: nothing is written. */
  readonly folder?: string | undefined;
  readonly limits?: LedgerLimits | undefined;
  readonly now: number;
  readonly onProblem?: ((message: string) => void) | undefined;
}

export class Ledger {
  readonly index = new GroupIndex();
  readonly mark: Mark;
  readonly folder: string | undefined;
  readonly damage: LedgerDamage[] = [];
  readonly #writer: SegmentWriter | undefined;
  readonly #places = new Map<string, Location>();
  readonly #cache = new Map<string, readonly string[]>();
  #cached = 0;
  readonly #problem: (message: string) => void;
  #degraded = false;

  constructor(options: LedgerOptions) {
    const { folder, limits = LEDGER_LIMITS, now } = options;
    this.folder = folder;
    this.#problem = options.onProblem ?? (() => undefined);
    let secret: string | undefined;
    if (folder !== undefined) {
      try {
        secret = secretOf(folder);
        this.#load(folder);
        this.#trim(folder, limits, now);
        this.#writer = new SegmentWriter(folder, now);
      } catch (error) {
        this.#degrade(error);
      }
    }
    this.mark = markWith(secret ?? newSecret());
  }

  /** `degraded`: remembers in memory only, until the disk works again. */
  get health(): "ok" | "degraded" {
    return this.#degraded ? "degraded" : "ok";
  }

  /** The index has it at once. Resolves when it has left the process. */
  record(record: LedgerRecord): Promise<void> {
    return this.#record(record).catch((error: unknown) => this.#degrade(error));
  }

  recordGroup(group: Group, thoughts: readonly IssuedThought[]): Promise<void> {
    return this.#recordGroup(group, thoughts).catch((error: unknown) => this.#degrade(error));
  }

  async #record(record: LedgerRecord): Promise<void> {
    this.index.apply(record);
    await this.#write(record)?.written;
  }

  async #recordGroup(group: Group, thoughts: readonly IssuedThought[]): Promise<void> {
    const raw = thoughts.map((thought) => thought.raw);
    const written = this.#write(group, `${RAW_KEY}${raw.map((text) => JSON.stringify(text)).join(",")}]`);
    if (written !== undefined) this.#places.set(group.id, written.at);
    this.#remember(group.id, raw);
    this.index.apply(group);
    await written?.written;
    if (written === undefined) this.#forgetOldest();
  }

  /** The texts of a group's thoughts, in order; undefined if they are gone. */
  thoughtsOf(id: string): readonly string[] | undefined {
    const cached = this.#cache.get(id);
    if (cached !== undefined) {
      this.#cache.delete(id);
      this.#cache.set(id, cached);
      return cached;
    }
    const place = this.#places.get(id);
    if (place === undefined) return undefined;
    try {
      const raw = readRaw(place);
      if (raw.length === 0) return undefined;
      this.#remember(id, raw);
      return raw;
    } catch (error) {
      this.#problem(`cannot read the ledger: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Notes that groups are in use, at most once a day each. */
  used(groups: readonly Group[], now: number): void {
    for (const group of groups)
      if (now - this.index.lastUse(group) > DAY_MS) void this.record({ type: "used", id: group.id, at: now });
  }

  async close(): Promise<void> {
    await this.#writer?.close();
  }

  #write(record: LedgerRecord, more = ""): ReturnType<SegmentWriter["append"]> {
    if (this.#writer === undefined) return undefined;
    const written = this.#writer.append(record, more);
    if (written === undefined) this.#degrade(this.#writer.problem);
    else this.#watch(written.written).catch(() => undefined);
    return written;
  }

  async #watch(written: Promise<void>): Promise<void> {
    await written;
    if (this.#writer?.problem === undefined) this.#degraded = false;
    else this.#degrade(this.#writer.problem);
  }

  #degrade(error: unknown): void {
    if (!this.#degraded)
      this.#problem(
        `the ledger cannot be written, so the proxy remembers in memory only: ${messageOf(error)}`,
      );
    this.#degraded = true;
  }

  #load(folder: string): void {
    for (const { at, head } of readSegments(folder, this.damage, isIndexed)) {
      const record = head as unknown as LedgerRecord;
      try {
        this.index.apply(record);
      } catch {
        this.damage.push({ file: at.file, byte: at.offset });
        continue;
      }
      if (record.type === "group") this.#places.set(record.id, at);
    }
    if (this.damage.length > 0)
      this.#problem(
        `${this.damage.length} line${this.damage.length === 1 ? "" : "s"} of the ledger cannot be read and ${this.damage.length === 1 ? "is" : "are"} skipped; run "throughline proxy doctor"`,
      );
  }

  /** Only segments whose process is gone are written anew. */
  #trim(folder: string, { days, maxBytes }: LedgerLimits, now: number): void {
    const byUse = [...this.index.groups()].toSorted((a, b) => this.index.lastUse(a) - this.index.lastUse(b));
    const gone = new Set(
      byUse.filter((one) => now - this.index.lastUse(one) > days * DAY_MS).map(({ id }) => id),
    );
    const names = segmentNames(folder).filter((name) => writerOf(name) === undefined);
    let bytes = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    for (const { id } of byUse) {
      if (bytes <= maxBytes) break;
      gone.add(id);
      bytes -= this.#places.get(id)?.length ?? 0;
    }
    const isOld = (head: JsonObject): boolean =>
      typeof head["at"] === "number" && now - head["at"] > days * DAY_MS;
    const isGone = (head: JsonObject): boolean =>
      gone.has(String(head["id"])) || (head["type"] !== "group" && head["type"] !== "account" && isOld(head));
    const stale = names.filter((name) => gone.size > 0 || isStale(join(folder, name), now - days * DAY_MS));
    if (stale.length === 0) return;
    for (const name of stale) rewriteSegment(folder, name, (head) => !isGone(head));
    this.#places.clear();
    for (const id of gone) this.index.remove(id);
    for (const { at, head } of readSegments(folder, [], isGroup)) this.#places.set(String(head["id"]), at);
  }

  #remember(id: string, raw: readonly string[]): void {
    this.#cache.set(id, raw);
    this.#cached += sizeOf(raw);
    for (const [oldest, texts] of this.#cache) {
      if (this.#cached <= CACHE_BYTES || !this.#places.has(oldest)) break;
      this.#cache.delete(oldest);
      this.#cached -= sizeOf(texts);
    }
  }

  #forgetOldest(): void {
    if (this.index.size <= MEMORY_GROUPS) return;
    for (const { id } of this.index.groups()) {
      if (this.#places.has(id)) continue;
      this.index.remove(id);
      this.#cached -= sizeOf(this.#cache.get(id) ?? []);
      this.#cache.delete(id);
      return;
    }
  }
}

/** Nobody wrote to it since then, so all of it is older. */
function isStale(path: string, time: number): boolean {
  return statSync(path).mtimeMs < time;
}

function sizeOf(raw: readonly string[]): number {
  return raw.reduce((sum, text) => sum + 2 * text.length, 0);
}

const EXCHANGE = Buffer.from('{"type":"exchange"');
const GROUP = Buffer.from('{"type":"group"');

function isIndexed(line: Buffer): boolean {
  return !line.subarray(0, EXCHANGE.length).equals(EXCHANGE);
}

function isGroup(line: Buffer): boolean {
  return line.subarray(0, GROUP.length).equals(GROUP);
}
