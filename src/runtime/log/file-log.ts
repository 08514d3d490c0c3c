/**
 * The file-backed log: one append-only JSONL file per session.
 * A resolved append survives the death of the process, a resolved durable append also a loss of power. The next writer
 * saves a torn last line to another file and cuts it off (docs/log-format.md).
 */

import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";

import {
  decodedWhenRead,
  type EventDraft,
  type EventHead,
  type LoggedEvent,
} from "../../base/events/index.ts";
import {
  addAll,
  type Clock,
  codedError,
  codeOf,
  type ErrorCode,
  messageOf,
  ThroughlineError,
} from "../../base/support/index.ts";
import { type ChangeSource, changesOf } from "./changes.ts";
import { FileBlobs } from "./file-blobs.ts";
import type { FileIo } from "./file-io.ts";
import { FileScratch } from "./file-scratch.ts";
import type { Followed, FolderWatcher } from "./folder-watcher.ts";
import { removeUnfinished } from "./leftovers.ts";
import { assertFormat, frameLine, scanHeads } from "./line-framing.ts";
import { LogPieces, type ReadFrom } from "./log-pieces.ts";
import { assertWhole, LogSize } from "./log-size.ts";
import type { AppendDraft, AppendOptions, Log, LogChange } from "./log.ts";
import { closed, readOnly, replaced } from "./memory-store.ts";
import { fileIdentity, fileState, openRegular } from "./open-log-file.ts";
import { ScratchReader } from "./scratch-reader.ts";
import type { SharedSync } from "./shared-sync.ts";
import { createStamper, nextEpoch, type Stamper } from "./stamp.ts";
import { SummaryKeeper } from "./summary-file.ts";
import { saveAside } from "./torn-tail.ts";

export interface FileLogOptions {
  readonly id: string;
  readonly path: string;
  readonly mode: "write" | "read";
  readonly clock: Clock;
  readonly io: FileIo;
  release(): Promise<void>;
  /** Shared by all logs of the store. */
  readonly watcher: FolderWatcher;
  /** Makes the names in the folder survive a loss of power. Shared by all logs of the store. */
  readonly names: SharedSync;
  /** For tests: a limit below the real one (log-size.ts). */
  readonly largestLogBytes?: number | undefined;
  /** A log of the same file, read earlier. If the file has not changed, it is not read again. */
  readonly earlier?: FileLog | undefined;
}

export class FileLog implements Log {
  readonly session: string;
  readonly mode: "write" | "read";
  readonly location: string;
  /** What `events` decodes when it is read. */
  readonly #heads: EventHead[] = [];
  readonly events = decodedWhenRead(this.#heads);
  /** Always false: a file cannot show that it was replaced by an older copy. */
  readonly restored = false;
  readonly scratch: FileScratch;
  readonly #options: FileLogOptions;
  readonly #pieces: LogPieces;
  readonly #stamper: Stamper;
  readonly #limit: LogSize;
  #epoch = 1;
  /** Undefined until the first append creates the file. */
  #file: number | undefined;
  #size = 0;
  #syncedSize = 0;
  /** Identity of the file that was read. Undefined if there was none. */
  #identity: string | undefined;
  #syncing: Promise<void> | undefined;
  /** The sync of the folder that has the name of a new file. Undefined once it is confirmed. */
  #naming: Promise<void> | undefined;
  readonly #loss = new AbortController();
  readonly #closing = new AbortController();
  #tailCut: string | undefined;
  /** State of the file that was read whole. Undefined if there was anything after its last complete line. */
  #read: string | undefined;
  readonly #blobs: FileBlobs;
  #summary: SummaryKeeper;

  /** Reads the file. */
  static async open(options: FileLogOptions): Promise<FileLog> {
    const log = new FileLog(options);
    await log.#load(options.earlier);
    log.#epoch = nextEpoch(log.#heads);
    log.#summary = new SummaryKeeper(options.path, options.id, log.#heads.length, log.scratch);
    return log;
  }

  private constructor(options: FileLogOptions) {
    // The earlier log is dropped: reading many logs in a row would otherwise keep them all in memory.
    this.#options = { ...options, earlier: undefined };
    this.session = options.id;
    this.mode = options.mode;
    this.location = options.path;
    this.#stamper = createStamper(options.clock);
    this.#blobs = new FileBlobs(options.path.replace(/\.jsonl$/, ".blobs"));
    this.#limit = new LogSize(options.id, options.largestLogBytes);
    this.scratch = new FileScratch(this.#scratchPath);
    this.#pieces = new LogPieces(options.path, options.id);
    this.#summary = new SummaryKeeper(options.path, options.id, 0, this.scratch);
  }

  get #open(): boolean {
    return !this.#closing.signal.aborted;
  }

  get #scratchPath(): string {
    return this.location.replace(/\.jsonl$/, ".live");
  }

  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  async append(drafts: readonly AppendDraft[], options: AppendOptions = {}): Promise<readonly LoggedEvent[]> {
    this.#assertWritable();
    const added = drafts.length === 0 ? [] : this.#append(drafts);
    const { durable = false, turn } = options;
    if (durable) this.#file ??= this.#create();
    // The caller makes the end of a turn durable next. The disk begins now, while the summary and the viewers are served.
    const synced = durable || turn === "end" ? this.#sync() : undefined;
    synced?.catch(() => undefined); // a failed sync is final, so the next call reports it
    const kept = turn === "end" ? this.#keepSummary() : undefined;
    if (kept !== undefined) await kept;
    if (durable) await synced;
    return added;
  }

