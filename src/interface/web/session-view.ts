/**
 * One session on the page: its events and the blocks they reduce to. History and live events use the same reduction, so a
 * reload shows the same blocks.
 */

import type { SessionHandle } from "../../access/client/index.ts";
import { isEphemeral, type LoggedEvent, type SessionEvent } from "../../base/events/index.ts";
import { codeOf } from "../../base/support/index.ts";
import { SessionFacts } from "../../runtime/facts/index.ts";
import { type Block, BlockList, NO_MARKS, type ThoughtMarks } from "../fragments/index.ts";
import { MarksLoader } from "./marks-loader.ts";
import { serverLink } from "./server-link.ts";
import { type Turn, TurnList } from "./turn-list.ts";
import { problemOf, type ShownProblem } from "./use-problem.ts";

/** The least time between two draws. People read no faster, and a stream of deltas costs a third. */
const DRAW_MS = 50;

/** A connection that is back this soon changes nothing on the page. */
const LOST_MS = 600;

type Versions = ReturnType<BlockList["versions"]>;

export class SessionView {
  readonly handle: SessionHandle;
  #facts = new SessionFacts();
  readonly #blocks = new BlockList();
  readonly #turns = new TurnList();
  readonly #marks: MarksLoader;
  #events: LoggedEvent[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #stop = new AbortController();
  /** The last event that the server had when the session was opened. */
  readonly #openedAt: number;
  #shown: { readonly version: number; readonly blocks: readonly Block[] } | undefined;
  #scheduled = false;
  #lostAt: number | undefined;
  #drawnAt = 0;
  #problem: ShownProblem | undefined;
  #version = 0;

  constructor(handle: SessionHandle) {
    this.handle = handle;
    this.#openedAt = handle.lastSeq;
    this.#marks = new MarksLoader(handle, () => this.#changed());
    handle.onChange(() => {
      this.#watchConnection();
      this.#changed();
    });
    void this.#follow();
  }

  get blocks(): readonly Block[] {
    if (this.#shown?.version !== this.#version)
      this.#shown = { version: this.#version, blocks: this.#blocks.view({ writerAlive: this.#running }) };
    return this.#shown.blocks;
  }

  /** The blocks, one group for each message of a person. A turn that did not change stays the same object. */
  get turns(): readonly Turn[] {
    return this.#turns.of(this.blocks);
  }

  get versions(): Versions {
    return this.#blocks.versions();
  }

  /** What the next request does with each thought. */
  get marks(): ThoughtMarks {
    return this.#events.length === 0 ? NO_MARKS : this.#marks.marks;
  }

  get facts(): SessionFacts {
    return this.#facts;
  }

  get events(): readonly LoggedEvent[] {
    return this.#events;
  }

  /** Counts changes; values computed from an older version are stale. */
  get version(): number {
    return this.#version;
  }

  get problem(): ShownProblem | undefined {
    return this.#problem;
  }

  /** False until the events have arrived that the log had when it was opened: a session is first drawn at its end. */
  get loaded(): boolean {
    return this.facts.lastSeq >= this.#openedAt || this.#problem !== undefined;
  }

  /** True while a turn is running, also while it goes from a node that is gone to the next one. */
  get busy(): boolean {
    return this.facts.openTurn !== undefined && !this.handle.interrupted;
  }

  /** True if the last turn has no end, and nothing more of it arrives: its process died, or the server is away. */
  get broken(): boolean {
    return this.facts.openTurn !== undefined && (this.handle.interrupted || this.#isAway);
  }

  /** False if nothing can run: no process writes, or the writer has not resumed the interrupted turn. */
  get #running(): boolean {
    return this.handle.writer === "live" && !this.broken;
  }

  get #isAway(): boolean {
    return this.#lostAt !== undefined && performance.now() - this.#lostAt >= LOST_MS;
  }

  #watchConnection(): void {
    if (this.handle.connection === "open") this.#lostAt = undefined;
    else if (this.#lostAt === undefined) {
      this.#lostAt = performance.now();
      setTimeout(() => this.#changed(), LOST_MS + 50);
    }
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#marks.stop();
    await this.handle.close();
  }

  async #follow(): Promise<void> {
    for (;;) {
      try {
        const after = this.#events.at(-1)?.seq ?? -1;
        for await (const event of this.handle.follow({ after, signal: this.#stop.signal })) this.#take(event);
        return;
      } catch (error) {
        if (codeOf(error) !== "unauthorized") {
          this.#problem = problemOf(error);
          return this.#changed();
        }
        await serverLink.opened(); // the composer says what to do
      }
    }
  }

  #take(event: SessionEvent): void {
    this.#blocks.add([event]);
    if (event.type === "reset") {
      this.#events = [];
      this.#facts = new SessionFacts();
    }
    if (!isEphemeral(event)) {
      this.#events.push(event);
      this.#marks.saw(event);
    }
    this.facts.add([event]);
    this.#changed();
  }

  /** Draws once for many deltas. */
  #changed(): void {
    this.#version += 1;
    if (this.#scheduled) return;
    this.#scheduled = true;
    const draw = (): void => {
      this.#scheduled = false;
      this.#drawnAt = performance.now();
      if (this.loaded) this.#marks.look(this.busy);
      for (const listener of this.#listeners) listener();
    };
    const wait = this.#drawnAt + DRAW_MS - performance.now();
    // A hidden tab gets no animation frames, so it is drawn by a timer.
    if (document.visibilityState === "visible" && wait <= 0) requestAnimationFrame(draw);
    else setTimeout(draw, document.visibilityState === "visible" ? wait : 500);
  }
}
