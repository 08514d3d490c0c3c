/**
 * Asks the server what the next request does with each thought. The answer depends on the log and on the chosen model, so
 * it is asked again when either changed, and not for every delta.
 */

import type { SessionHandle } from "../../access/client/index.ts";
import type { LoggedEvent } from "../../base/events/index.ts";
import { NO_MARKS, ThoughtMarks } from "../fragments/index.ts";
import { isAway, serverLink } from "./server-link.ts";

/** Events after which a thought may be decided about otherwise. */
const DECISIVE: ReadonlySet<LoggedEvent["type"]> = new Set([
  "settings",
  "response_end",
  "replay_override",
  "compaction",
  "branch",
  "turn_end",
]);
/** While a turn runs, its steps follow each other quickly, and a long log makes a long answer. */
const BUSY_MS = 2000;

export class MarksLoader {
  readonly #handle: SessionHandle;
  readonly #onChange: () => void;
  #seen = 0;
  #asked = "";
  #running = false;
  #stopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  marks: ThoughtMarks = NO_MARKS;

  constructor(handle: SessionHandle, onChange: () => void) {
    this.#handle = handle;
    this.#onChange = onChange;
  }

  saw({ type }: LoggedEvent): void {
    if (DECISIVE.has(type)) this.#seen += 1;
  }

  /** Asks if something has changed since the last answer. */
  look(busy: boolean): void {
    if (this.#stopped || this.#running || this.#seen === 0 || this.#key === this.#asked) return;
    if (this.#timer !== undefined && busy) return;
    clearTimeout(this.#timer);
    const ask = (): void => {
      this.#timer = undefined;
      void this.#ask();
    };
    if (busy && this.#asked !== "") this.#timer = setTimeout(ask, BUSY_MS);
    else ask();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  get #key(): string {
    const { target } = this.#handle.model.settings;
    return JSON.stringify([this.#seen, this.#handle.model.label, target]);
  }

  async #ask(): Promise<void> {
    const key = this.#key;
    this.#running = true;
    try {
      const decisions = await this.#handle.explain();
      this.marks = new ThoughtMarks(decisions, this.#handle.model.settings.target);
      this.#asked = key;
    } catch (error) {
      this.#asked = key;
      // While the server is away the last marks stay. Without an answer nothing is marked, and the next change asks again.
      if (isAway(error)) this.#askWhenBack();
      else this.marks = NO_MARKS;
    } finally {
      this.#running = false;
    }
    if (!this.#stopped) this.#onChange();
  }

  #askWhenBack(): void {
    const forget = serverLink.subscribe(() => {
      if (serverLink.state !== "open" && !this.#stopped) return;
      forget();
      this.#asked = "";
      if (!this.#stopped) this.#onChange();
    });
  }
}
