/**
 * Everything the fold and the renderer read, as it stood when a step began. Nothing comes from options or tables at
 * fold time, so that any past request can be rebuilt from the log alone.
 */

import type { JsonObject } from "../support/index.ts";
import type { Dialect, Origin } from "./origin.ts";

/** How one endpoint departs from its dialect. Data, not code. */
export interface Profile {
  readonly name: string;
  readonly dialect: Dialect;
  /** How the items of one response stand together. Absent in logs of earlier versions: `responseFormOf` derives it. */
  readonly responseForm?: ResponseForm | undefined;
  /** `omit`: the endpoint takes reasoning without item ids, and none are ever sent (failures.md I09). */
  readonly itemIds: "keep" | "omit";
  /** Longest item id the endpoint takes back (failures.md I05). */
  readonly maxItemIdLength: number;
  readonly maxCallIdLength: number;
  /** The characters a call id may hold, as a pattern; absent: any (failures.md C09). */
  readonly callIdPattern?: string | undefined;
  /** The endpoint reuses call ids, so they are mapped at home too (failures.md T07). */
  readonly callIdsRepeat: boolean;
  /** Whether reasoning `content` goes back (failures.md S04, V02). */
  readonly reasoningContent: "empty" | "verbatim";
  /** `required`: reasoning without an opaque payload cannot be replayed statelessly (failures.md I01). */
  readonly reasoningPayload: "required" | "optional";
  /** Reasoning is bound to the bytes before it (failures.md C04, H06). */
  readonly prefixBound: boolean;
  readonly sendInclude: boolean;
  readonly sendStore: boolean;
  readonly sendPromptCacheKey: boolean;
  /** What to do at home with hosted items that cannot be replayed without server state (failures.md T14). */
  readonly hostedOmit: readonly string[];
  /** For the `openai-chat` dialect alone. */
  readonly chat?: ChatProfile | undefined;
  /** Per field: the failures.md id it rests on, or "assumed". */
  readonly evidence: Readonly<Record<string, string>>;
}

/**
 * `items`: each has an id of its own, a hosted one cannot go without it, and what follows a thought is the next item.
 * `blocks`: pieces of one message in their order; one without words counts for nothing. `message`: one piece, no order.
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

/** In which field an assistant message carries its reasoning (failures.md V06). */
export type ReasoningField =
  | "reasoning_content"
  | "reasoning"
  | "reasoning_details"
  | "content_thinking"
  /** GitHub Copilot's words, and the payload that belongs to them. */
  | "reasoning_text"
  | "reasoning_opaque"
  /** LiteLLM: Claude's blocks with their signatures. */
  | "thinking_blocks";

/** How one chat-completions endpoint departs from OpenAI's. */
export interface ChatProfile {
  /** Fields it takes its own reasoning back in; none: it takes none. */
  readonly reasoningFields: readonly ReasoningField[];
  /** A field it does not take is left out alone. Absent in logs of earlier versions: all thoughts of the answer went with it. */
  readonly fieldsApart?: boolean | undefined;
  /**
   * Which assistant messages must carry it while thinking is on: those with calls (V01), all between two user messages
   * where a tool was called (V02), all of a request that carries tools and those others (V02 as the guide says it today),
   * none. Where one lacks it, thinking is switched off rather than anything invented.
   */
  readonly reasoningRequired: "calls" | "tool_rounds" | "with_tools" | "never";
  /** What stands in the place of a required thought where there was none: an empty string invents nothing. Absent: nothing. */
  readonly whenNone?: "omit" | "empty" | undefined;
  /** The parameter that switches thinking; `none`: it cannot be switched. */
  readonly thinkingSwitch: "none" | "thinking" | "enable_thinking" | "reasoning";
  /** `never`: it thinks whatever the switch says (Kimi K2.7 and later). Absent: the switch holds. */
  readonly thinkingOff?: "switch" | "never" | undefined;
  /** Takes `reasoning_effort`. */
  readonly sendEffort: boolean;
  /** In its own words; an effort without one is not sent. Absent: ours are its words. */
  readonly effortWords?: Readonly<Record<string, string>> | undefined;
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  /** A user message may stand behind a tool message (Mistral, code 3230: not). */
  readonly userAfterTool: boolean;
  /** Absent: it may. Logs of earlier versions do not say. */
  readonly userAfterUser?: boolean | undefined;
  /** Arguments that a model wrote wrongly must be JSON all the same when they come back. Absent: they go as they came. */
  readonly jsonArguments?: boolean | undefined;
  /** Takes `stream_options.include_usage`. */
  readonly sendUsageOption: boolean;
  /** Takes `strict` in a tool's definition. */
  readonly sendStrict: boolean;
  /** Without it the thoughts come among the words of the answer. Sent always. */
  readonly showThoughts?: RequestField | undefined;
  /** Without it the vendor forgets the thoughts of earlier turns, though they come back. Sent while thinking is on. */
  readonly keepThoughts?: RequestField | undefined;
}

/** A parameter of the request; `field` is a path with dots: `thinking.keep`. */
export interface RequestField {
  readonly field: string;
  readonly value: string | boolean;
}

export interface Capabilities {
  /** Takes reasoning items as input. Unknown models are taken to (requirements Q5, Q6). */
  readonly reasoning: boolean;
  /** Takes temperature and top_p (failures.md S08). */
  readonly sampling: boolean;
  readonly vision: boolean;
  /** How many tokens a request and its answer may have together, where it is known. */
  readonly contextTokens?: number | undefined;
  /** How Claude is told to think: by effort, by a budget of tokens, or not at all. Absent on other dialects. */
  readonly thinking?: "adaptive" | "budget" | "none" | undefined;
  /** Sent where the dialect demands a limit and none is set. */
  readonly maxOutputTokens?: number | undefined;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly strict: boolean;
}

export type ReplayPolicy = "all" | "since_last_user" | "none" | { readonly maxItems: number };

export interface Settings {
  readonly target: Origin;
  readonly effort?: string | undefined;
  readonly summary?: string | undefined;
  readonly reasoningContext?: string | undefined;
  readonly system?: string | undefined;
  readonly tools: readonly ToolSpec[];
  /** Provider-run tools, as the wire has them: `{"type":"web_search"}`. */
  readonly hosted: readonly JsonObject[];
  readonly replay: ReplayPolicy;
  /** `note`: the readable summary of another model's reasoning goes along, marked as what it is. Default: left out. */
  readonly foreign?: "omit" | "note" | undefined;
  readonly profile: Profile;
  readonly capabilities: Capabilities;
  readonly maxOutputTokens?: number | undefined;
  readonly output?:
    | { readonly name: string; readonly schema: JsonObject; readonly strict: boolean }
    | undefined;
  /** Sent as they are, where the capabilities allow: temperature, top_p, tool_choice, metadata, verbosity … */
  readonly parameters: JsonObject;
  /** The renderer that made the bodies whose hashes stand in the log; a newer one may differ and says so. */
  readonly renderer: number;
}
