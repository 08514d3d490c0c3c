/**
 * Blocks are what a viewer draws. `generating` says that more content is coming. Whether a block is unfolded is up to the
 * viewer and not part of it (law 9).
 */

import type {
  Elicitation,
  ErrorInfo,
  McpToolName,
  Origin,
  ResponseStatus,
  ResultPart,
  ToolStatus,
  TurnStatus,
  Usage,
} from "../../base/events/index.ts";

interface Base {
  readonly id: string;
  /** True while a writer is alive and the response is open or the tool is running. */
  readonly generating: boolean;
  /** True if a later attempt replaced it, so that viewers fold it away. */
  readonly superseded: boolean;
}

/** A part of a reasoning block: its title, if it has one, and its text. */
export interface BlockPart {
  readonly title: string | undefined;
  readonly body: string;
}

/** A user message. */
export interface UserBlock extends Base {
  readonly kind: "user";
  readonly seq: number;
  readonly text: string;
  readonly by: "person" | "runtime";
  /** True if the message joined a running turn. */
  readonly steer?: boolean | undefined;
}

/** A run of adjacent reasoning items of one response. */
export interface ReasoningBlock extends Base {
  readonly kind: "reasoning";
  /** Empty if it never finished. */
  readonly seqs: readonly number[];
  /** Who made it. */
  readonly origin: Origin;
  /** How its response ended; `never` if it cannot end any more. Undefined while it is open. */
  readonly ended: ResponseStatus | "never" | undefined;
  /** The attempt of the same step that took its place. */
  readonly replacedBy: number | undefined;
  readonly startedAt: string | undefined;
  readonly durationMs: number | undefined;
  /** The tokens it used, if the response reports them and has no other reasoning. */
  readonly tokens: number | undefined;
  readonly parts: readonly BlockPart[];
  /** True if it never finished. */
  readonly cut: boolean;
}

/** Text of the model's answer. */
export interface TextBlock extends Base {
  readonly kind: "text";
  readonly seq: number | undefined;
  readonly text: string;
  readonly phase: string | undefined;
  /** It never finished. */
  readonly cut: boolean;
}

/** The last question about a call. A resumed turn asks again, under a new id. */
export interface BlockPermission {
  readonly requestId: string;
  readonly decision: "allow" | "deny" | undefined;
  /** The open question. Undefined once it has an answer or its call a result. */
  readonly question?: BlockQuestion | undefined;
}

/** What a viewer needs to ask a person about a call. */
export interface BlockQuestion {
  readonly argumentsHash: string;
  /** The rule that an answer for the whole session adds. */
  readonly rule: string | undefined;
  /** True if the MCP server has changed the tool's description or schema since a person last allowed a call of it. */
  readonly changed?: boolean | undefined;
  /** True while it can be answered. The question of an interrupted turn can be answered only after a resume. */
  readonly waits: boolean;
}

/** A question that the running tool asked. */
export interface BlockElicitation {
  readonly requestId: string;
  readonly asked: Elicitation;
  /** True while it can be answered. A question is over with its call, even if nobody answered it. */
  readonly waits: boolean;
  readonly action: "accept" | "decline" | "cancel" | undefined;
  readonly by: "person" | "policy" | undefined;
}

/** A call of a tool, with its permission and its result. */
export interface ToolBlock extends Base {
  readonly kind: "tool";
  readonly seq: number | undefined;
  readonly callId: string | undefined;
  readonly name: string;
  /** The MCP server that the tool belongs to and its name there, once an event has said so. */
  readonly mcp?: McpToolName | undefined;
  /** JSON text, possibly incomplete while it streams. */
  readonly arguments: string;
  /** What the model wrote, if `repairArguments` changed it. */
  readonly written?: string | undefined;
  /** Live text from the tool. */
  readonly progress: string;
  readonly permission: BlockPermission | undefined;
  /** What the tool asked, in order. Absent if it asked nothing. */
  readonly elicitations?: readonly BlockElicitation[] | undefined;
  readonly result:
    | {
        readonly status: ToolStatus;
        readonly text: string;
        readonly durationMs: number | undefined;
        /** The sessions of the sub-agents that the call ran. */
        readonly sessions?: readonly string[] | undefined;
        /** Blobs next to the log. The text names the images too. */
        readonly images?: readonly ResultPart[] | undefined;
        /** What the tool says to the person and not to the model. */
        readonly forPerson?: string | undefined;
      }
    | undefined;
  /** When it started to run. */
  readonly startedAt: string | undefined;
  /** When the open question was asked that it waits for. */
  readonly askedAt: string | undefined;
  /** How long it has waited for people, without the open question. */
  readonly waitedMs: number;
  /** The part of `waitedMs` after it started, which `durationMs` includes. */
  readonly pausedMs: number;
  /** True if it is complete and has not started, but still may. */
  readonly pending: boolean;
  /** It never finished. */
  readonly cut: boolean;
}

/** A message from the runtime: a retry, a healed request, a full context. */
export interface NoticeBlock extends Base {
  readonly kind: "notice";
  readonly code: string;
  readonly text: string;
  /** The length of a wait to count down, in milliseconds. Live only. */
  readonly waitMs: number | undefined;
}

/** The end of a turn. */
export interface TurnEndBlock extends Base {
  readonly kind: "turn_end";
  readonly status: TurnStatus;
  readonly reason: string | undefined;
  readonly error: ErrorInfo | undefined;
  readonly steps: number;
  readonly usage: Usage;
  readonly durationMs: number;
  /** The part of `durationMs` that it waited for people. Waits that overlap count once. */
  readonly waitedMs: number;
}

/** What a viewer draws, discriminated by `kind`. */
export type Block = UserBlock | ReasoningBlock | TextBlock | ToolBlock | NoticeBlock | TurnEndBlock;
