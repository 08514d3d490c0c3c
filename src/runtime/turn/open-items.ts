/**
 * The items of a response that the model is generating. Takes the stream's starts and deltas, and has what they add since
 * the last call: live events for viewers and rows for the scratch journal.
 */

import type { EphemeralEvent } from "../../base/events/index.ts";
import { stayCompiled } from "../../base/support/index.ts";
import type { StreamEvent } from "../providers/index.ts";
import { LiveItem } from "./live-item.ts";
import { type Row, ScratchWriter } from "./scratch-journal.ts";

export class OpenItems {
  readonly #turn: string;
  readonly #response: string;
  readonly #items = new Map<number, LiveItem>();
  readonly #scratch: ScratchWriter;
  #live: EphemeralEvent[] = [];

  constructor(turn: string, response: string) {
    this.#turn = turn;
    this.#response = response;
    this.#scratch = new ScratchWriter(response);
  }

  start(
    event: Extract<StreamEvent, { type: "item_start" }>,
    time: { readonly now: number; readonly monotonic: number },
  ): void {
    const { outputIndex } = event;
    const identity = { turn: this.#turn, response: this.#response, outputIndex };
    const item = new LiveItem(event, identity, time);
    this.#items.set(outputIndex, item);
    this.#scratch.start(event);
    this.#live.push(...item.started());
  }

  /** Takes the deltas that follow one another from `from` on. Returns where they end. */
  takeDeltas(batch: readonly StreamEvent[], from: number): number {
    let item: LiveItem | undefined;
    let index = -1;
    for (let at = from; at < batch.length; at += 1) {
      const event = batch[at] as StreamEvent;
      if (event.type !== "delta") return at;
      if (event.outputIndex !== index) {
        index = event.outputIndex;
        item = this.#items.get(index);
      }
      if (item === undefined || item.kind === "other") continue;
      item.delta(event.channel, event.part, event.text, this.#live);
      if (event.text !== "") this.#scratch.add(event, item);
    }
    return batch.length;
  }

  /** The item is no longer open. Returns undefined if it never was. */
  end(outputIndex: number, monotonic: number): LiveItem | undefined {
    const item = this.#items.get(outputIndex);
    if (item === undefined) return undefined;
    this.#items.delete(outputIndex);
    this.#live.push(...item.ended(Math.round(monotonic - item.startedMonotonic)));
    return item;
  }

  /** The live events since the last call: one wake-up per network chunk instead of per token. */
  takeLive(): readonly EphemeralEvent[] {
    if (this.#live.length === 0) return NO_EVENTS;
    const live = this.#live;
    this.#live = [];
    return live;
  }

  /** The rows of one item. `takeRows` then returns those of the others. */
  takeRowsOf(outputIndex: number): readonly Row[] {
    return this.#scratch.takeItem(outputIndex);
  }

  takeRows(): readonly string[] {
    return this.#scratch.take();
  }

  /** The events that show the open items to a viewer who joins now. */
  snapshot(): readonly EphemeralEvent[] {
    return [...this.#items.values()].flatMap((item) => item.snapshot());
  }

  /** The items that will not finish. None is open afterwards. */
  abandon(): readonly (readonly [outputIndex: number, item: LiveItem])[] {
    const open = [...this.#items];
    this.#items.clear();
    return open;
  }
}

const NO_EVENTS: readonly EphemeralEvent[] = [];

const unused = new OpenItems("", "");
unused.start({ type: "item_start", outputIndex: 0, kind: "other" }, { now: 0, monotonic: 0 });
stayCompiled(unused);
