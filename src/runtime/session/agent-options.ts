/** Programmer errors throw at once, with a code and advice, instead of failing a turn later. */

import type { Input } from "../../base/api/index.ts";
import {
  checkArgument,
  checkOptions,
  codedError,
  isBase64Text,
  isObject,
  type ThroughlineError,
} from "../../base/support/index.ts";
import type { TurnLimits } from "../turn/index.ts";
import { AGENT_OPTIONS, LOCAL_OPTIONS } from "./option-checks.ts";
import type { AgentOptions, SendOptions } from "./types.ts";

export function assertAgentOptions(options: AgentOptions): void {
  const given: unknown = options;
  checkOptions("createAgent", given, AGENT_OPTIONS);
  const { model, fallback, limits } = options;
  checkArgument("createAgent", "model", model, AGENT_OPTIONS.model);
  assertAllow(options);
  const costLimit = COST_LIMITS.find((name) => limits?.[name] !== undefined);
  const unpriced = [model, ...(fallback ?? [])].find(({ price }) => price === undefined);
  if (costLimit !== undefined && unpriced !== undefined) {
    throw codedError(
      "price_unknown",
      `the price of ${unpriced.label} is not known, so ${costLimit} cannot be enforced. Omit the limit, or give the model a price (its option price, or prices in the settings)`,
    );
  }
}

const COST_LIMITS = ["maxCostUsd", "maxSessionCostUsd"] as const satisfies readonly (keyof TurnLimits)[];

/** Throws `options_invalid` for options that a method of a local session does not have. */
export function assertMethodOptions(method: keyof typeof LOCAL_OPTIONS, given: unknown): void {
  checkOptions(method, given, LOCAL_OPTIONS[method]);
}

/** A rule that cannot apply would look like one that does. */
function assertAllow({ allow = [], permissions = "read-only" }: AgentOptions): void {
  if (allow.length === 0 || permissions === "ask" || permissions === "auto") return;
  const mode = typeof permissions === "function" ? "a function" : JSON.stringify(permissions);
  throw codedError(
    "options_invalid",
    `createAgent: allow needs permissions: "ask", because nothing is asked while permissions is ${mode}`,
  );
}

export function assertInput(input: Input): void {
  const given: unknown = input;
  if (typeof given !== "string" && !Array.isArray(given)) {
    throw badInput("the input must be a string or an array of parts");
  }
  const parts: readonly unknown[] = typeof given === "string" ? [{ type: "text", text: given }] : given;
  for (const part of parts) assertPart(part);
  const empty = parts.every(
    (part) => isObject(part) && part["type"] === "text" && String(part["text"]).trim() === "",
  );
  if (empty) {
    throw codedError("input_empty", "there is nothing to send: the input is empty");
  }
}

/** A message that joins a running turn is answered with that turn's model and format. */
export function assertSteers(options: SendOptions): void {
  const given = (["model", "effort", "output"] as const).filter((name) => options[name] !== undefined);
  if (given.length === 0) return;
  throw codedError(
    "steer_invalid",
    `whenBusy: "steer" cannot be combined with ${given.join(" and ")}: the message joins a turn that runs with its own. Omit ${given.length === 1 ? "it" : "them"}, or use whenBusy: "queue"`,
  );
}

function assertPart(part: unknown): void {
  if (!isObject(part)) throw badInput("a part of the input is not an object");
  const { type, text, url, mediaType, data, blob, name } = part;
  if (type === "text") {
    if (typeof text !== "string") throw badInput("a text part has no text");
    return;
  }
  if (type !== "image" && type !== "file")
    throw badInput(`a part has the type ${JSON.stringify(type)}: use text, image or file`);
  if (type === "image" && typeof url === "string") return;
  if (typeof mediaType !== "string" || !/^[\w.+-]+\/[\w.+-]+$/.test(mediaType)) {
    throw badInput(`${type}: mediaType must look like image/png`);
  }
  if (type === "file" && typeof name !== "string") throw badInput("file: name is missing");
  if (typeof blob === "string") return;
  if (typeof data !== "string" || !isBase64Text(data)) throw badInput(`${type}: data must be base64`);
}

function badInput(message: string): ThroughlineError {
  return codedError("input_invalid", message);
}
