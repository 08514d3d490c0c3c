/**
 * Everything the fold and the renderer read, as it stood when a step began. Nothing comes from options or tables at
 * fold time, so that any past request can be rebuilt from the log alone.
 *
 * @module
 */

import type { JsonObject } from "../support/index.ts";
import type { Dialect, Origin } from "./origin.ts";

/** How one endpoint departs from its dialect. Data, not code. */
export interface Profile {
  readonly name: string;
  readonly dialect: Dialect;
  /** `omit`: the endpoint takes reasoning without item ids, and none are ever sent (failures.md I09). */
  readonly itemIds: "keep" | "omit";
  /** Longest item id the endpoint takes back (failures.md I05). */
  readonly maxItemIdLength: number;
  readonly maxCallIdLength: number;
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
  /** Per field: the failures.md id it rests on, or "assumed". */
  readonly evidence: Readonly<Record<string, string>>;
}

export interface Capabilities {
  /** Takes reasoning items as input. Unknown models are taken to (requirements Q5, Q6). */
  readonly reasoning: boolean;
  /** Takes temperature and top_p (failures.md S08). */
  readonly sampling: boolean;
  readonly vision: boolean;
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
  readonly effort?: string;
  readonly summary?: string;
  readonly reasoningContext?: string;
  readonly system?: string;
  readonly tools: readonly ToolSpec[];
  /** Provider-run tools, as the wire has them: `{"type":"web_search"}`. */
  readonly hosted: readonly JsonObject[];
  readonly replay: ReplayPolicy;
  readonly profile: Profile;
  readonly capabilities: Capabilities;
  readonly maxOutputTokens?: number;
  readonly output?: { readonly name: string; readonly schema: JsonObject; readonly strict: boolean };
  /** Sent as they are, where the capabilities allow: temperature, top_p, tool_choice, metadata, verbosity … */
  readonly parameters: JsonObject;
  /** The renderer that made the bodies whose hashes stand in the log; a newer one may differ and says so. */
  readonly renderer: number;
}
