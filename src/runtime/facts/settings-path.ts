/**
 * The settings in force at each event of a log, on that event's own path. A branch leads back to the settings of its
 * target; a compaction's turn, which is off the path, changes nothing for the events after it.
 */

import {
  type Branch,
  type EventHead,
  eventOf,
  type Settings,
  type SettingsEvent,
} from "../../base/events/index.ts";
import { leavesAside, startsAside } from "../fold/index.ts";

/** The settings from an event on, until the next entry. */
interface InForce {
  readonly from: number;
  readonly settings: Settings | undefined;
}

export class SettingsPath {
  /** In order. A follower that joined late has no entries for earlier events. */
  readonly #inForce: InForce[] = [];
  #current: Settings | undefined;
  /** A turn off the path that has not ended, and the settings to return to. */
  #aside: { readonly turn: string; readonly settings: Settings | undefined } | undefined;

  /** Returns the settings in force after the event. */
  add(head: EventHead): Settings | undefined {
    if (this.#aside !== undefined && leavesAside(head, this.#aside.turn)) {
      if (head.type === "user_message") this.#current = this.#aside.settings;
      this.#aside = undefined;
    }
    if (this.#aside === undefined && startsAside(head))
      this.#aside = { turn: head.turn, settings: this.#current };
    if (head.type === "settings") this.#current = (eventOf(head) as SettingsEvent).settings;
    if (head.type === "branch") this.#leadBack(Math.max(0, (eventOf(head) as Branch).to), head.seq);
    const last = this.#inForce.at(-1);
    if (last === undefined || last.settings !== this.#current)
      this.#inForce.push({ from: head.seq, settings: this.#current });
    return this.#current;
  }

  at(seq: number): Settings | undefined {
    return this.#entryAt(seq)?.settings;
  }

  #leadBack(to: number, seq: number): void {
    const entry = to < seq ? this.#entryAt(to) : undefined;
    if (entry !== undefined) this.#current = entry.settings;
  }

  #entryAt(seq: number): InForce | undefined {
    let low = 0;
    let high = this.#inForce.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#inForce[middle] as InForce).from <= seq) low = middle + 1;
      else high = middle;
    }
    return this.#inForce[low - 1];
  }
}
