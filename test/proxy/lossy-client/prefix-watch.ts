/**
 * Watches that a prefix which the client kept stays as it was on the way: what arrives begins like what arrived before,
 * wherever what was sent begins like what was sent before.
 *
 * @module
 */

import { type Arrival, type Exchange, failureOf } from "./exchange.ts";
import type { Tally } from "./tally.ts";
import type { Reading, Slot } from "./truth.ts";

interface Before {
  readonly sent: Reading;
  readonly arrived: Reading;
}

export class PrefixWatch {
  readonly #before = new Map<string, Before>();
  readonly #tally: Tally;

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  /** Returns false if the client kept its prefix, thoughts included, and it arrived changed. */
  check(exchange: Exchange, { reading }: Arrival, healed: boolean): boolean {
    const { conversation, model, account, sent, thinkingOff } = exchange;
    const key = `${conversation.id} ${model.id} ${account}`;
    const before = this.#before.get(key);
    // A request without thinking gets nothing back by design; it is no base for the next one.
    if (!thinkingOff) this.#before.set(key, { sent, arrived: reading });
    if (before === undefined || thinkingOff || before.sent.head !== sent.head) return true;
    if (!begins(sent.slots, before.sent.slots, visible)) {
      this.#tally.fact("prefix: changed by the client");
      return true;
    }
    const steady = begins(sent.slots, before.sent.slots, whole);
    const stable = begins(reading.slots, before.arrived.slots, whole);
    const who = steady ? "kept by the client" : "only thoughts changed by the client";
    const how = stable ? "arrived stable" : healed ? "arrived changed after healing" : "arrived changed";
    this.#tally.fact(`prefix: ${who}, ${how}`);
    if (stable || healed) return true;
    const detail = (): string => firstDifference(reading.slots, before.arrived.slots);
    this.#tally.fail(failureOf(exchange, `prefix ${who}, ${how}`, detail));
    return !steady;
  }
}

function visible({ json }: Slot): string {
  return json;
}

function whole({ json, thoughts }: Slot): string {
  return thoughts.length === 0 ? json : `${thoughts.map((one) => one.json).join("")}${json}`;
}

function begins(next: readonly Slot[], before: readonly Slot[], view: (slot: Slot) => string): boolean {
  return before.every((slot, at) => {
    if (slot.kind === "end") return true;
    const now = next[at];
    return now !== undefined && view(now) === view(slot);
  });
}

function firstDifference(next: readonly Slot[], before: readonly Slot[]): string {
  const at = before.findIndex((slot, index) => {
    const now = next[index];
    return now === undefined || whole(now) !== whole(slot);
  });
  const [was, is] = [before[at], next[at]].map((slot) =>
    slot === undefined ? "nothing" : whole(slot).slice(0, 300),
  );
  return `slot ${at}\nwas ${was ?? ""}\nis  ${is ?? ""}`;
}
