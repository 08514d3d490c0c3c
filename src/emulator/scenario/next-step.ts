/**
 * Who answers: the next step of the scenario, or the built-in model.
 *
 * @module
 */

import { isObject, objectOf, stringOf } from "../../support/index.ts";
import { type Engine, formatOf, type Judged } from "../engine.ts";
import type { Fault } from "../faults/fault.ts";
import { messageText, outputText } from "../judge/context.ts";
import { refuse, type Refusal } from "../judge/refusal.ts";
import { answer } from "../model/built-in.ts";
import { coveredBy } from "../model/notes.ts";
import type { ModelView, Seen } from "../model/view.ts";
import type { Reply } from "../output/draft.ts";

export interface NextStep {
  readonly reply: Reply;
  readonly faults: readonly Fault[];
}

export function nextStep(engine: Engine, judged: Judged): NextStep | Refusal {
  const view = viewOf(engine, judged);
  const { scenario } = engine.options;
  if (scenario === undefined) return { reply: answer(view), faults: [] };
  if (engine.scenarioStep >= scenario.steps.length && scenario.afterwards === "repeat")
    engine.scenarioStep = 0;
  const step = scenario.steps[engine.scenarioStep];
  const user = view.seen.findLast((one) => one.type === "user");
  if (
    step !== undefined &&
    (step.when === undefined || (user?.type === "user" && user.text.includes(step.when)))
  ) {
    engine.scenarioStep += 1;
    return { reply: step, faults: step.faults };
  }
  if (step === undefined && scenario.afterwards === "error") {
    return refuse({
      rule: "X-scenario",
      status: 500,
      type: "server_error",
      message: `The scenario '${scenario.name}' has no step ${engine.scenarioStep + 1}.`,
      code: "scenario_exhausted",
    });
  }
  return { reply: answer(view), faults: [] };
}

function viewOf(engine: Engine, judged: Judged): ModelView {
  const { request, history } = judged;
  const { body } = request;
  const reasoning = objectOf(body["reasoning"]);
  const effort = stringOf(reasoning["effort"]) ?? "medium";
  // What a compaction item covers is not lost: its notes are in there.
  const known = new Set(
    [...history.usable.values()].flatMap((sealed) => [sealed.id, ...coveredBy(sealed.notes)]),
  );
  const format = formatOf(body);
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
    tools: request.tools,
    toolChoice: isObject(body["tool_choice"]) ? body["tool_choice"] : (body["tool_choice"] ?? "auto"),
    parallel: body["parallel_tool_calls"] !== false,
    reasons: request.traits.reasoning && effort !== "none",
    effort,
    summary: stringOf(reasoning["summary"]) ?? null,
    format,
    lost: engine.ledger
      .reasoningBehind(judged.conversation, judged.context)
      .filter((one) => !known.has(one.sealed.id)).length,
    model: request.model,
  };
}
