/**
 * How a running tool asks the person a question. The function travels with the tool's context under a symbol, so it is
 * not part of the public `ToolContext`, and survives a copy of it.
 */

import type { Elicitation, ElicitationAnswer } from "../../base/events/index.ts";
import type { ToolContext } from "./tool.ts";

/**
 * Asks a person and resolves to the answer. Rejects only if the log cannot record the question. Nobody there to ask, a
 * stopped turn and a question that must not be shown all have an answer: `decline` or `cancel`.
 */
export type Elicit = (request: Elicitation) => Promise<ElicitationAnswer>;

/** Registered, because a tools file may load another copy of the package than the command line. */
const ELICIT = Symbol.for("throughline.elicit/1");

/** Adds the function to a tool's context. */
export function withElicit(context: ToolContext, elicit: Elicit): ToolContext {
  return { ...context, [ELICIT]: elicit } as ToolContext;
}

/** Returns the function that asks the person. Undefined if the tool was not run by a session. */
export function elicitFrom(context: ToolContext): Elicit | undefined {
  return (context as { readonly [ELICIT]?: Elicit })[ELICIT];
}
