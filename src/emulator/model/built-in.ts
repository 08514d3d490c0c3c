/**
 * The built-in model: deterministic, with the same answer to the same request. It uses the first recipe that matches
 * the user's text, and otherwise makes small talk. It never claims to be a real model.
 */

import type { Reply } from "../output/draft.ts";
import { forcedTool, structuredAnswer } from "./obligations.ts";
import { recipes } from "./recipes.ts";
import { smallTalk } from "./small-talk.ts";
import { type Step, toDrafts } from "./step.ts";
import { turnOf } from "./turn.ts";
import type { ModelView } from "./view.ts";

export function answer(view: ModelView): Reply {
  const turn = turnOf(view);
  const forced = forcedTool(turn);
  if (forced !== undefined) return { output: toDrafts(turn, forced) };
  let step: Step | undefined;
  for (const recipe of recipes) {
    step = recipe.wants(turn) ? recipe.next(turn) : undefined;
    if (step !== undefined) break;
  }
  step ??= smallTalk(turn);
  return { output: toDrafts(turn, structuredAnswer(turn, step) ?? step) };
}
