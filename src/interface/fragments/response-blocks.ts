/** Builds the blocks of one response as its fragments arrive. */

import type { McpToolName, Usage } from "../../base/events/index.ts";
import type {
  Block,
  BlockElicitation,
  BlockPart,
  BlockPermission,
  BlockQuestion,
  ReasoningBlock,
  TextBlock,
  ToolBlock,
} from "./block.ts";
import type { Fragment } from "./fragment.ts";
import type { KeptBack } from "./kept-back.ts";
import { splitPart } from "./reasoning-text.ts";
import type { ToolNames } from "./tool-names.ts";

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

type AskedPermission = Omit<BlockPermission, "question"> & Omit<BlockQuestion, "waits">;

interface ToolItem {
  readonly kind: "tool";
  readonly name: string;
  mcp?: McpToolName | undefined;
  arguments: string;
  written?: string;
  seq: number | undefined;
  callId: string | undefined;
  running: boolean;
  progress: string;
  permission: AskedPermission | undefined;
  elicitations?: readonly BlockElicitation[] | undefined;
  result: ToolBlock["result"];
}

type Item = (ReasoningItem | TextItem | ToolItem) & { readonly final: boolean; done: boolean };

export interface ViewOptions {
  readonly writerAlive: boolean;
  /** The items that the last request left out. */
  readonly keptBack: KeptBack;
}

type Start = Extract<Fragment, { readonly type: "response_start" }>;

export class ResponseBlocks {
  readonly start: Start;
  readonly #items = new Map<string, Item>();
  /** The tool blocks that have a call id. */
  readonly #tools = new Map<string, ToolItem[]>();
  #open = true;
  #superseded = false;
  #reasoningTokens: number | undefined;
  /** The last view, kept until something changes, so that frequent drawing costs only the open blocks. */
  #drawn: { readonly options: ViewOptions; readonly blocks: readonly Block[] } | undefined;

  readonly #names: ToolNames;

  constructor(start: Start, names: ToolNames) {
    this.start = start;
    this.#names = names;
  }

  /** Drops streamed content that never became an event: a reload would not show it either. */
  close(usage: Usage | undefined): void {
    this.#drawn = undefined;
    this.#open = false;
    this.#reasoningTokens = usage?.reasoningTokens;
    for (const [key, item] of this.#items) if (!item.final) this.#items.delete(key);
  }

  /** Called when the turn has ended, so that no tool is running any more. */
  stop(): void {
    this.#drawn = undefined;
    this.#open = false;
    for (const item of this.#items.values()) if (item.kind === "tool") item.running = false;
  }

  /** Called when a later attempt of the same step replaces it. */
  supersede(): void {
    this.#drawn = undefined;
    this.#superseded = true;
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
          kind: "tool",
          name: fragment.name,
          mcp: this.#names.of(fragment.name),
          arguments: "",
          seq: undefined,
          callId: undefined,
          running: false,
          progress: "",
          permission: undefined,
          result: undefined,
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
        if (item?.kind === "tool") this.#endCall(item, fragment);
        break;
      }
      case "permission_request": {
        const { requestId, argumentsHash, rule, mcp, changed } = fragment;
        this.#overAll(fragment.callId);
        this.#repair(fragment.callId, fragment.arguments);
        const asked = { requestId, argumentsHash, rule, changed, decision: undefined };
        this.#tool(fragment.callId, { permission: asked, ...(mcp === undefined ? {} : { mcp }) });
        break;
      }
      case "permission_decision":
        this.#decide(fragment.callId, fragment.decision);
        break;
      case "elicitation_request": {
        const { requestId, asked } = fragment;
        this.#ask(fragment.callId, { requestId, asked, waits: true, action: undefined, by: undefined });
        break;
      }
      case "elicitation_answer":
        this.#answer(fragment);
        break;
      case "tool_start":
        this.#overAll(fragment.callId);
        this.#repair(fragment.callId, fragment.arguments);
        this.#tool(fragment.callId, { running: true });
        break;
      case "tool_progress":
        this.#tool(fragment.callId, { progress: fragment.text });
        break;
      case "tool_output": {
        const { type: _type, response: _response, callId: _callId, ...result } = fragment;
        this.#tool(fragment.callId, { running: false, progress: "", result });
        break;
      }
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
    if (before?.options.writerAlive === options.writerAlive && before.options.keptBack === options.keptBack) {
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
    let thoughts: ReasoningBlock[] = [];
    const join = (): void => {
      const [first] = thoughts;
      if (first !== undefined) blocks.push(thoughts.length === 1 ? first : joined(first, thoughts));
      thoughts = [];
    };
    const sorted = [...this.#items].toSorted(([a], [b]) => indexOf(a) - indexOf(b));
    for (const [key, item] of sorted) {
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

  #endCall(
    item: ToolItem & { done: boolean },
    { seq, callId }: Extract<Fragment, { readonly type: "tool_call_end" }>,
  ): void {
    Object.assign(item, { done: true, seq, callId });
    const known = this.#tools.get(callId);
    if (known === undefined) this.#tools.set(callId, [item]);
    else known.push(item);
  }

  #tool(callId: string, change: Partial<ToolItem>): void {
    for (const item of this.#tools.get(callId) ?? []) {
      // The first result counts; a later one is a notice.
      if (change.result !== undefined && item.result !== undefined) continue;
      Object.assign(item, change);
    }
  }

  /** From here on, the block shows what the tool runs with. */
  #repair(callId: string, text: string | undefined): void {
    for (const item of this.#tools.get(callId) ?? []) {
      if (text === undefined || text === item.arguments) continue;
      item.written ??= item.arguments;
      item.arguments = text;
    }
  }

  #ask(callId: string, asked: BlockElicitation): void {
    for (const item of this.#tools.get(callId) ?? [])
      item.elicitations = [...(item.elicitations ?? []), asked];
  }

  #answer({
    callId,
    requestId,
    action,
    by,
  }: Extract<Fragment, { readonly type: "elicitation_answer" }>): void {
    for (const item of this.#tools.get(callId) ?? [])
      item.elicitations = item.elicitations?.map((one) =>
        one.requestId === requestId ? { ...one, waits: false, action, by } : one,
      );
  }

  /** The call begins again after a crash: nothing waits for what it asked before. */
  #overAll(callId: string): void {
    for (const item of this.#tools.get(callId) ?? [])
      item.elicitations = item.elicitations?.map((one) => ({ ...one, waits: false }));
  }

  #decide(callId: string, decision: "allow" | "deny" | undefined): void {
    for (const item of this.#tools.get(callId) ?? []) {
      if (item.permission !== undefined) item.permission = { ...item.permission, decision };
    }
  }

