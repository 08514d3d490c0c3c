/**
 * Reduces fragments to blocks. Live events and history use the same reduction, so a reload shows the same blocks.
 *
 * A block stops generating when the log says so or the writer has died: `view` takes whether a writer is alive.
 */

import { isEphemeral, type SessionEvent } from "../../base/events/index.ts";
import { aFlag, checkOptions, isoMs } from "../../base/support/index.ts";
import type { Block, NoticeBlock } from "./block.ts";
import type { Fragment } from "./fragment.ts";
import { fragmentsOf } from "./from-event.ts";
import { ResponseBlocks } from "./response-blocks.ts";
import type { ShownPath, Slot } from "./slot.ts";
import { ToolNames } from "./tool-names.ts";
import { type BlockVersions, versionsOf } from "./versions.ts";
import { waitedBetween } from "./waits.ts";

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
  /** All slots, and the paths that were left, in the order of the log. */
  #slots: Slot[] = [];
  #left: ShownPath[] = [];
  /** False from the branch of a new turn until something follows it. */
  #atRest = true;
  /** The last event. */
  #newest = -1;
  /** Kept until the log gets a new place or a response ends. */
  #versions: BlockVersions | undefined;
  #countdowns: Countdown[] = [];
  /** The path from its start, as long as it only grows. */
  #path: Slot[] | undefined = [];
  readonly #responses = new Map<string, ResponseBlocks>();
  /** The last attempt of each step. */
  readonly #attempts = new Map<string, ResponseBlocks>();
  /** The responses of turns that have not ended. */
  /** Turns that have shown something. */
  readonly #begun = new Set<string | undefined>();
  readonly #ofTurn = new Map<string | undefined, ResponseBlocks[]>();
  #names = new ToolNames();

  /** Adds events, live or logged. */
  add(events: readonly SessionEvent[]): void {
    for (const event of events) {
      for (const fragment of fragmentsOf(event)) this.apply(fragment);
      if (!isEphemeral(event)) this.#newest = event.seq;
    }
  }

  /** Adds one fragment. */
  apply(fragment: Fragment): void {
    switch (fragment.type) {
      case "reset":
        this.#clear();
        break;
      case "user":
        this.#begun.add(fragment.turn);
        this.#user(fragment);
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
        this.#versions = undefined;
        this.#responses.get(fragment.response)?.close(fragment);
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
    this.#path ??= pathTo(this.#last);
    const blocks: Block[] = this.#countdowns.flatMap(({ behind, block }) =>
      behind === undefined ? [block] : [],
    );
    for (const slot of this.#path) {
      const { content } = slot;
      if (content instanceof ResponseBlocks) for (const block of content.view(options)) blocks.push(block);
      else blocks.push(content);
      for (const { behind, block } of this.#countdowns) if (behind === slot) blocks.push(block);
    }
    return blocks;
  }

  /** Returns what edits, retries, undos and cuts have left behind of what is shown. */
  versions(): BlockVersions {
    this.#path ??= pathTo(this.#last);
    this.#versions ??= versionsOf({
      slots: this.#slots,
      path: this.#path,
      shown: [...this.#left, { end: this.#last, to: this.#newest }],
      atRest: this.#atRest,
    });
    return this.#versions;
  }

  /** Returns how long the running turn has waited for people until `now`, the wall time in milliseconds. */
  waitedMs(now: number): number {
    const responses = [...this.#ofTurn.values()].flat();
    const waits = responses.flatMap((blocks) =>
      blocks.waits.map((wait) => ({ ...wait, to: wait.to ?? now })),
    );
    return waitedBetween(waits, Number.NEGATIVE_INFINITY, now);
  }

  #clear(): void {
    this.#last = undefined;
    this.#lasts = [];
    this.#slots = [];
    this.#left = [];
    this.#atRest = true;
    this.#newest = -1;
    this.#versions = undefined;
    this.#countdowns = [];
    this.#path = [];
    this.#responses.clear();
    this.#attempts.clear();
    this.#ofTurn.clear();
    this.#begun.clear();
    this.#names = new ToolNames();
  }

  #user(message: Extract<Fragment, { readonly type: "user" }>): void {
    const { seq, at, text, by, steer, purpose } = message;
    const joined = steer === true ? { steer } : {};
    this.#slot(
      { seq, at },
      { ...STILL, id: `user/${seq}`, kind: "user", seq, text, by, ...joined },
      purpose !== undefined,
    );
  }

  #notice(notice: Extract<Fragment, { readonly type: "notice" }>): void {
    const { seq, at = "", key, code, text, waitMs } = notice;
    const block: NoticeBlock = { ...STILL, id: key, kind: "notice", code, text, waitMs };
    if (seq === undefined) this.#countdowns.push({ behind: this.#last, block });
    else this.#slot({ seq, at }, block);
  }

  #slot(
    { seq, at }: { readonly seq: number; readonly at: string },
    content: Slot["content"],
    leaves = false,
  ): void {
    const slot: Slot = { before: this.#last, content, at, leaves };
    this.#last = slot;
    this.#slots.push(slot);
    this.#atRest = true;
    this.#versions = undefined;
    this.#lasts.push({ seq, slot });
    this.#path?.push(slot);
  }

  /** `to` may be on a path that was left earlier, which is then shown again. */
  #branch({ seq, to, why }: Extract<Fragment, { readonly type: "branch" }>): void {
    this.#left.push({ end: this.#last, to: seq - 1 });
    this.#atRest = why === "undo" || why === "truncate" || why === "checkout";
    this.#versions = undefined;
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
    const { turn, step, response, attempt } = start;
    const blocks = new ResponseBlocks(start, this.#names);
    const ofStep = `${step} ${turn ?? ""}`;
    this.#attempts.get(ofStep)?.supersede(attempt);
    this.#attempts.set(ofStep, blocks);
    this.#responses.set(response, blocks);
    this.#begun.add(turn);
    const ofTurn = this.#ofTurn.get(turn);
    if (ofTurn === undefined) this.#ofTurn.set(turn, [blocks]);
    else ofTurn.push(blocks);
    this.#slot(start, blocks);
  }

  #endTurn(end: Extract<Fragment, { readonly type: "turn_end" }>): void {
    const { turn, status, reason, error, steps, usage, durationMs } = end;
    // A message that was taken back or cancelled while it waited never was in the conversation.
    if (status === "cancelled" && !this.#begun.has(turn)) return;
    this.#countdowns = [];
    const responses = this.#ofTurn.get(turn) ?? [];
    for (const blocks of responses) blocks.stop(end.at);
    this.#ofTurn.delete(turn);
    // A resumed turn counts from the resume on, and so do its waits.
    const until = isoMs(end.at);
    const waits = responses.flatMap((blocks) => blocks.waits);
    const waitedMs = waitedBetween(waits, until - durationMs, until);
    this.#slot(end, {
      ...STILL,
      id: `turn_end/${turn}`,
      kind: "turn_end",
      status,
      reason,
      error,
      steps,
      usage,
      durationMs,
      waitedMs,
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
