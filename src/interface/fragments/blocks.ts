/**
 * Reduces fragments to blocks. Live events and history use the same reduction, so a reload shows the same blocks.
 *
 * A block stops generating when the log says so or the writer has died: `view` takes whether a writer is alive.
 */

import type { SessionEvent } from "../../base/events/index.ts";
import { aFlag, checkOptions } from "../../base/support/index.ts";
import type { Block, NoticeBlock, TurnEndBlock, UserBlock } from "./block.ts";
import type { Fragment } from "./fragment.ts";
import { fragmentsOf } from "./from-event.ts";
import { keptBackBy, NOTHING_KEPT_BACK } from "./kept-back.ts";
import { ResponseBlocks } from "./response-blocks.ts";
import { ToolNames } from "./tool-names.ts";

/** Each slot links to the previous one on its path, so a branch costs one link, however long the path it leaves. */
interface Slot {
  readonly before: Slot | undefined;
  readonly content: UserBlock | NoticeBlock | TurnEndBlock | ResponseBlocks;
}

/** A running countdown and the slot it follows. It is not part of a path and ends when something follows. */
interface Countdown {
  readonly behind: Slot | undefined;
  readonly block: NoticeBlock;
}

/** Builds blocks from events as they arrive. */
export class BlockList {
  /** The end of the shown path. */
  #last: Slot | undefined;
  /** The last slot of the path from each event on, in the order of the log. */
  #lasts: { readonly seq: number; readonly slot: Slot | undefined }[] = [];
  #countdowns: Countdown[] = [];
  /** The path from its start, as long as it only grows. */
  #path: Slot[] | undefined = [];
  readonly #responses = new Map<string, ResponseBlocks>();
  /** The last attempt of each step. */
  readonly #attempts = new Map<string, ResponseBlocks>();
  /** The responses of turns that have not ended. */
  readonly #ofTurn = new Map<string | undefined, ResponseBlocks[]>();
  #keptBack = NOTHING_KEPT_BACK;
  #names = new ToolNames();

  /** Adds events, live or logged. */
  add(events: readonly SessionEvent[]): void {
    for (const event of events) for (const fragment of fragmentsOf(event)) this.apply(fragment);
  }

  /** Adds one fragment. */
  apply(fragment: Fragment): void {
    switch (fragment.type) {
      case "reset":
        this.#clear();
        break;
      case "user":
        this.#slot(fragment.seq, {
          ...STILL,
          id: `user/${fragment.seq}`,
          kind: "user",
          seq: fragment.seq,
          text: fragment.text,
          by: fragment.by,
          ...(fragment.steer === true ? { steer: true } : {}),
        });
        break;
      case "tools":
        this.#names.add(fragment.tools);
        break;
      case "notice":
        this.#notice(fragment);
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
      case "elicitation_request":
      case "elicitation_answer":
        this.#responses.get(responseOf(fragment))?.apply(fragment);
        break;
    }
  }

  /**
   * Returns the blocks of the active path. If no writer is alive, nothing is shown as generating. A writer that holds a
   * session whose last turn was interrupted generates nothing either: pass false.
   */
  view(options: { readonly writerAlive: boolean }): readonly Block[] {
    const shown = { writerAlive: options.writerAlive, keptBack: this.#keptBack };
    this.#path ??= pathTo(this.#last);
    const blocks: Block[] = this.#countdowns.flatMap(({ behind, block }) =>
      behind === undefined ? [block] : [],
    );
    for (const slot of this.#path) {
      const { content } = slot;
      if (content instanceof ResponseBlocks) for (const block of content.view(shown)) blocks.push(block);
      else blocks.push(content);
      for (const { behind, block } of this.#countdowns) if (behind === slot) blocks.push(block);
    }
    return blocks;
  }

  #clear(): void {
    this.#last = undefined;
    this.#lasts = [];
    this.#countdowns = [];
    this.#path = [];
    this.#responses.clear();
    this.#attempts.clear();
    this.#ofTurn.clear();
    this.#keptBack = NOTHING_KEPT_BACK;
    this.#names = new ToolNames();
  }

  #notice({ seq, key, code, text, waitMs }: Extract<Fragment, { readonly type: "notice" }>): void {
    const block: NoticeBlock = { ...STILL, id: key, kind: "notice", code, text, waitMs };
    if (seq === undefined) this.#countdowns.push({ behind: this.#last, block });
    else this.#slot(seq, block);
  }

  #slot(seq: number, content: Slot["content"]): void {
    const slot = { before: this.#last, content };
    this.#last = slot;
    this.#lasts.push({ seq, slot });
    this.#path?.push(slot);
  }

  /** `to` may be on a path that was left earlier, which is then shown again. */
  #branch({ seq, to }: Extract<Fragment, { readonly type: "branch" }>): void {
    this.#last = this.#lastAt(to);
    this.#lasts.push({ seq, slot: this.#last });
    this.#path = undefined;
    this.#countdowns = [];
  }

  /** Returns the end of the path at the time that event was written. */
  #lastAt(seq: number): Slot | undefined {
    let low = 0;
    let high = this.#lasts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#lasts[middle]?.seq ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return this.#lasts[low - 1]?.slot;
  }

  #startResponse(start: Extract<Fragment, { readonly type: "response_start" }>): void {
    this.#countdowns = [];
    const { seq, turn, step, response, leftOut } = start;
    const blocks = new ResponseBlocks(start, this.#names);
    const ofStep = `${step} ${turn ?? ""}`;
    this.#attempts.get(ofStep)?.supersede();
    this.#attempts.set(ofStep, blocks);
    this.#responses.set(response, blocks);
    const ofTurn = this.#ofTurn.get(turn);
    if (ofTurn === undefined) this.#ofTurn.set(turn, [blocks]);
    else ofTurn.push(blocks);
    this.#slot(seq, blocks);
    if (leftOut !== undefined) this.#keptBack = keptBackBy(leftOut, this.#keptBack);
  }

  #endTurn(end: Extract<Fragment, { readonly type: "turn_end" }>): void {
    const { seq, turn, status, reason, error, steps, usage, durationMs } = end;
    this.#countdowns = [];
    for (const blocks of this.#ofTurn.get(turn) ?? []) blocks.stop();
    this.#ofTurn.delete(turn);
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
}

function pathTo(last: Slot | undefined): Slot[] {
  const path: Slot[] = [];
  for (let slot = last; slot !== undefined; slot = slot.before) path.push(slot);
  return path.toReversed();
}

/** Returns the blocks of a finished list of events. */
export function blocksOf(
  events: readonly SessionEvent[],
  options: { readonly writerAlive: boolean },
): readonly Block[] {
  checkOptions("blocksOf", options, { writerAlive: aFlag });
  const list = new BlockList();
  list.add(events);
  return list.view(options);
}

const STILL = { generating: false, superseded: false } as const;

function responseOf(fragment: Fragment): string {
  if ("response" in fragment) return fragment.response;
  return "item" in fragment ? fragment.item.slice(0, fragment.item.lastIndexOf("/")) : "";
}
