/** The blocks of one response while fragments come in. */

import type { Usage } from "../../base/events/index.ts";
import type { Block, BlockPart, ReasoningBlock, TextBlock, ToolBlock } from "./block.ts";
import type { Fragment, FragmentOf } from "./fragment.ts";
import { splitPart } from "./reasoning-text.ts";

type Growing<T> = { -readonly [Key in keyof T]: T[Key] };

type NewItem =
  | (Growing<Pick<ReasoningBlock, "kind" | "startedAt" | "durationMs">> & {
      readonly parts: Map<number, string>;
    })
  | Growing<Pick<TextBlock, "kind" | "phase" | "text">>
  | (Growing<Omit<ToolBlock, "id" | "generating" | "superseded" | "seq" | "cut">> & { running: boolean });

type Item = NewItem & { readonly final: boolean; done: boolean; seq: number | undefined };
type ItemOf<Kind extends Item["kind"]> = Extract<Item, { kind: Kind }>;

export interface ViewOptions {
  readonly writerAlive: boolean;
  /** What the last request left out, as ranges of seq. */
  readonly leftOut: readonly (readonly [from: number, to: number])[];
}

type Start = FragmentOf<"response_start">;

/** Of one response, not of the whole list. */
export type FragmentOfResponse = Exclude<
  Fragment,
  FragmentOf<"user" | "notice" | "branch" | "response_start" | "response_end" | "turn_end">
>;

export class ResponseBlocks {
  readonly start: Start;
  readonly #items = new Map<string, Item>();
  #open = true;
  #superseded = false;
  #reasoningTokens: number | undefined;
  /** The last view, while nothing has changed: a viewer that draws often pays only for what is open. */
  #drawn: { readonly options: ViewOptions; readonly blocks: readonly Block[] } | undefined;

  constructor(start: Start) {
    this.start = start;
  }

