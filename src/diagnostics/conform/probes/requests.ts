/**
 * Which parameters of our requests the server takes. What is refused here is left out of every later request, so that
 * one missing feature is reported once.
 */

import { OPTIONAL, type Parameter } from "../context.ts";
import { type Probe, taken } from "../probe.ts";

function parameter(name: Parameter, details: Pick<Probe, "suite" | "title" | "why" | "strict">): Probe {
  return {
    id: `request.${name.replaceAll("_", "-")}`,
    ...details,
    async run(context) {
      const sent = JSON.stringify(OPTIONAL[name]).slice(1, -1);
      return taken(await context.accepts(name), `${sent} is accepted`);
    },
  };
}

export const REQUEST_PROBES: readonly Probe[] = [
  parameter("store", {
    suite: "responses",
    strict: true,
    title: "takes store: false, so that nothing depends on the server's memory",
    why: "P06, I10",
  }),
  parameter("instructions", { suite: "responses", strict: true, title: "takes instructions", why: "§2.1" }),
  parameter("prompt_cache_key", {
    suite: "responses",
    strict: false,
    title: "takes prompt_cache_key",
    why: "K02",
  }),
  parameter("reasoning", {
    suite: "reasoning",
    strict: true,
    title: "takes reasoning: {summary}",
    why: "S07, S08",
  }),
  parameter("include", {
    suite: "reasoning",
    strict: true,
    title: "takes include: reasoning.encrypted_content",
    why: "E11, K02",
  }),
];
