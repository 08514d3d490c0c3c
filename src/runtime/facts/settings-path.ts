/**
 * The settings in force at each event of a log, on that event's own path. A branch leads back to the settings of its
 * target; a compaction's turn, which is off the path, changes nothing for the events after it.
 */

import type { LoggedEvent, Settings } from "../../base/events/index.ts";
import { leavesAside, startsAside } from "../fold/index.ts";

export class SettingsPath {
  /** By seq. A follower that joined late has no entries for earlier events. */
  readonly #at = new Map<number, Settings | undefined>();
  #current: Settings | undefined;
  /** A turn off the path that has not ended, and the settings to return to. */
  #aside: { readonly turn: string; readonly settings: Settings | undefined } | undefined;

  /** Returns the settings in force after the event. */
  add(event: LoggedEvent): Settings | undefined {
    if (this.#aside !== undefined && leavesAside(event, this.#aside.turn)) {
      if (event.type === "user_message") this.#current = this.#aside.settings;
      this.#aside = undefined;
    }
    if (this.#aside === undefined && startsAside(event))
      this.#aside = { turn: event.turn, settings: this.#current };
    if (event.type === "settings") this.#current = event.settings;
    const to = event.type === "branch" ? Math.max(0, event.to) : event.seq;
    if (to < event.seq && this.#at.has(to)) this.#current = this.#at.get(to);
    this.#at.set(event.seq, this.#current);
    return this.#current;
  }

  at(seq: number): Settings | undefined {
    return this.#at.get(seq);
  }
}