  /** What was streamed and never became an event is not shown after a reload, so it is not shown now either. */
  close(usage: Usage | undefined): void {
    this.#drawn = undefined;
    this.#open = false;
    this.#reasoningTokens = usage?.reasoningTokens;
    for (const [key, item] of this.#items) if (!item.final) this.#items.delete(key);
  }

  /** The turn is over: no tool is running any more. */
  stop(): void {
    this.#drawn = undefined;
    this.#open = false;
    for (const item of this.#items.values()) if (item.kind === "tool") item.running = false;
  }

  /** A later attempt of the same step took its place. */
  supersede(): void {
    this.#drawn = undefined;
    this.#superseded = true;
  }

  apply(fragment: FragmentOfResponse): void {
    this.#drawn = undefined;
    switch (fragment.type) {
      case "reasoning_start":
        this.#begin(fragment, {
          kind: "reasoning",
          parts: new Map(),
          startedAt: undefined,
          durationMs: undefined,
        });
        break;
      case "text_start":
        this.#begin(fragment, { kind: "text", phase: fragment.phase, text: "" });
        break;
      case "tool_call_start":
        this.#begin(fragment, {
          kind: "tool",
          name: fragment.name,
          arguments: "",
          callId: undefined,
          running: false,
          progress: "",
          permission: undefined,
          result: undefined,
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
        const { seq, startedAt, durationMs } = fragment;
        this.#end(fragment.item, "reasoning", { seq, startedAt, durationMs });
        break;
      }
      case "text_delta": {
        const item = this.#items.get(fragment.item);
        if (item?.kind === "text") item.text += fragment.text;
        break;
      }
      case "text_end":
        this.#end(fragment.item, "text", { seq: fragment.seq });
        break;
      case "tool_call_delta": {
        const item = this.#items.get(fragment.item);
        if (item?.kind === "tool") item.arguments += fragment.text;
        break;
      }
      case "tool_call_end":
        this.#end(fragment.item, "tool", { seq: fragment.seq, callId: fragment.callId });
        break;
      case "permission_request":
        this.#tool(fragment.callId, { permission: { requestId: fragment.requestId, decision: undefined } });
        break;
      case "permission_decision":
        this.#decide(fragment.callId, fragment.decision);
        break;
      case "tool_start":
        this.#tool(fragment.callId, { running: true });
        break;
      case "tool_progress":
        this.#tool(fragment.callId, { progress: fragment.text });
        break;
      case "tool_output": {
        const { status, text, durationMs } = fragment;
        this.#tool(fragment.callId, { running: false, progress: "", result: { status, text, durationMs } });
        break;
      }
    }
  }

  view(options: ViewOptions): readonly Block[] {
    const before = this.#drawn;
    if (before?.options.writerAlive === options.writerAlive && before.options.leftOut === options.leftOut) {
      return before.blocks;
    }
    const blocks = this.#withTokens(this.#draw(options));
    this.#drawn = { options, blocks };
    return blocks;
  }

  #withTokens(blocks: readonly Block[]): readonly Block[] {
    const tokens = this.#reasoningTokens;
    if (tokens === undefined || blocks.filter(({ kind }) => kind === "reasoning").length !== 1) return blocks;
    return blocks.map((block) => (block.kind === "reasoning" ? { ...block, tokens } : block));
  }

  #draw(options: ViewOptions): readonly Block[] {
    const blocks: Block[] = [];
    const sorted = [...this.#items].toSorted(([a], [b]) => indexOf(a) - indexOf(b));
    for (const [key, item] of sorted) {
      const last = blocks.at(-1);
      if (item.kind === "reasoning") {
        const block = this.#reasoningBlock(key, item, options);
        if (last?.kind === "reasoning") blocks[blocks.length - 1] = joined(last, block);
        else blocks.push(block);
      } else {
        blocks.push(
          item.kind === "text" ? this.#textBlock(key, item, options) : this.#toolBlock(key, item, options),
        );
      }
    }
    return blocks;
  }

  #begin(
    { item, final }: FragmentOf<"text_start" | "reasoning_start" | "tool_call_start">,
    made: NewItem,
  ): void {
    // The finished item takes the place of what was streamed, never the other way round.
    if (this.#items.get(item)?.final === true && !final) return;
    this.#items.set(item, { ...made, final, done: false, seq: undefined });
  }

  #reasoning(key: string): ItemOf<"reasoning"> | undefined {
    const item = this.#items.get(key);
    return item?.kind === "reasoning" ? item : undefined;
  }

  #end<Kind extends Item["kind"]>(key: string, kind: Kind, facts: Partial<ItemOf<Kind>>): void {
    const item = this.#items.get(key);
    if (item?.kind === kind) Object.assign(item, facts, { done: true });
  }

  #tool(callId: string, change: Partial<ItemOf<"tool">>): void {
    for (const item of this.#items.values()) {
      if (item.kind !== "tool" || item.callId !== callId) continue;
      // The first result counts: a later one is a notice.
      if (change.result !== undefined && item.result !== undefined) continue;
      Object.assign(item, change);
    }
  }

  #decide(callId: string, decision: "allow" | "deny"): void {
    for (const item of this.#items.values()) {
      if (item.kind === "tool" && item.callId === callId && item.permission !== undefined) {
        item.permission = { ...item.permission, decision };
      }
    }
  }

  #base(key: string, generating: boolean): Pick<Block, "id" | "generating" | "superseded"> {
    return { id: key, generating, superseded: this.#superseded };
  }

  #reasoningBlock(key: string, item: ItemOf<"reasoning">, options: ViewOptions): ReasoningBlock {
    const generating = options.writerAlive && this.#open && !item.done;
    const parts = [...item.parts.values()].map((text): BlockPart => splitPart(text, !generating));
    return {
      ...this.#base(key, generating),
      kind: "reasoning",
      seqs: item.seq === undefined ? [] : [item.seq],
      model: this.start.model,
      startedAt: item.startedAt,
      durationMs: item.durationMs,
      tokens: undefined,
      parts: parts.filter(({ title, body }) => title !== undefined || body !== ""),
      cut: !item.done && !this.#open,
      keptBack: options.leftOut.some(
        ([from, to]) => item.seq !== undefined && item.seq >= from && item.seq <= to,
      ),
    };
  }

  #textBlock(key: string, item: ItemOf<"text">, options: ViewOptions): TextBlock {
    const { text, phase, seq } = item;
    const generating = options.writerAlive && this.#open && !item.done;
    return { ...this.#base(key, generating), kind: "text", seq, text, phase, cut: !item.done && !this.#open };
  }

  #toolBlock(key: string, item: ItemOf<"tool">, options: ViewOptions): ToolBlock {
    const { final: _final, done, running: _running, ...call } = item;
    const generating = options.writerAlive && ((this.#open && !item.done) || item.running);
    return { ...this.#base(key, generating), ...call, cut: !done && !this.#open };
  }
}

function indexOf(key: string): number {
  return Number(key.slice(key.lastIndexOf("/") + 1));
}

/** Adjacent thoughts of one response are one block: five rows of "Thinking…" say no more than one (failures.md U04). */
function joined(a: ReasoningBlock, b: ReasoningBlock): ReasoningBlock {
  return {
    ...a,
    generating: a.generating || b.generating,
    seqs: [...a.seqs, ...b.seqs],
    parts: [...a.parts, ...b.parts],
    durationMs:
      a.durationMs === undefined && b.durationMs === undefined
        ? undefined
        : (a.durationMs ?? 0) + (b.durationMs ?? 0),
    cut: a.cut || b.cut,
    keptBack: a.keptBack || b.keptBack,
  };
}
