/**
 * The `thinking` parameter: whether the model thinks in this request, what of it is shown, and what happens to thinking
 * whose conversation has changed.
 *
 * @module
 */

import { isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import type { ModelTraits } from "../../model-traits.ts";
import type { Refusal } from "../../refusal.ts";
import {
  extraInput,
  fieldRequired,
  thinkingUnsupported,
  tooSmall,
  unexpectedValue,
  unknownTag,
} from "../refusals.ts";
import { BINDING_BETA } from "../vocabulary.ts";

export interface Thinking {
  readonly mode: "adaptive" | "enabled" | "between_tools" | "disabled";
  readonly on: boolean;
  /** Only of `enabled`. */
  readonly budget: number | undefined;
  readonly omitted: boolean;
  /** `block_binding.prefix_mismatch_behavior: "drop_block"`. */
  readonly dropsBlocks: boolean;
}

const fields: Readonly<Record<Thinking["mode"], readonly string[]>> = {
  adaptive: ["display"],
  enabled: ["budget_tokens", "display"],
  between_tools: [],
  disabled: [],
};

const minimumBudget = 1024;

export function parseThinking(
  body: JsonObject,
  options: { readonly model: string; readonly traits: ModelTraits; readonly betas: readonly string[] },
): Thinking | Refusal {
  const { traits } = options;
  const given = body["thinking"];
  // Models that preserve thinking think adaptively unless told otherwise (docs, preserved thinking).
  const usual = traits.reasoning && traits.prefixBound ? "adaptive" : "disabled";
  if (!isObject(given)) return configOf(usual, {});
  if (given["type"] === undefined) return fieldRequired("thinking.type");
  const mode = stringOf(given["type"]) ?? "";
  if (!isMode(mode)) return unknownTag("thinking", mode, Object.keys(fields));
  if (mode !== "disabled" && !traits.reasoning) return thinkingUnsupported(options.model);
  const controls = options.betas.includes(BINDING_BETA);
  const known = ["type", ...fields[mode], ...(controls ? ["block_binding"] : [])];
  const extra = Object.keys(given).find((name) => !known.includes(name));
  if (extra !== undefined) return extraInput(`thinking.${mode}.${extra}`);
  return checkValues(given, mode) ?? configOf(mode, given);
}

function isMode(mode: string): mode is Thinking["mode"] {
  return Object.hasOwn(fields, mode);
}

function checkValues(given: JsonObject, mode: Thinking["mode"]): Refusal | undefined {
  const { budget_tokens: budget, display } = given;
  if (mode === "enabled") {
    if (typeof budget !== "number") return fieldRequired("thinking.enabled.budget_tokens");
    if (budget < minimumBudget) return tooSmall("thinking.enabled.budget_tokens", minimumBudget);
  }
  const displays = ["summarized", "omitted"];
  if (display !== undefined && display !== null && !displays.includes(stringOf(display) ?? ""))
    return unexpectedValue(`thinking.${mode}.display`, displays);
  const behaviour = objectOf(given["block_binding"])["prefix_mismatch_behavior"];
  const behaviours = ["error", "drop_block"];
  if (behaviour !== undefined && behaviour !== null && !behaviours.includes(stringOf(behaviour) ?? ""))
    return unexpectedValue(`thinking.${mode}.block_binding.prefix_mismatch_behavior`, behaviours);
  return undefined;
}

function configOf(mode: Thinking["mode"], given: JsonObject): Thinking {
  const { budget_tokens: budget, display } = given;
  return {
    mode,
    on: mode !== "disabled",
    budget: typeof budget === "number" ? budget : undefined,
    omitted: display === "omitted",
    dropsBlocks: objectOf(given["block_binding"])["prefix_mismatch_behavior"] === "drop_block",
  };
}
