/**
 * Which parameters of our requests the server accepts. A refused parameter is omitted from every later request, so that a
 * missing feature is reported once.
 */

import { OPTIONAL, type Parameter } from "../context.ts";
import { type ProbeRow, probesOf, taken } from "../probe.ts";

const takes = (name: Parameter, title: string, why: string): ProbeRow => ({
  title: `takes ${title}`,
  why,
  run: async (context) =>
    taken(await context.accepts(name), `${JSON.stringify(OPTIONAL[name]).slice(1, -1)} is accepted`),
});

export const REQUEST_PROBES = [
  ...probesOf("responses", {
    "request.store": takes(
      "store",
      "store: false, so that nothing depends on the server's memory",
      "P06, I10",
    ),
    "request.instructions": takes("instructions", "instructions", "§2.1"),
    "request.prompt-cache-key": { ...takes("prompt_cache_key", "prompt_cache_key", "K02"), strict: false },
  }),
  ...probesOf("reasoning", {
    "request.reasoning": takes("reasoning", "reasoning: {summary}", "S07, S08"),
    "request.include": takes("include", "include: reasoning.encrypted_content", "E11, K02"),
  }),
];
