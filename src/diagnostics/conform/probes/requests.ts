/**
 * Which parameters of our requests the server takes. What is refused here is left out of every later request, so that
 * one missing feature is reported once.
 *
 * @module
 */

import { OPTIONAL, type Parameter } from "../context.ts";
import { differs, holds, type Probe } from "../probe.ts";
import { describe } from "../reception.ts";

function parameter(name: Parameter, details: Pick<Probe, "suite" | "title" | "why" | "strict">): Probe {
  return {
    id: `request.${name.replaceAll("_", "-")}`,
    ...details,
    async run(context) {
      const reception = await context.accepts(name);
      if (reception.accepted) return holds("accepted", { accepted: true });
      const sent = JSON.stringify(OPTIONAL[name]).slice(1, -1);
      return differs(`${sent} is accepted`, `refused: ${describe(reception.refusal)}`, { accepted: false });
    },
  };
}

export const REQUEST_PROBES: readonly Probe[] = [
  parameter("store", {
    suite: "responses",
    title: "takes store: false, so that nothing depends on the server's memory",
    why: "P06, I10",
    strict: true,
  }),
  parameter("instructions", {
    suite: "responses",
    title: "takes instructions",
    why: "§2.1",
    strict: true,
  }),
  parameter("prompt_cache_key", {
    suite: "responses",
    title: "takes prompt_cache_key",
    why: "K02",
    strict: false,
  }),
  parameter("reasoning", {
    suite: "reasoning",
    title: "takes reasoning: {summary}",
    why: "S07, S08",
    strict: true,
  }),
  parameter("include", {
    suite: "reasoning",
    title: "takes include: reasoning.encrypted_content",
    why: "E11, K02",
    strict: true,
  }),
];
