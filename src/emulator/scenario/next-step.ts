/** Chooses who answers: the next step of the scenario, or the built-in model. */

import { refuse, type ApiRefusal } from "../api-refusal.ts";
import type { Engine } from "../engine.ts";
import type { Fault } from "../faults/fault.ts";
import type { DialectName } from "../model-traits.ts";
import { answer } from "../model/built-in.ts";
import type { ModelView } from "../model/view.ts";
import type { Reply } from "../output/draft.ts";

export interface NextStep {
  readonly reply: Reply;
  readonly faults: readonly Fault[];
}

export function nextStep(engine: Engine, dialect: DialectName, view: ModelView): NextStep | ApiRefusal {
  const { scenario } = engine.options;
  const mine = scenario?.dialect === undefined || scenario.dialect === dialect;
  if (scenario === undefined || !mine) return { reply: answer(view), faults: [] };
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
