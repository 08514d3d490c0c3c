/**
 * The `thinking` parameter: whether the model thinks in this request, what of it is shown, and what happens to thinking
 * whose conversation has changed.
 */

import { isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import type { ModelTraits } from "../../model-traits.ts";
import { ensure, orNull, type Row, rows } from "../../shape/shape-rows.ts";
import { fieldRequired, thinkingUnsupported, tooSmall, unknownTag } from "../refusals.ts";
import { BINDING_BETA } from "../vocabulary.ts";
import { messagesRows } from "./shape-words.ts";

const { field, mustBe, oneOf, only, under } = messagesRows;

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
): Thinking | ApiRefusal {
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
  return under(mode, only(known), values(mode))(given, "thinking") ?? configOf(mode, given);
}

function isMode(mode: string): mode is Thinking["mode"] {
  return Object.hasOwn(fields, mode);
}

function values(mode: Thinking["mode"]): Row<ApiRefusal> {
  const enough = ensure(
    (tokens: number) => tokens >= minimumBudget,
    (path) => tooSmall(path, minimumBudget),
  );
  return rows(
    mode === "enabled" ? field("budget_tokens", mustBe("number"), enough) : rows(),
    field("display", orNull(oneOf(["summarized", "omitted"]))),
    field("block_binding", field("prefix_mismatch_behavior", orNull(oneOf(["error", "drop_block"])))),
  );
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
