/** A Responses request as the model sees it. */

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../base/support/index.ts";
import type { Engine } from "../engine.ts";
import { coveredBy } from "../model/notes.ts";
import type { ModelView, Seen } from "../model/view.ts";
import { cluePositions } from "./clues.ts";
import { formatOf, type Judged } from "./judge-request.ts";
import { messageText, outputText } from "./judge/context.ts";

export function viewOf(engine: Engine, judged: Judged): ModelView {
  const { request, history } = judged;
  const { body } = request;
  const reasoning = objectOf(body["reasoning"]);
  const updates = judged.context.filter(({ type }) => type === "configuration_update");
  const lastOf = (of: (item: JsonObject) => unknown): unknown =>
    updates.map(({ item }) => of(item)).findLast((value) => value !== undefined && value !== null);
  const effort =
    stringOf(lastOf((item) => objectOf(item["reasoning"])["effort"])) ??
    stringOf(reasoning["effort"]) ??
    "medium";
  // Reasoning covered by a compaction item is not lost: the item contains its notes.
  const known = new Set(
    [...history.usable.values()].flatMap((sealed) => [sealed.id, ...coveredBy(sealed.notes)]),
  );
  const updated = lastOf((item) => objectOf(item["text"])["format"]);
  const format = isObject(updated) ? updated : formatOf(body);
  return {
    seen: judged.context.map((one, position): Seen => {
      const { item, type } = one;
      switch (type) {
        case "message": {
          const text = messageText(item);
          if (item["role"] === "assistant") return { type: "assistant", text };
          return item["role"] === "user" ? { type: "user", text } : { type: "system", text };
        }
        case "function_call":
        case "custom_tool_call":
          return {
            type: "call",
            callId: one.callId ?? "",
            name: stringOf(item["name"]) ?? "",
            arguments: stringOf(item["arguments"]) ?? stringOf(item["input"]) ?? "",
          };
        case "function_call_output":
        case "custom_tool_call_output":
          return { type: "result", callId: one.callId ?? "", text: outputText(item["output"]) };
        case "reasoning":
        case "compaction": {
          const sealed = history.usable.get(position);
          return sealed === undefined
            ? { type: "other", itemType: type }
            : { type: "notes", text: sealed.notes };
        }
        default:
          return { type: "other", itemType: type };
      }
    }),
    instructions: stringOf(body["instructions"]) ?? "",
    tools: visibleTools(judged),
    toolChoice: isObject(body["tool_choice"]) ? body["tool_choice"] : (body["tool_choice"] ?? "auto"),
    parallel: body["parallel_tool_calls"] !== false,
    reasons: request.traits.reasoning && effort !== "none",
    effort,
    summary: stringOf(reasoning["summary"]) ?? null,
    format,
    lost: engine.issued
      .reasoningBehind(judged.conversation, cluePositions(judged.context))
      .filter((one) => !known.has(one.id)).length,
    model: request.model,
  };
}

/**
 * Tools that were declared, added by items or found by a search; a group's tools carry its name. Deferred tools wait
 * for a search.
 */
function visibleTools({ request, context }: Judged): readonly JsonObject[] {
  const declared = flat(request.tools).filter((tool) => tool["defer_loading"] !== true);
  const later = context
    .filter(({ type }) => type === "additional_tools" || type === "tool_search_output")
    .flatMap(({ item }) => flat(arrayOf(item["tools"]).map(objectOf)));
  return [...declared, ...later];
}

function flat(tools: readonly JsonObject[]): readonly JsonObject[] {
  return tools.flatMap((tool) => {
    if (tool["type"] !== "namespace") return [tool];
    return arrayOf(tool["tools"]).map((inner) => ({ ...objectOf(inner), namespace: tool["name"] }));
  });
}
