/** Strict mode: a request that lost something, or breaks a rule, is refused as its dialect refuses. */

import type { Dialect } from "../../base/events/index.ts";
import { checkHistory } from "../../diagnostics/check/index.ts";
import { type Body, fromWire, type Restored } from "../restore/index.ts";

export interface StrictFinding {
  readonly message: string;
  /** The body of the answer. */
  readonly text: string;
}

const FORMATS = {
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "openai-chat": "chat",
} as const;

export function strictFinding(
  body: Body,
  { decisions }: Restored,
  vendor: string | undefined,
): StrictFinding | undefined {
  const lost = decisions.find(({ what }) => what === "put back" || what === "replaced");
  if (lost !== undefined)
    return finding(
      body.dialect,
      `${lost.where}: ${lost.what === "replaced" ? "the client changed" : "the client lost"} ${lost.thoughts} thought${lost.thoughts === 1 ? "" : "s"} of this answer (exchange ${lost.group ?? ""})`,
    );
  const [broken] = checkHistory(fromWire(body.text), { format: FORMATS[body.dialect], vendor }).findings;
  return broken === undefined
    ? undefined
    : finding(body.dialect, `${broken.location}: ${broken.message} (${broken.rule}: ${broken.todo})`);
}

function finding(dialect: Dialect, message: string): StrictFinding {
  const error = { message, type: "invalid_request_error", param: null, code: "throughline_strict" };
  const value =
    dialect === "anthropic-messages"
      ? { type: "error", error: { type: "invalid_request_error", message, code: "throughline_strict" } }
      : { error };
  return { message, text: JSON.stringify(value) };
}
