/** Builds the blocks of one response as its fragments arrive. */

import type { ResponseStatus } from "../../base/events/index.ts";
import type { Block, BlockPart, ReasoningBlock, TextBlock, ToolBlock } from "./block.ts";
import type { Fragment } from "./fragment.ts";
import { splitPart } from "./reasoning-text.ts";
import { newCall, ResponseCalls, type ToolItem } from "./response-calls.ts";
import type { ToolNames } from "./tool-names.ts";
import type { Wait } from "./waits.ts";

interface ReasoningItem {
  readonly kind: "reasoning";
  readonly parts: Map<number, string>;
  seq: number | undefined;
  startedAt: string | undefined;
  durationMs: number | undefined;
}

interface TextItem {
  readonly kind: "text";
  readonly phase: string | undefined;
  text: string;
  seq: number | undefined;
}

type Item = (ReasoningItem | TextItem | ToolItem) & { readonly final: boolean; done: boolean };

export interface ViewOptions {
  readonly writerAlive: boolean;
}

type Start = Extract<Fragment, { readonly type: "response_start" }>;

export class ResponseBlocks {
  readonly start: Start;
  readonly #items = new Map<string, Item>();
  readonly #calls = new ResponseCalls();
  #open = true;
  #ended: ResponseStatus | undefined;
  #turnEnded = false;
  /** The attempt that took its place. */
  #replacedBy: number | undefined;
  #reasoningTokens: number | undefined;
  /** The last view, kept until something changes, so that frequent drawing costs only the open blocks. */
  #drawn: { readonly options: ViewOptions; readonly blocks: readonly Block[] } | undefined;

  readonly #names: ToolNames;

  constructor(start: Start, names: ToolNames) {
    this.start = start;
    this.#names = names;
  }

