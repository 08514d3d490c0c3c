/**
 * Everything the fold and the renderer read, as it was when a step began. Nothing comes from options or tables at fold
 * time, so that any past request can be rebuilt from the log alone.
 */

import type { JsonObject } from "../support/index.ts";
import type { Dialect, Origin } from "./origin.ts";

/** How an endpoint departs from its dialect. Data, not code. */
export interface Profile {
  readonly name: string;
  readonly dialect: Dialect;
  /** How the items of one response relate. Absent in logs of earlier versions; `responseFormOf` derives it then. */
  readonly responseForm?: ResponseForm | undefined;
  /** `omit`: the endpoint accepts reasoning without item ids, and none are ever sent (failures.md I09). */
  readonly itemIds: "keep" | "omit";
  /** Longest item id the endpoint accepts back (failures.md I05). */
  readonly maxItemIdLength: number;
  readonly maxCallIdLength: number;
  /** The characters a call id may hold, as a pattern. If absent, any (failures.md C09). */
  readonly callIdPattern?: string | undefined;
  /** The endpoint reuses call ids, so they are mapped at home too (failures.md T07). */
  readonly callIdsRepeat: boolean;
  /** Whether reasoning `content` is sent back (failures.md S04, V02). */
  readonly reasoningContent: "empty" | "verbatim";
  /** `required`: reasoning without an opaque payload cannot be replayed statelessly (failures.md I01). */
  readonly reasoningPayload: "required" | "optional";
  /** Reasoning is bound to the bytes before it (failures.md C04, H06). */
  readonly prefixBound: boolean;
  readonly sendInclude: boolean;
  readonly sendStore: boolean;
  readonly sendPromptCacheKey: boolean;
  /**
   * Hosted item types that are omitted at home, because they cannot be replayed without server state (failures.md T14).
   */
  readonly hostedOmit: readonly string[];
  /**
   * Omitting an item also omits only the thoughts that it followed, if no id that is sent refers to them (failures.md
   * §0, law 1). If absent, as in logs of earlier versions, all thoughts and ids of its response are omitted.
   */
  readonly omitsAlone?: boolean | undefined;
  /**
   * `include` and `reasoning` in `parameters` are merged with our own, so that ciphertext is always requested. If
   * absent, as in logs of earlier versions, they replace ours.
   */
  readonly unitesParameters?: boolean | undefined;
  /** A custom call to an undeclared tool was run by the provider and is logged as a hosted item. */
  readonly serverCustomCalls?: boolean | undefined;
  /** Its item ids repeat within a response and are sent back unchanged (failures.md I13). */
  readonly itemIdsRepeat?: boolean | undefined;
  /** How long its first byte, and any next one, may take if the user sets no limit, in milliseconds. */
  readonly patienceMs?: number | undefined;
  /** Only for the `openai-chat` dialect. */
  readonly chat?: ChatProfile | undefined;
  /** For each field, the failures.md id it is based on, or "assumed". */
  readonly evidence: Readonly<Record<string, string>>;
}

/**
 * `items`: each item has its own id, a hosted item needs it, and a thought is followed by the next item. `blocks`:
 * ordered parts of one message; an empty one does not count. `message`: a single message without an order.
 */
export type ResponseForm = "items" | "blocks" | "message";

const FORM_OF_DIALECT: Readonly<Record<Dialect, ResponseForm>> = {
  "openai-responses": "items",
  "anthropic-messages": "blocks",
  "openai-chat": "message",
};

export function responseFormOf({ responseForm, dialect }: Profile): ResponseForm {
  return responseForm ?? FORM_OF_DIALECT[dialect];
}

/** The field in which an assistant message carries its reasoning (failures.md V06). */
export type ReasoningField =
  | "reasoning_content"
  | "reasoning"
  | "reasoning_details"
  | "content_thinking"
  /** GitHub Copilot's text, and the payload that belongs to it. */
  | "reasoning_text"
  | "reasoning_opaque"
  /** LiteLLM: Claude's blocks with their signatures. */
  | "thinking_blocks";