  #append(drafts: readonly AppendDraft[]): readonly LoggedEvent[] {
    const notice = this.#tailNotice();
    // Nothing precedes `session_start`. If not even that was complete, the notice follows it.
    const count = this.#heads.length;
    const first = count === 0 ? [] : notice;
    const last = [...(count === 0 ? notice : []), ...this.#limit.warning(this.#size, drafts)];
    const stamped = this.#stamper.stamp([...first, ...drafts, ...last], count, this.#epoch);
    const bytes = Buffer.concat(stamped.map((event) => frameLine(event)));
    this.#limit.assertRoom(this.#size + bytes.length, drafts);
    this.#write(bytes);
    this.#tailCut = undefined;
    addAll(this.#heads, stamped);
    return stamped.slice(first.length, first.length + drafts.length);
  }

  refusal(): ThroughlineError | undefined {
    return this.#limit.refusal(this.#size);
  }

  async assertWriter(): Promise<void> {
    this.#assertWritable();
    if (this.#file !== undefined) this.#assertOurs(this.#file);
  }

  async lines(): Promise<Buffer> {
    assertWhole(this.#size, this.session);
    const file = openRegular(this.location, constants.O_RDONLY);
    const lines = Buffer.alloc(this.#size);
    try {
      if (file !== undefined) readSync(file, lines, 0, lines.length, 0);
    } finally {
      if (file !== undefined) closeSync(file);
    }
    const from = { offset: 0, firstSeq: 0, lowestEpoch: 0, session: this.session };
    const { goodBytes } = scanHeads(lines, from, this.#pieces);
    if (goodBytes === this.#size) return lines;
    throw codedError(
      "log_replaced",
      `${this.location} has lost lines since it was read. Open the session again`,
    );
  }

  async refresh(): Promise<readonly LoggedEvent[]> {
    if (this.mode === "write") return [];
    const file = openRegular(this.location, constants.O_RDONLY);
    if (file === undefined) throw replaced(this.session);
    try {
      const { size } = fstatSync(file);
      if (size < this.#size || fileIdentity(file) !== this.#identity) throw replaced(this.session);
      this.#limit.assertReadable(size);
      if (size === this.#size) return [];
      this.#read = undefined;
      const before = this.#heads.length;
      // At once: what a reader has missed is short, and two that refresh together must not read it twice.
      const read = this.#pieces.loadNow(file, size, this.#readFrom, (heads) => this.#take(heads));
      this.#size = read.goodBytes;
      return this.events.slice(before);
    } finally {
      closeSync(file);
    }
  }

  changes(signal?: AbortSignal): AsyncIterable<LogChange> {
    const { watcher } = this.#options;
    const rows = new ScratchReader(this.#scratchPath);
    let followed: Followed | undefined;
    const source: ChangeSource = {
      events: this.events,
      ends: this.mode === "write" ? [AbortSignal.abort()] : [signal, this.#closing.signal, watcher.closed],
      listen: (ring) => {
        followed = watcher.follow(this.session, ring);
        return () => followed?.leave();
      },
      prepare: async () => followed?.ask(), // from then on the watcher reports it
      get writer() {
        return followed?.writer ?? { lives: false, flips: 0 };
      },
      rows: () => rows.take(),
      refresh: () => this.refresh(),
    };
    return changesOf(source, this.#heads.length);
  }

  hasWriter(): Promise<boolean> {
    return this.mode === "write" && this.#open
      ? Promise.resolve(true)
      : this.#options.watcher.hasWriter(this.session);
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    return this.#blobs.put(bytes);
  }

  async getBlob(name: string): Promise<Uint8Array | undefined> {
    return this.#blobs.get(name);
  }

  #keepSummary(): Promise<void> | undefined {
    return this.#summary.keep(this.events, () => ({ file: this.#file, size: this.#size }));
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#closing.abort();
    try {
      if (this.#file !== undefined && !this.lost.aborted && this.mode === "write") {
        await this.#sync();
        await this.#keepSummary();
      }
    } finally {
      if (this.#file !== undefined) closeSync(this.#file);
      this.#file = undefined;
      this.scratch.close();
      await this.#options.release();
    }
  }

  async #load(earlier: FileLog | undefined): Promise<void> {
    const writing = this.mode === "write";
    const file = openRegular(this.location, writing ? constants.O_RDWR : constants.O_RDONLY);
    if (file === undefined) return;
    try {
      if (writing) this.#assertOneName(file);
      const state = fileState(file);
      this.#identity = fileIdentity(file);
      if (earlier !== undefined && earlier.#read === state) {
        addAll(this.#heads, earlier.#heads);
        this.#size = earlier.#size;
      } else {
        const { size } = fstatSync(file);
        this.#limit.assertReadable(size);
        const read = await this.#pieces.load(file, size, this.#readFrom, (heads) => this.#take(heads));
        const { goodBytes, tail } = read;
        this.#size = goodBytes;
        if (writing && tail.length > 0) this.#saveTornTail(file, tail);
        else if (tail.length > 0) return;
      }
      // Only the result of this one read is reused: a reader that refreshes holds more than that.
      this.#read = writing ? undefined : state;
      if (!writing) return;
      this.#file = file;
      this.#syncedSize = this.#size;
    } finally {
      if (this.#file === undefined) closeSync(file);
    }
  }

  /** Under a second name the file has a second lock, so a second writer could open it. */
  #assertOneName(file: number): void {
    if (fstatSync(file).nlink === 1) return;
    removeUnfinished(dirname(this.location), this.session); // a killed import or fork also leaves a second name
    const { nlink } = fstatSync(file);
    if (nlink === 1) return;
    throw codedError(
      "log_linked",
      `${this.location} cannot be written: the file has ${nlink} names (hard links), and a writer using another name would not notice this one. Replace it with a copy: cp ${this.location} ${this.location}.copy && mv ${this.location}.copy ${this.location}`,
    );
  }

  get #readFrom(): ReadFrom {
    return { offset: this.#size, seq: this.#heads.length, epoch: this.#heads.at(-1)?.epoch ?? 0 };
  }

  #take(heads: readonly EventHead[]): void {
    if (this.#heads.length === 0) assertFormat(heads, this.session);
    addAll(this.#heads, heads);
  }

  /** The copy is durable before the original is cut. A writer that is killed in between leaves both to the next. */
  #saveTornTail(file: number, tail: Uint8Array): void {
    removeUnfinished(dirname(this.location), this.session);
    const saved = saveAside(this.location.replace(/\.jsonl$/, `.torn-${this.#size}`), tail);
    this.#options.io.truncate(file, this.#size);
    fsyncSync(file);
    this.#tailCut = `${tail.length} bytes of an unfinished write at the end of the log were moved to ${saved}`;
  }

  #tailNotice(): readonly EventDraft[] {
    return this.#tailCut === undefined
      ? []
      : [{ type: "notice", code: "log_tail_cut", message: this.#tailCut }];
  }

  #write(bytes: Buffer): void {
    this.#file ??= this.#create();
    const { io } = this.#options;
    this.#assertOurs(this.#file);
    let done = 0;
    try {
      while (done < bytes.length) {
        const written = io.write(this.#file, bytes, done, this.#size + done);
        if (written === 0) throw new Error("the disk accepted no bytes");
        done += written;
      }
      this.#size += bytes.length;
    } catch (error) {
      this.#cutBack(error);
      throw this.#writeFailed(error);
    }
  }

  #assertWritable(): void {
    if (this.mode === "read") throw readOnly(this.session);
    if (!this.#open) throw closed(this.session);
    if (this.lost.aborted) throw this.lost.reason;
  }

  #assertOurs(file: number): void {
    const size = this.#options.io.size(file);
    if (size !== this.#size)
      throw this.#fail(
        "session_fenced",
        `the file has ${size} bytes, expected ${this.#size}: another process wrote to it`,
      );
    this.#assertInPlace(file);
  }

  /** Writes to a file that the path no longer leads to are lost with it, so they must not be acknowledged. */
  #assertInPlace(file: number): void {
    if (this.#options.io.isAt(file, this.location)) return;
    throw this.#fail(
      "log_replaced",
      `${this.location} was removed, moved or replaced while it was open. Later events were not saved`,
      "Put the file back, then open the session again",
    );
  }

  /** After a failed write, restores the file to its last good line. If that fails too, nothing more is written. */
  #cutBack(cause: unknown): void {
    try {
      if (this.#file !== undefined) this.#options.io.truncate(this.#file, this.#size);
    } catch (error) {
      this.#fail(
        "log_failed",
        `a write failed (${messageOf(cause)}) and could not be undone (${messageOf(error)})`,
      );
    }
  }

  /** Concurrent callers share a sync. A failed sync is final, because the kernel may drop dirty pages silently. */
  async #sync(): Promise<void> {
    const target = this.#size;
    while (this.#syncedSize < target || this.#naming !== undefined) {
      if (this.lost.aborted) throw this.lost.reason;
      this.#syncing ??= this.#syncOnce(this.#size).finally(() => {
        this.#syncing = undefined;
      });
      await this.#syncing;
    }
  }

  async #syncOnce(covered: number): Promise<void> {
    const file = this.#file ?? -1;
    try {
      await this.#options.io.sync(file);
      await this.#naming;
      this.#naming = undefined;
    } catch (error) {
      throw this.#fail("log_failed", `the disk did not confirm a write: ${messageOf(error)}`);
    }
    this.#assertInPlace(file);
    this.#syncedSize = Math.max(this.#syncedSize, covered);
  }

  /** The folder is synced from now on, beside the work on the request. A sync of the file waits for both. */
  #create(): number {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    try {
      const file = openSync(this.location, flags, 0o600);
      this.#naming = this.#options.names.confirm();
      this.#naming.catch(() => undefined); // the next sync reports it
      return file;
    } catch (error) {
      throw this.#writeFailed(error);
    }
  }

  #writeFailed(error: unknown): ThroughlineError {
    return new ThroughlineError({
      code: "log_write_failed",
      message: `could not write to ${this.location}: ${messageOf(error)}. Everything acknowledged before is safe`,
      details: { errno: codeOf(error) },
      cause: error,
    });
  }

  #fail(code: ErrorCode, why: string, next = "Open it again to continue"): ThroughlineError {
    const error = codedError(code, `session "${this.session}" can no longer be written: ${why}. ${next}`);
    this.#loss.abort(error);
    return error;
  }
}
