/**
 * One session on the page: its events and the blocks they reduce to. History and live events use the same reduction, so a
 * reload shows the same blocks.
 */

import type { SessionHandle } from "../../access/client/index.ts";
import { isEphemeral, type LoggedEvent, type SessionEvent } from "../../base/events/index.ts";
import { messageOf } from "../../base/support/index.ts";
import { SessionFacts } from "../../runtime/facts/index.ts";
import { type Block, BlockList } from "../fragments/index.ts";

export class SessionView {
  readonly handle: SessionHandle;
  #facts = new SessionFacts();
  readonly #blocks = new BlockList();
  #events: LoggedEvent[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #stop = new AbortController();
  #scheduled = false;
  #problem: string | undefined;
  #version = 0;

  constructor(handle: SessionHandle) {
    this.handle = handle;
    handle.onChange(() => this.#changed());
    void this.#follow();
  }

  get blocks(): readonly Block[] {
    return this.#blocks.view({ writerAlive: this.#running });
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

  get problem(): string | undefined {
    return this.#problem;
  }

  /** True while a turn is running, also while it goes from a node that is gone to the next one. */
  get busy(): boolean {
    return this.facts.openTurn !== undefined && !this.handle.interrupted;
  }

  /** False if nothing can run: no process writes, or the writer has not resumed the interrupted turn. */
  get #running(): boolean {
    const { handle, facts } = this;
    return handle.writer === "live" && !(facts.openTurn !== undefined && handle.interrupted);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.handle.close();
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.handle.follow({ signal: this.#stop.signal })) this.#take(event);
    } catch (error) {
      this.#problem = messageOf(error);
      this.#changed();
    }
  }

  #take(event: SessionEvent): void {
    this.#blocks.add([event]);
    if (event.type === "reset") {
      this.#events = [];
      this.#facts = new SessionFacts();
    }
    if (!isEphemeral(event)) this.#events.push(event);
    this.facts.add([event]);
    this.#changed();
  }

  /** Draws once for many deltas. */
  #changed(): void {
    this.#version += 1;
    if (this.#scheduled) return;
    this.#scheduled = true;
    // A hidden tab gets no animation frames, so it is drawn by a timer.
    const draw = (): void => {
      this.#scheduled = false;
      for (const listener of this.#listeners) listener();
    };
    if (document.visibilityState === "visible") requestAnimationFrame(draw);
    else setTimeout(draw, 100);
  }
}
