/**
 * The `thinking` parameter: whether the model thinks in this request, what is shown of it, and what happens to thinking
 * whose conversation has changed.
 */

import { isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import type { ModelTraits } from "../../model-traits.ts";
import { ensure, orNull, type Row, rows } from "../../shape/shape-rows.ts";
import type { ClaudeTraits, ThinkingMode } from "../claude-models.ts";
import {
  effortTooHigh,
  fieldRequired,
  modeUnsupported,
  thinkingUnsupported,
  tooSmall,
  unknownTag,
} from "../refusals.ts";
import { BINDING_BETA, UPDATES_BETA } from "../vocabulary.ts";
import { messagesRows } from "./shape-words.ts";

const { field, mustBe, oneOf, only, under } = messagesRows;

export interface Thinking {
  readonly mode: ThinkingMode;
  readonly on: boolean;
  /** Only for `enabled`. */
  readonly budget: number | undefined;
  readonly omitted: boolean;
  /** `block_binding.prefix_mismatch_behavior: "drop_block"`. */
  readonly dropsBlocks: boolean;
}

const fields: Readonly<Record<ThinkingMode, readonly string[]>> = {
  adaptive: ["display"],
  enabled: ["budget_tokens", "display"],
  between_tools: [],
  disabled: [],
};

const minimumBudget = 1024;

export function parseThinking(
  body: JsonObject,
  options: {
    readonly model: string;
    readonly traits: ModelTraits;
    readonly claude: ClaudeTraits;
    readonly betas: readonly string[];
  },
): Thinking | ApiRefusal {
  const { traits, claude } = options;
  const given = body["thinking"];
  if (!isObject(given)) return configOf(traits.reasoning ? claude.usual : "disabled", {}, claude);
  if (given["type"] === undefined) return fieldRequired("thinking.type");
  const mode = stringOf(given["type"]) ?? "";
  if (!isMode(mode)) return unknownTag("thinking", mode, Object.keys(fields));
  if (mode !== "disabled" && !traits.reasoning) return thinkingUnsupported(options.model);
  if (!claude.modes.includes(mode)) return modeUnsupported(mode, claude.modes);
  const effort = stringOf(objectOf(body["output_config"])["effort"]) ?? "";
  if (mode === "between_tools" && (effort === "xhigh" || effort === "max")) return effortTooHigh(effort);
  const controls = options.betas.includes(BINDING_BETA);
  const known = ["type", ...fields[mode], ...(controls && mode !== "between_tools" ? ["block_binding"] : [])];
  return (
    under(mode, only(known), values(mode, options.betas))(given, "thinking") ?? configOf(mode, given, claude)
  );
}

function isMode(mode: string): mode is ThinkingMode {
  return Object.hasOwn(fields, mode);
}

function values(mode: ThinkingMode, betas: readonly string[]): Row<ApiRefusal> {
  const updates = betas.includes(UPDATES_BETA) ? ["updates"] : [];
  const enough = ensure(
    (tokens: number) => tokens >= minimumBudget,
    (path) => tooSmall(path, minimumBudget),
  );
  return rows(
    mode === "enabled" ? field("budget_tokens", mustBe("number"), enough) : rows(),
    field("display", orNull(oneOf(["summarized", "omitted", ...updates]))),
    field("block_binding", field("prefix_mismatch_behavior", orNull(oneOf(["error", "drop_block"])))),
  );
}

function configOf(mode: ThinkingMode, given: JsonObject, { omits }: ClaudeTraits): Thinking {
  const { budget_tokens: budget, display } = given;
  return {
    mode,
    on: mode !== "disabled",
    budget: typeof budget === "number" ? budget : undefined,
    omitted: typeof display === "string" ? display === "omitted" : omits && mode !== "between_tools",
    dropsBlocks: objectOf(given["block_binding"])["prefix_mismatch_behavior"] === "drop_block",
  };
}
