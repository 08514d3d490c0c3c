/** An item while it streams: what a person has seen of it, and the live events that showed it. */

import { type EphemeralEvent, readPartTitle } from "../../base/events/index.ts";
import { assertNever } from "../../base/support/index.ts";
import type { DeltaChannel, StreamEvent } from "../providers/index.ts";

interface Part {
  readonly channel: DeltaChannel;
  readonly key: number;
  readonly number: number;
  readonly kind: "summary" | "text";
  readonly pieces: string[];
  /** Text held back until the title is known, so that a part starts with its title. */
  held: string | undefined;
  title: string | undefined;
}

export interface LiveIdentity {
  readonly turn: string;
  readonly response: string;
  readonly outputIndex: number;
}

type ItemStart = Extract<StreamEvent, { readonly type: "item_start" }>;

export class LiveItem {
  readonly kind: ItemStart["kind"];
  readonly startedAtMs: number;
  readonly startedMonotonic: number;
  readonly #start: ItemStart;
  readonly #identity: LiveIdentity;
  readonly #parts = new Map<string, Part>();
  #growing: Part | undefined;

  constructor(
    start: ItemStart,
    identity: LiveIdentity,
    time: { readonly now: number; readonly monotonic: number },
  ) {
    this.kind = start.kind;
    this.#start = start;
    this.#identity = identity;
    this.startedAtMs = time.now;
    this.startedMonotonic = time.monotonic;
  }

  get name(): string | undefined {
    return this.#start.name;
  }

  /** The texts of the parts, as shown. */
  get parts(): readonly string[] {
    return [...this.#parts.values()].map((part) => part.pieces.join(""));
  }

  started(): readonly EphemeralEvent[] {
    const { name = "", callId, phase } = this.#start;
    const identity = this.#identity;
    switch (this.kind) {
      case "reasoning":
        return [{ type: "reasoning_start", ...identity }];
      case "message":
        return [{ type: "text_start", ...identity, phase }];
      case "tool_call":
        return [{ type: "tool_call_start", ...identity, name, callId }];
      case "other":
        return [];
      default:
        return assertNever(this.kind, "kind of item");
    }
  }

  /** Appends to `live` the events that show this delta. */
  delta(channel: DeltaChannel, partKey: number, text: string, live: EphemeralEvent[]): void {
    const growing = this.#growing;
    const part =
      growing?.channel === channel && growing.key === partKey ? growing : this.#partOf(channel, partKey);
    const { turn, response, outputIndex } = this.#identity;
    if (text !== "") part.pieces.push(text);
    if (part.held !== undefined) {
      part.held += text;
      live.push(...this.#release(part, false));
    } else if (text === "") return;
    else if (this.kind === "message")
      live.push({ type: "text_delta", turn, response, outputIndex, delta: text });
    else if (this.kind === "tool_call")
      live.push({ type: "tool_call_delta", turn, response, outputIndex, delta: text });
    else live.push({ type: "reasoning_delta", turn, response, outputIndex, part: part.number, delta: text });
  }

  ended(durationMs: number): readonly EphemeralEvent[] {
    if (this.kind === "message") return [{ type: "text_end", ...this.#identity }];
    if (this.kind !== "reasoning") return [];
    const held = [...this.#parts.values()].flatMap((part) =>
      part.held === undefined ? [] : this.#release(part, true),
    );
    return [...held, { type: "reasoning_end", ...this.#identity, durationMs }];
  }

  /** The events that bring a late viewer up to date. */
  snapshot(): readonly EphemeralEvent[] {
    const deltas = [...this.#parts.values()].flatMap((part): readonly EphemeralEvent[] => {
      const text = part.pieces.join("");
      if (this.kind === "message") return [{ type: "text_delta", ...this.#identity, delta: text }];
      if (this.kind === "tool_call") return [{ type: "tool_call_delta", ...this.#identity, delta: text }];
      if (part.held !== undefined) return [];
      return [this.#partStart(part), this.#reasoningDelta(part, text)];
    });
    return [...this.started(), ...deltas];
  }

  #partOf(channel: DeltaChannel, partKey: number): Part {
    const key = `${channel}${partKey}`;
    const known = this.#parts.get(key);
    this.#growing = known;
    if (known !== undefined) return known;
    const part: Part = {
      channel,
      key: partKey,
      number: this.#parts.size,
      kind: channel === "summary" ? "summary" : "text",
      pieces: [],
      held: this.kind === "reasoning" ? "" : undefined,
      title: undefined,
    };
    this.#parts.set(key, part);
    this.#growing = part;
    return part;
  }

  #release(part: Part, complete: boolean): readonly EphemeralEvent[] {
    const text = part.held ?? "";
    // Only summaries have titles; raw reasoning text starts at once.
    const title = part.kind === "summary" ? readPartTitle(text, complete) : ({ state: "none" } as const);
    if (title.state === "pending") return [];
    part.held = undefined;
    part.title = title.state === "title" ? title.title : undefined;
    return text === "" ? [this.#partStart(part)] : [this.#partStart(part), this.#reasoningDelta(part, text)];
  }

  #partStart(part: Part): EphemeralEvent {
    return {
      type: "reasoning_part_start",
      ...this.#identity,
      part: part.number,
      kind: part.kind,
      title: part.title,
    };
  }

  #reasoningDelta(part: Part, delta: string): EphemeralEvent {
    const { turn, response, outputIndex } = this.#identity;
    return { type: "reasoning_delta", turn, response, outputIndex, part: part.number, delta };
  }
}
