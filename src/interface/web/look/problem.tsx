/** Shows an error and announces it; shows nothing if there is none. */

import type { ShownProblem } from "../use-problem.ts";

export function Problem({ problem }: { readonly problem: ShownProblem | undefined }) {
  if (problem === undefined) return null;
  return (
    <p class={problem.isCalm ? "problem calm" : "problem"} role={problem.isCalm ? "status" : "alert"}>
      {problem.text}
    </p>
  );
}
