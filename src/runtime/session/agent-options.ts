/** Programmer errors throw at once, with a code and advice, instead of failing a turn later. */

import type { Input } from "../../base/api/index.ts";
import { isPermissionMode, PERMISSION_MODES } from "../../base/events/index.ts";
import { codedError, isObject, type ThroughlineError } from "../../base/support/index.ts";
import type { TurnLimits } from "../turn/index.ts";
import type { AgentOptions } from "./types.ts";

export function assertAgentOptions(options: AgentOptions): void {
  const given: unknown = options;
  if (!isObject(given)) throw invalid("createAgent needs an options object with a model");
  const { model, permissions, limits, tools } = given;
  if (typeof model === "string") throw invalid(`model is a string: use modelFrom(${JSON.stringify(model)})`);
  if (!isObject(model) || typeof model["send"] !== "function" || !isObject(model["settings"])) {
    throw invalid("model is missing or is not a model: use openai(…), emulator() or modelFrom(…)");
  }
  if (permissions !== undefined && typeof permissions !== "function" && !isPermissionMode(permissions)) {
    throw invalid(
      `permissions is ${JSON.stringify(permissions)}: use ${PERMISSION_MODES.join(", ")} or a function`,
    );
  }
  for (const [name, value] of Object.entries(isObject(limits) ? limits : {})) {
    if (value === undefined) continue;
    const least = name === "maxRetries" || name === "toolGraceMs" ? 0 : 1;
    const fits = typeof value === "number" && (isCost(name) ? value > 0 : value >= least);
    if (!fits) {
      const range = isCost(name) ? "above 0" : `${least} or more`;
      throw invalid(`limits.${name} is ${JSON.stringify(value)}: use a number, ${range}`);
    }
  }
  const costLimit = COST_LIMITS.find((name) => isObject(limits) && limits[name] !== undefined);
  if (costLimit !== undefined && model["price"] === undefined) {
    throw codedError(
      "price_unknown",
      `the price of ${String(model["label"])} is not known, so ${costLimit} cannot be enforced. Omit the limit, or give the model a price`,
    );
  }
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isTool))) {
    throw invalid("tools must be an array of tools made with tool(…)");
  }
}

const COST_LIMITS = ["maxCostUsd", "maxSessionCostUsd"] as const satisfies readonly (keyof TurnLimits)[];

function isCost(name: string): boolean {
  return COST_LIMITS.some((one) => one === name);
}

function isTool(value: unknown): boolean {
  return isObject(value) && typeof value["validate"] === "function" && typeof value["run"] === "function";
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
  if (typeof data !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    throw badInput(`${type}: data must be base64`);
}

function badInput(message: string): ThroughlineError {
  return codedError("input_invalid", message);
}

function invalid(message: string): ThroughlineError {
  return codedError("options_invalid", message);
}
