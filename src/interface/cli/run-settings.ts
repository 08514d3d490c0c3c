/**
 * What a run is done with: flags over the environment over the project's file over the user's. Everything is checked
 * before a session is opened, so that bad input leaves nothing behind.
 *
 * @module
 */

import { codedError } from "../../base/support/index.ts";
import type { PermissionMode } from "../../runtime/tools/index.ts";
import { type ConfigValues, PERMISSION_CHOICES } from "../config/index.ts";
import type { RunFlags, ShowReasoning } from "./run-options.ts";

export interface RunSettings {
  readonly permissions: PermissionMode;
  readonly maxSteps: number | undefined;
  readonly maxCostUsd: number | undefined;
  readonly showReasoning: ShowReasoning;
  readonly tools: string | undefined;
  readonly allowTools: readonly string[] | undefined;
  readonly system: string | undefined;
  readonly projectInstructions: boolean;
}

export function runSettings(flags: RunFlags, config: ConfigValues): RunSettings {
  return {
    permissions:
      choice("--permissions", flags.permissions, PERMISSION_CHOICES, "permissions_invalid") ??
      (config.permissions as PermissionMode | undefined) ??
      "ask",
    maxSteps: positiveInteger("--max-steps", flags.maxSteps) ?? config.maxSteps,
    maxCostUsd: positiveAmount("--max-cost", flags.maxCost) ?? config.maxCostUsd,
    showReasoning: flags.showReasoning ?? config.showReasoning ?? "auto",
    tools: flags.tools ?? config.tools,
    allowTools: flags.allowTools === undefined ? config.allowTools : namesOf(flags.allowTools),
    system: flags.system ?? config.system,
    projectInstructions: flags.projectInstructions !== false && config.projectInstructions !== false,
  };
}

function choice<T extends string>(
  flag: string,
  text: string | undefined,
  values: readonly T[],
  code: string,
): T | undefined {
  if (text === undefined) return undefined;
  const found = values.find((one) => one === text);
  if (found !== undefined) return found;
  throw codedError(code, `${flag} ${text}: use one of ${values.join(", ")}`);
}

export function positiveInteger(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw codedError("number_invalid", `${flag} ${text}: use a whole number above 0`);
}

function positiveAmount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0 && Number.isFinite(value)) return value;
  throw codedError("number_invalid", `${flag} ${text}: use an amount of USD above 0, like 0.50`);
}

function namesOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
