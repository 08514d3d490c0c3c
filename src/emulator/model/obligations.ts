/**
 * The demands of a request, independent of the user's text: a forced tool (`tool_choice`), or an answer in a JSON
 * schema.
 */

import { isObject, type JsonObject, stringOf } from "../../base/support/index.ts";
import { hintsFrom } from "./arguments.ts";
import { type Hint, valueFor } from "./schema-value.ts";
import type { Step } from "./step.ts";
import { shortly, type Turn } from "./turn.ts";

/** `tool_choice: "required"` or a named tool: one call, unless this turn has already made it. */
export function forcedTool(turn: Turn): Step | undefined {
  const { toolChoice, tools } = turn.view;
  const named = isObject(toolChoice) ? stringOf(toolChoice["name"]) : undefined;
  if (toolChoice !== "required" && named === undefined) return undefined;
  if (turn.calls.some((call) => named === undefined || call.name === named)) {
    // A client that keeps forcing would never get an answer; real models loop here, this one does not.
    return undefined;
  }
  const tool = tools.find((one) => (named === undefined ? one["name"] !== undefined : one["name"] === named));
  return tool === undefined ? undefined : callOf(turn, tool, "The request says that I must use a tool.");
}

/** A call of a tool the model has no recipe for: arguments from its schema, with hints from the user's text. */
export function callOf(turn: Turn, tool: JsonObject, why: string): Step {
  const name = stringOf(tool["name"]) ?? "";
  const think = { think: [[`Using ${name}`, why] as const] };
  if (tool["type"] === "custom")
    return { parts: [think, { custom: name, input: customInput(tool, turn.text) }] };
  const value = valueFor(tool["parameters"] ?? { type: "object" }, hintsFrom(turn.text));
  return { parts: [think, { call: name, with: isObject(value) ? value : {} }] };
}

function customInput(tool: JsonObject, text: string): string {
  const format = tool["format"];
  const definition = isObject(format) ? (stringOf(format["definition"]) ?? "") : "";
  // Text in backticks is taken literally: a script, a patch.
  return /select/i.test(definition) ? "SELECT 1" : (/`([^`]+)`/.exec(text)?.[1] ?? text);
}

/** With `text.format` the final answer is JSON only; steps that call tools are unchanged. */
export function structuredAnswer(turn: Turn, step: Step): Step | undefined {
  const { format } = turn.view;
  if (format["type"] !== "json_schema" && format["type"] !== "json_object") return undefined;
  const said = step.parts.find((part) => "say" in part);
  if (said === undefined || !("say" in said)) return undefined;
  const hints = hintsFrom(turn.text);
  const results = turn.calls.flatMap((call) => (call.result === undefined ? [] : [call.result]));
  const hint: Hint = (name) => {
    const talks = /text|content|message|answer|summary|result|description/.test(name.toLowerCase());
    return talks ? shortly(results.at(-1) ?? said.say, 120) : hints(name);
  };
  const value =
    format["type"] === "json_schema"
      ? valueFor(format["schema"], hint)
      : { emulator: "throughline", answer: said.say };
  const thoughts = step.parts.filter((part) => "think" in part);
  return { ...step, parts: [...thoughts, { exactly: JSON.stringify(value) }] };
}