  /** Drops streamed content that never became an event: a reload would not show it either. */
  close({ status, usage }: Extract<Fragment, { readonly type: "response_end" }>): void {
    this.#drawn = undefined;
    this.#open = false;
    this.#ended = status;
    this.#reasoningTokens = usage?.reasoningTokens;
    for (const [key, item] of this.#items) if (!item.final) this.#items.delete(key);
  }

  /** Called when the turn has ended, so that no tool is running any more. */
  stop(at: string): void {
    this.#drawn = undefined;
    this.#open = false;
    this.#turnEnded = true;
    this.#calls.stop(at);
  }

  /** Called when a later attempt of the same step replaces it. */
  supersede(attempt: number): void {
    this.#drawn = undefined;
    this.#replacedBy ??= attempt;
  }

  /** How long its calls have waited for people. */
  get waits(): readonly Wait[] {
    return this.#calls.waits;
  }

  /** How many runs of thoughts it has. A response that was replaced counts for none. */
  get thoughts(): number {
    if (this.#replacedBy !== undefined) return 0;
    const kinds = this.#sorted().map(([, { kind }]) => kind);
    return kinds.filter((kind, at) => kind === "reasoning" && kinds[at - 1] !== "reasoning").length;
  }

  /** The first text of the answer, if there is one yet. */
  get firstText(): string | undefined {
    for (const [, item] of this.#sorted()) if (item.kind === "text" && item.text !== "") return item.text;
    return undefined;
  }

  apply(fragment: Fragment): void {
    this.#drawn = undefined;
    switch (fragment.type) {
      case "reasoning_start":
        this.#begin(fragment.item, {
          kind: "reasoning",
          parts: new Map(),
          seq: undefined,
          startedAt: undefined,
          durationMs: undefined,
          final: fragment.final,
          done: false,
        });
        break;
      case "text_start":
        this.#begin(fragment.item, {
          kind: "text",
          phase: fragment.phase,
          text: "",
          seq: undefined,
          final: fragment.final,
          done: false,
        });
        break;
      case "tool_call_start":
        this.#begin(fragment.item, {
          ...newCall(fragment.name, this.#names.of(fragment.name)),
          final: fragment.final,
          done: false,
        });
        break;
      case "reasoning_part_start":
        this.#reasoning(fragment.item)?.parts.set(fragment.part, "");
        break;
      case "reasoning_delta": {
        const parts = this.#reasoning(fragment.item)?.parts;
        parts?.set(fragment.part, (parts.get(fragment.part) ?? "") + fragment.text);
        break;
      }
      case "reasoning_end": {
        const item = this.#reasoning(fragment.item);
        if (item !== undefined)
          Object.assign(item, {
            done: true,
            seq: fragment.seq,
            startedAt: fragment.startedAt,
            durationMs: fragment.durationMs,
          });
        break;
      }
      case "text_delta": {
        const item = this.#items.get(fragment.item);
        if (item?.kind === "text") item.text += fragment.text;
        break;
      }
      case "text_end": {
        const item = this.#items.get(fragment.item);
        if (item?.kind === "text") Object.assign(item, { done: true, seq: fragment.seq });
        break;
      }
      case "tool_call_delta": {
        const item = this.#items.get(fragment.item);
        if (item?.kind === "tool") item.arguments += fragment.text;
        break;
      }
      case "tool_call_end": {
        const item = this.#items.get(fragment.item);
        if (item?.kind !== "tool") break;
        Object.assign(item, { done: true, seq: fragment.seq, callId: fragment.callId });
        this.#calls.add(fragment.callId, item);
        break;
      }
      case "permission_request":
      case "permission_decision":
      case "elicitation_request":
      case "elicitation_answer":
      case "tool_start":
      case "tool_progress":
      case "tool_output":
        this.#calls.apply(fragment);
        break;
      case "reset":
      case "tools":
      case "user":
      case "notice":
      case "branch":
      case "response_start":
      case "response_end":
      case "turn_end":
        break; // concerns the whole list, not one response
    }
  }

  view(options: ViewOptions): readonly Block[] {
    const before = this.#drawn;
    if (before !== undefined && (before.options.writerAlive === options.writerAlive || this.#isOver))
      return before.blocks;
    const blocks = this.#withTokens(this.#draw(options));
    this.#drawn = { options, blocks };
    return blocks;
  }

  /** Nothing of it can go on, whether a writer is alive or not. Its blocks stay the same objects for viewers. */
  get #isOver(): boolean {
    if (this.#open || !this.#turnEnded) return false;
    for (const item of this.#items.values())
      if (item.kind === "tool" && item.result === undefined) return false;
    return true;
  }

  #withTokens(blocks: readonly Block[]): readonly Block[] {
    const tokens = this.#reasoningTokens;
    if (tokens === undefined || blocks.filter(({ kind }) => kind === "reasoning").length !== 1) return blocks;
    return blocks.map((block) => (block.kind === "reasoning" ? { ...block, tokens } : block));
  }

  #draw(options: ViewOptions): readonly Block[] {
    const blocks: Block[] = [];
    let thoughts: ReasoningBlock[] = [];
    const join = (): void => {
      const [first] = thoughts;
      if (first !== undefined) blocks.push(thoughts.length === 1 ? first : joined(first, thoughts));
      thoughts = [];
    };
    for (const [key, item] of this.#sorted()) {
      if (item.kind === "reasoning") {
        thoughts.push(this.#reasoningBlock(key, item, options));
        continue;
      }
      join();
      blocks.push(
        item.kind === "text" ? this.#textBlock(key, item, options) : this.#toolBlock(key, item, options),
      );
    }
    join();
    return blocks;
  }

  #sorted(): readonly (readonly [key: string, item: Item])[] {
    return [...this.#items].toSorted(([a], [b]) => indexOf(a) - indexOf(b));
  }

  #begin(key: string, item: Item): void {
    const before = this.#items.get(key);
    // The finished item replaces the streamed one, never the other way round.
    if (before?.final === true && !item.final) return;
    this.#items.set(key, item);
  }

  #reasoning(key: string): (ReasoningItem & { done: boolean }) | undefined {
    const item = this.#items.get(key);
    return item?.kind === "reasoning" ? item : undefined;
  }

  #base(
    key: string,
    generating: boolean,
  ): { readonly id: string; readonly generating: boolean; readonly superseded: boolean } {
    return { id: key, generating, superseded: this.#replacedBy !== undefined };
  }

  #mayEnd({ writerAlive }: ViewOptions): boolean {
    return writerAlive && this.#open && this.#replacedBy === undefined;
  }

  #reasoningBlock(
    key: string,
    item: ReasoningItem & { done: boolean },
    options: ViewOptions,
  ): ReasoningBlock {
    const generating = options.writerAlive && this.#open && !item.done;
    const parts = [...item.parts.values()].map((text): BlockPart => splitPart(text, !generating));
    return {
      ...this.#base(key, generating),
      kind: "reasoning",
      seqs: item.seq === undefined ? [] : [item.seq],
      origin: this.start.origin,
      ended: this.#ended ?? (this.#mayEnd(options) ? undefined : "never"),
      replacedBy: this.#replacedBy,
      startedAt: item.startedAt,
      durationMs: item.durationMs,
      tokens: undefined,
      parts: parts.filter(({ title, body }) => title !== undefined || body !== ""),
      cut: !item.done && !this.#open,
    };
  }

  #textBlock(key: string, item: TextItem & { done: boolean }, options: ViewOptions): TextBlock {
    const { text, phase, seq } = item;
    const generating = options.writerAlive && this.#open && !item.done;
    return { ...this.#base(key, generating), kind: "text", seq, text, phase, cut: !item.done && !this.#open };
  }

  #toolBlock(key: string, item: ToolItem & { done: boolean }, { writerAlive }: ViewOptions): ToolBlock {
    const generating = writerAlive && ((this.#open && !item.done) || item.running);
    const mayRun = writerAlive && !this.#turnEnded && this.#replacedBy === undefined;
    const cut = !item.done && !this.#open;
    return { ...this.#base(key, generating), ...this.#calls.view(item, { writerAlive, mayRun }), cut };
  }
}

function indexOf(key: string): number {
  return Number(key.slice(key.lastIndexOf("/") + 1));
}

/** Merges adjacent reasoning of one response: five rows of "Thinking…" say no more than one (failures.md U04). */
function joined(first: ReasoningBlock, all: readonly ReasoningBlock[]): ReasoningBlock {
  const times = all.flatMap(({ durationMs }) => durationMs ?? []);
  return {
    ...first,
    generating: all.some(({ generating }) => generating),
    seqs: all.flatMap(({ seqs }) => seqs),
    parts: all.flatMap(({ parts }) => parts),
    durationMs: times.length === 0 ? undefined : times.reduce((sum, time) => sum + time, 0),
    cut: all.some(({ cut }) => cut),
  };
}
