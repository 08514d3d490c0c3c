/**
 * Fragments → blocks. The same reduction for live events and for history, so a reload shows what was shown.
 *
 * A block stops generating because the log or the writer's death says so: `view` is told whether a writer is alive.
 */

import type { SessionEvent } from "../../base/events/index.ts";
import type { Block, NoticeBlock, TurnEndBlock, UserBlock } from "./block.ts";
import type { Fragment } from "./fragment.ts";
import { fragmentsOf } from "./from-event.ts";
import { ResponseBlocks } from "./response-blocks.ts";

type Slot = { readonly seq: number | undefined } & (
  | { readonly block: UserBlock | NoticeBlock | TurnEndBlock }
  | { readonly blocks: ResponseBlocks }
);

export class BlockList {
  #slots: Slot[] = [];
  /** Paths as they were when a branch left them, by that branch's event. */
  readonly #left: { readonly until: number; readonly slots: readonly Slot[] }[] = [];
  readonly #responses = new Map<string, ResponseBlocks>();
  #leftOut: readonly (readonly [number, number])[] = [];

  add(events: readonly SessionEvent[]): void {
    for (const event of events) for (const fragment of fragmentsOf(event)) this.apply(fragment);
  }

  apply(fragment: Fragment): void {
    switch (fragment.type) {
      case "user":
        this.#slot(fragment.seq, {
          ...STILL,
          id: `user/${fragment.seq}`,
          kind: "user",
          seq: fragment.seq,
          text: fragment.text,
          by: fragment.by,
        });
        break;
      case "notice":
        this.#slot(fragment.seq, {
          ...STILL,
          id: fragment.key,
          kind: "notice",
          code: fragment.code,
          text: fragment.text,
          waitMs: fragment.waitMs,
        });
        break;
      case "branch":
        this.#branch(fragment);
        break;
      case "response_start":
        this.#startResponse(fragment);
        break;
      case "response_end":
        this.#responses.get(fragment.response)?.close(fragment.usage);
        break;
      case "turn_end":
        this.#endTurn(fragment);
        break;
      case "reasoning_start":
      case "reasoning_part_start":
      case "reasoning_delta":
      case "reasoning_end":
      case "text_start":
      case "text_delta":
      case "text_end":
      case "tool_call_start":
      case "tool_call_delta":
      case "tool_call_end":
      case "tool_start":
      case "tool_progress":
      case "tool_output":
      case "permission_request":
      case "permission_decision":
        this.#responses.get(responseOf(fragment))?.apply(fragment);
        break;
    }
  }

  view(options: { readonly writerAlive: boolean }): readonly Block[] {
    const { writerAlive } = options;
    return this.#slots.flatMap((slot) =>
      "block" in slot ? [slot.block] : slot.blocks.view({ writerAlive, leftOut: this.#leftOut }),
    );
  }

  #slot(seq: number | undefined, block: UserBlock | NoticeBlock | TurnEndBlock): void {
    this.#slots.push({ seq, block });
  }

  /** `to` may lie on a path that was left before: then that path is what is shown again. */
  #branch({ seq: at, to }: Extract<Fragment, { readonly type: "branch" }>): void {
    const path = this.#left.find(({ until }) => until > to)?.slots ?? this.#slots;
    this.#left.push({ until: at, slots: this.#slots });
    this.#slots = path.filter(({ seq }) => seq !== undefined && seq <= to);
  }

  #startResponse(start: Extract<Fragment, { readonly type: "response_start" }>): void {
    this.#dropRetries();
    for (const earlier of this.#responses.values()) {
      if (earlier.start.turn === start.turn && earlier.start.step === start.step) earlier.supersede();
    }
    const blocks = new ResponseBlocks(start);
    this.#responses.set(start.response, blocks);
    this.#slots.push({ seq: start.seq, blocks });
    this.#leftOut = start.leftOut ?? this.#leftOut;
  }

  #endTurn(end: Extract<Fragment, { readonly type: "turn_end" }>): void {
    this.#dropRetries();
    for (const blocks of this.#responses.values()) if (blocks.start.turn === end.turn) blocks.stop();
    const { seq, turn, status, reason, error, steps, usage, durationMs } = end;
    this.#slot(seq, {
      ...STILL,
      id: `turn_end/${turn}`,
      kind: "turn_end",
      status,
      reason,
      error,
      steps,
      usage,
      durationMs,
    });
  }

  /** A countdown is over when something follows it; it is live only, and gone after a reload too. */
  #dropRetries(): void {
    this.#slots = this.#slots.filter(
      (slot) => !("block" in slot && slot.block.kind === "notice" && slot.block.code === "retry"),
    );
  }
}

/** The blocks of a finished list of events: history. */
export function blocksOf(
  events: readonly SessionEvent[],
  options: { readonly writerAlive: boolean },
): readonly Block[] {
  const list = new BlockList();
  list.add(events);
  return list.view(options);
}

const STILL = { generating: false, superseded: false } as const;

function responseOf(fragment: Fragment): string {
  if ("response" in fragment) return fragment.response;
  return "item" in fragment ? fragment.item.slice(0, fragment.item.lastIndexOf("/")) : "";
}