/** How one chat-completions endpoint departs from OpenAI's. */
export interface ChatProfile {
  /** Fields in which it accepts its own reasoning back. If empty, it accepts none. */
  readonly reasoningFields: readonly ReasoningField[];
  /**
   * Only the field it does not accept is omitted. If absent, as in logs of earlier versions, all thoughts of the answer
   * are.
   */
  readonly fieldsApart?: boolean | undefined;
  /**
   * Which assistant messages must carry it while thinking is on. `calls`: those with calls (V01). `tool_rounds`: all
   * between two user messages if a tool was called there (V02). `with_tools`: as `tool_rounds`, and all of a request
   * that carries tools (V02 as the guide says it today). If one lacks it, thinking is switched off; nothing is
   * invented.
   */
  readonly reasoningRequired: "calls" | "tool_rounds" | "with_tools" | "never";
  /**
   * What replaces a required thought that does not exist. An empty string invents nothing. If absent, nothing replaces
   * it.
   */
  readonly whenNone?: "omit" | "empty" | undefined;
  /** The parameter that switches thinking. `none`: it cannot be switched. */
  readonly thinkingSwitch: "none" | "thinking" | "enable_thinking" | "reasoning";
  /** `never`: it thinks whatever the switch says (Kimi K2.7 and later). If absent, the switch works. */
  readonly thinkingOff?: "switch" | "never" | undefined;
  /** Whether it accepts `reasoning_effort`. */
  readonly sendEffort: boolean;
  /** Its own names for efforts; an effort without one is not sent. If absent, our names are used. */
  readonly effortWords?: Readonly<Record<string, string>> | undefined;
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  /** Whether a user message may follow a tool message (Mistral, code 3230: no). */
  readonly userAfterTool: boolean;
  /** Whether a user message may follow another. If absent, as in logs of earlier versions, it may. */
  readonly userAfterUser?: boolean | undefined;
  /** Whether it accepts `stream_options.include_usage`. */
  readonly sendUsageOption: boolean;
  /** Whether it accepts `strict` in a tool's definition. */
  readonly sendStrict: boolean;
  /** Always sent: without it, thoughts are mixed into the text of the answer. */
  readonly showThoughts?: RequestField | undefined;
  /**
   * Sent while thinking is on: without it, the vendor ignores the thoughts of earlier turns, even if they are sent
   * back.
   */
  readonly keepThoughts?: RequestField | undefined;
}

/** A parameter of the request. `field` is a path with dots: `thinking.keep`. */
export interface RequestField {
  readonly field: string;
  readonly value: string | boolean;
}

/** What a model accepts. Known models come with a table; `ModelOptions.capabilities` overrides it. */
export interface Capabilities {
  /** Accepts reasoning items as input. Assumed for unknown models (requirements Q5, Q6). */
  readonly reasoning: boolean;
  /** Accepts temperature and top_p (failures.md S08). */
  readonly sampling: boolean;
  readonly vision: boolean;
  /** How many tokens a request and its answer may have together, if known. */
  readonly contextTokens?: number | undefined;
  /** How Claude is told to think: by effort, by a token budget, or not at all. Absent on other dialects. */
  readonly thinking?: "adaptive" | "budget" | "none" | undefined;
  /** How Claude is told not to think, if it no longer accepts `disabled` (failures.md C18). If absent, `disabled`. */
  readonly thinkingOff?: "disabled" | "between_tools" | "never" | undefined;
  /**
   * A pattern of models whose thoughts this one reads on the same endpoint and account (failures.md C10). If absent,
   * none.
   */
  readonly readsThoughtsOf?: string | undefined;
  /** `false`: a tool cannot be forced (failures.md C20). If absent, it can. */
  readonly forcedTools?: boolean | undefined;
  /** Sent if the dialect requires a limit and none is set. */
  readonly maxOutputTokens?: number | undefined;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly strict: boolean;
  /** Which tool of which MCP server it is. Not sent. Absent for any other tool. */
  readonly mcp?: McpToolName | undefined;
}

/** A tool of an MCP server, by the names that its users and the server give. */
export interface McpToolName {
  readonly server: string;
  readonly tool: string;
}

/** What an MCP server tells models about itself, as it was when the session declared it first. */
export interface ServerInstructions {
  readonly server: string;
  readonly text: string;
}

/** Which of the model's own reasoning goes back to it. `maxItems` keeps whole groups, the newest first. */
export type ReplayPolicy = "all" | "since_last_user" | "none" | { readonly maxItems: number };

export interface Settings {
  readonly target: Origin;
  readonly effort?: string | undefined;
  readonly summary?: string | undefined;
  readonly reasoningContext?: string | undefined;
  readonly system?: string | undefined;
  /** Sent after `system`. Absent if no MCP server has any. */
  readonly serverInstructions?: readonly ServerInstructions[] | undefined;
  readonly tools: readonly ToolSpec[];
  /** Tools the provider runs, in their wire form: `{"type":"web_search"}`. */
  readonly hosted: readonly JsonObject[];
  readonly replay: ReplayPolicy;
  /** `note`: the readable summary of another model's reasoning is sent, marked as such. Default: omitted. */
  readonly foreign?: "omit" | "note" | undefined;
  readonly profile: Profile;
  readonly capabilities: Capabilities;
  readonly maxOutputTokens?: number | undefined;
  readonly output?:
    | { readonly name: string; readonly schema: JsonObject; readonly strict: boolean }
    | undefined;
  /** Sent unchanged, if the capabilities allow: temperature, top_p, tool_choice, metadata, verbosity … */
  readonly parameters: JsonObject;
  /** The version of the renderer whose body hashes are in the log. A newer one may render differently and says so. */
  readonly renderer: number;
}
