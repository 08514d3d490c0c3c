/** The calls of one response: what was asked about them, how they run, and what came of them. */

import type { McpToolName } from "../../base/events/index.ts";
import { isoMs } from "../../base/support/index.ts";
import type { BlockElicitation, BlockPermission, BlockQuestion, ToolBlock } from "./block.ts";
import type { Fragment } from "./fragment.ts";
import { type Wait, waitedBetween, Waits } from "./waits.ts";

type AskedPermission = Omit<BlockPermission, "question"> & Omit<BlockQuestion, "waits">;

export interface ToolItem {
  readonly kind: "tool";
  readonly name: string;
  mcp?: McpToolName | undefined;
  arguments: string;
  written?: string;
  seq: number | undefined;
  callId: string | undefined;
  running: boolean;
  startedAt: string | undefined;
  progress: string;
  permission: AskedPermission | undefined;
  elicitations?: readonly BlockElicitation[] | undefined;
  result: ToolBlock["result"];
}

export function newCall(name: string, mcp: McpToolName | undefined): ToolItem {
  return {
    kind: "tool",
    name,
    mcp,
    arguments: "",
    seq: undefined,
    callId: undefined,
    running: false,
    startedAt: undefined,
    progress: "",
    permission: undefined,
    result: undefined,
  };
}

/** The fragments about calls that the model has written. */
type CallFragment = Extract<
  Fragment,
  {
    readonly type:
      | "permission_request"
      | "permission_decision"
      | "elicitation_request"
      | "elicitation_answer"
      | "tool_start"
      | "tool_progress"
      | "tool_output";
  }
>;

/** What a block of a call shows besides what every block has. */
export type CallView = Omit<ToolBlock, "id" | "generating" | "superseded" | "cut">;

export class ResponseCalls {
  readonly #waits = new Waits();
  /** The items that have a call id. */
  readonly #items = new Map<string, ToolItem[]>();

  /** How long the calls have waited for people. */
  get waits(): readonly Wait[] {
    return this.#waits.all;
  }

  /** Called when the model has written the whole call. */
  add(callId: string, item: ToolItem): void {
    const known = this.#items.get(callId);
    if (known === undefined) this.#items.set(callId, [item]);
    else known.push(item);
  }

  /** Called when the turn has ended, so that no tool is running any more. */
  stop(at: string): void {
    this.#waits.endAll(at);
    for (const item of [...this.#items.values()].flat()) item.running = false;
  }

  apply(fragment: CallFragment): void {
    switch (fragment.type) {
      case "permission_request":
        this.#askPermission(fragment);
        break;
      case "permission_decision":
        this.#waits.end(fragment.callId, fragment.at);
        this.#each(fragment.callId, (item) => {
          if (item.permission !== undefined)
            item.permission = { ...item.permission, decision: fragment.decision };
        });
        break;
      case "elicitation_request": {
        const { callId, requestId, asked, at } = fragment;
        this.#waits.ask(callId, requestId, at);
        const open = { requestId, asked, waits: true, action: undefined, by: undefined };
        this.#each(callId, (item) => {
          item.elicitations = [...(item.elicitations ?? []), open];
        });
        break;
      }
      case "elicitation_answer":
        this.#answer(fragment);
        break;
      case "tool_start":
        this.#beginsAgain(fragment.callId);
        this.#repair(fragment.callId, fragment.arguments);
        this.#each(fragment.callId, (item) => {
          Object.assign(item, { running: true, startedAt: fragment.at });
        });
        break;
      case "tool_progress":
        this.#each(fragment.callId, (item) => {
          item.progress = fragment.text;
        });
        break;
      case "tool_output": {
        const { type: _type, response: _response, callId, at, ...result } = fragment;
        this.#waits.end(callId, at);
        this.#each(callId, (item) => {
          // The first result counts; a later one is a notice.
          if (item.result === undefined) Object.assign(item, { running: false, progress: "", result });
        });
        break;
      }
    }
  }

  /** `mayRun`: a process writes, the turn has not ended, and no other attempt has taken its place. */
  view(
    item: ToolItem & { readonly done: boolean },
    state: { readonly writerAlive: boolean; readonly mayRun: boolean },
  ): CallView {
    const { seq, callId, name, mcp, progress, permission, result, startedAt } = item;
    const unsettled = result === undefined;
    const canAnswer = state.writerAlive && item.running && unsettled;
    const asked = item.elicitations?.map((one) => ({ ...one, waits: one.waits && canAnswer }));
    const waits = this.#waits.of(callId);
    const open = state.mayRun && unsettled ? waits.find(({ to }) => to === undefined) : undefined;
    const started = startedAt === undefined ? Number.POSITIVE_INFINITY : isoMs(startedAt);
    return {
      kind: "tool",
      seq,
      callId,
      name,
      ...(mcp === undefined ? {} : { mcp }),
      arguments: item.arguments,
      ...(item.written === undefined ? {} : { written: item.written }),
      progress,
      permission: permission && shownPermission(permission, unsettled, state.writerAlive),
      ...(asked === undefined ? {} : { elicitations: asked }),
      result,
      startedAt,
      askedAt: open?.askedAt,
      waitedMs: waitedBetween(waits, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY),
      pausedMs: waitedBetween(waits, started, Number.POSITIVE_INFINITY),
      pending: state.mayRun && item.done && !item.running && unsettled,
    };
  }

  #askPermission(fragment: Extract<Fragment, { readonly type: "permission_request" }>): void {
    const { callId, requestId, argumentsHash, rule, mcp, changed } = fragment;
    this.#beginsAgain(callId);
    this.#waits.ask(callId, requestId, fragment.at);
    this.#repair(callId, fragment.arguments);
    const permission = { requestId, argumentsHash, rule, changed, decision: undefined };
    this.#each(callId, (item) => {
      Object.assign(item, { permission, ...(mcp === undefined ? {} : { mcp }) });
    });
  }

  #answer(fragment: Extract<Fragment, { readonly type: "elicitation_answer" }>): void {
    const { callId, requestId, action, by } = fragment;
    this.#waits.end(callId, fragment.at, requestId);
    this.#each(callId, (item) => {
      item.elicitations = item.elicitations?.map((one) =>
        one.requestId === requestId ? { ...one, waits: false, action, by } : one,
      );
    });
  }

  /** From here on, the block shows what the tool runs with. */
  #repair(callId: string, text: string | undefined): void {
    this.#each(callId, (item) => {
      if (text === undefined || text === item.arguments) return;
      item.written ??= item.arguments;
      item.arguments = text;
    });
  }

  /** After a crash, nothing waits for what the call asked before. */
  #beginsAgain(callId: string): void {
    this.#waits.drop(callId);
    this.#each(callId, (item) => {
      item.elicitations = item.elicitations?.map((one) => ({ ...one, waits: false }));
    });
  }

  #each(callId: string, change: (item: ToolItem) => void): void {
    for (const item of this.#items.get(callId) ?? []) change(item);
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
