/**
 * Asks the session which thoughts the next request does not carry, and keeps the answer until something changes it. One
 * question at a time: the answer to an outdated one is dropped. If there is no answer, no thought has a mark.
 */

import type { SessionHandle } from "../../base/api/index.ts";
import { type Origin, sameOrigin, type SessionEvent } from "../../base/events/index.ts";
import { NO_MARKS, ThoughtMarks } from "../fragments/index.ts";

export class UnsentThoughts {
  readonly #handle: SessionHandle;
  readonly #onChange: () => void;
  #marks = NO_MARKS;
  #inUse: Origin | undefined;
  /** Whether something has changed since the open question was asked. */
  #outdated = false;
  #asking: Promise<void> | undefined;

  constructor(handle: SessionHandle, onChange: () => void) {
    this.#handle = handle;
    this.#onChange = onChange;
  }

  get marks(): ThoughtMarks {
    return this.#marks;
  }

  /** Called with each event. A whole response changes nothing until its turn ends: its thoughts go along. */
  saw(event: SessionEvent): void {
    const changes = event.type === "response_end" ? event.status !== "completed" : CHANGES.has(event.type);
    if (changes) void this.ask();
  }

  /** Called when the handle may have another model. */
  looked(): void {
    const { target } = this.#handle.model.settings;
    if (this.#inUse !== undefined && !sameOrigin(this.#inUse, target)) void this.ask();
  }

  /** Resolves when the marks are those of the session as it is now. */
  async ask(): Promise<void> {
    this.#outdated = true;
    this.#asking ??= this.#askUntilCurrent();
    await this.#asking;
  }

  async #askUntilCurrent(): Promise<void> {
    while (this.#outdated) {
      this.#outdated = false;
      const marks = await this.#answer();
      if (!this.#outdated) this.#marks = marks;
    }
    this.#asking = undefined;
    this.#onChange();
  }

  async #answer(): Promise<ThoughtMarks> {
    try {
      const { target } = this.#handle.model.settings;
      this.#inUse = target;
      return new ThoughtMarks(await this.#handle.explain(), target);
    } catch {
      // The session has no settings yet, or its server does not answer: then nothing is known.
      return NO_MARKS;
    }
  }
}

const CHANGES: ReadonlySet<SessionEvent["type"]> = new Set([
  "turn_end",
  "branch",
  "compaction",
  "replay_override",
  "reset",
]);