  #base(
    key: string,
    generating: boolean,
  ): { readonly id: string; readonly generating: boolean; readonly superseded: boolean } {
    return { id: key, generating, superseded: this.#superseded };
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
      model: this.start.model,
      startedAt: item.startedAt,
      durationMs: item.durationMs,
      tokens: undefined,
      parts: parts.filter(({ title, body }) => title !== undefined || body !== ""),
      cut: !item.done && !this.#open,
      keptBack: item.seq !== undefined && options.keptBack.has(item.seq),
    };
  }

  #textBlock(key: string, item: TextItem & { done: boolean }, options: ViewOptions): TextBlock {
    const { text, phase, seq } = item;
    const generating = options.writerAlive && this.#open && !item.done;
    return { ...this.#base(key, generating), kind: "text", seq, text, phase, cut: !item.done && !this.#open };
  }

  #toolBlock(key: string, item: ToolItem & { done: boolean }, options: ViewOptions): ToolBlock {
    const { seq, callId, name, mcp, progress, permission, result } = item;
    const generating = options.writerAlive && ((this.#open && !item.done) || item.running);
    const cut = !item.done && !this.#open;
    const canAnswer = options.writerAlive && item.running && result === undefined;
    const asked = item.elicitations?.map((one) => ({ ...one, waits: one.waits && canAnswer }));
    return {
      ...this.#base(key, generating),
      kind: "tool",
      seq,
      callId,
      name,
      ...(mcp === undefined ? {} : { mcp }),
      arguments: item.arguments,
      ...(item.written === undefined ? {} : { written: item.written }),
      progress,
      permission: permission && shownPermission(permission, result === undefined, options.writerAlive),
      ...(asked === undefined ? {} : { elicitations: asked }),
      result,
      cut,
    };
  }
}

function shownPermission(
  { requestId, decision, argumentsHash, rule, changed }: AskedPermission,
  unsettled: boolean,
  waits: boolean,
): BlockPermission {
  if (decision !== undefined || !unsettled) return { requestId, decision };
  return {
    requestId,
    decision,
    question: { argumentsHash, rule, ...(changed === true ? { changed } : {}), waits },
  };
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
    keptBack: all.some(({ keptBack }) => keptBack),
  };
}
