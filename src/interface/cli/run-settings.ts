/**
 * The settings of a run. Flags win over the environment, the project's file and the user's file, in this order.
 * Everything is checked before a session is opened, so that bad input leaves nothing behind.
 */

import {
  isPermissionMode,
  PERMISSION_MODES,
  type PermissionMode,
  type ShowReasoning,
} from "../../base/events/index.ts";
import { codedError, didYouMean, type Given } from "../../base/support/index.ts";
import type { TurnLimits } from "../../runtime/turn/index.ts";
import { type ConfigName, type FileSet, type LoadedConfig, namesIn } from "../config/index.ts";
import { ABOVE_ZERO, wholeNumber } from "./flag-numbers.ts";
import type { RunFlags } from "./run-options.ts";

export interface RunSettings {
  readonly permissions: PermissionMode;
  readonly maxSteps: number | undefined;
  readonly maxCostUsd: number | undefined;
  readonly showReasoning: ShowReasoning;
  readonly tools: string | undefined;
  /** Set if the project names the tools: only these files of it may run. */
  readonly trustedCode: FileSet | undefined;
  readonly allowTools: readonly string[] | undefined;
  /** Rules of the user's own flags, settings and environment. */
  readonly allow: { readonly flags: readonly string[]; readonly settings: readonly string[] };
  /** Whether an untrusted project set these. It may narrow a run, but a limit that cannot be applied must not stop it. */
  readonly fromUntrusted: { readonly allowTools: boolean; readonly maxCostUsd: boolean };
  readonly system: string | undefined;
  readonly projectInstructions: boolean;
}

export function runSettings(flags: RunFlags, loaded: LoadedConfig): RunSettings {
  const { values: config, settings, project } = loaded;
  const fromProject = (name: ConfigName): boolean => settings.get(name)?.layer === "project";
  const untrusted = project?.decision !== "trusted";
  return {
    permissions: permissionMode(flags.permissions) ?? config.permissions ?? "ask",
    maxSteps:
      flags.maxSteps === undefined ? config.maxSteps : wholeNumber("--max-steps", flags.maxSteps, ABOVE_ZERO),
    maxCostUsd: positiveAmount("--max-cost", flags.maxCost) ?? config.maxCostUsd,
    showReasoning: flags.showReasoning ?? config.showReasoning ?? "auto",
    tools: flags.tools ?? config.tools,
    trustedCode: flags.tools === undefined && fromProject("tools") ? project?.code : undefined,
    allowTools: flags.allowTools === undefined ? config.allowTools : namesIn(flags.allowTools),
    allow: { flags: flags.allow ?? [], settings: config.allow ?? [] },
    fromUntrusted: {
      allowTools: untrusted && flags.allowTools === undefined && fromProject("allowTools"),
      maxCostUsd: untrusted && flags.maxCost === undefined && fromProject("maxCostUsd"),
    },
    system: flags.system ?? config.system,
    projectInstructions: flags.projectInstructions !== false && config.projectInstructions !== false,
  };
}

/**
 * The limits of `--max-cost`: for the turn, and for its session. An untrusted project's amount limits only the turn: the
 * price of what its session has used before may be unknown, and a limit that cannot be enforced must not stop a run.
 */
export function costLimits(
  usd: number | undefined,
  fromUntrusted = false,
): Pick<Given<TurnLimits>, "maxCostUsd" | "maxSessionCostUsd"> {
  return { maxCostUsd: usd, maxSessionCostUsd: fromUntrusted ? undefined : usd };
}

function permissionMode(text: string | undefined): PermissionMode | undefined {
  if (text === undefined || isPermissionMode(text)) return text;
  throw codedError(
    "permissions_invalid",
    `--permissions ${text}: use one of ${PERMISSION_MODES.join(", ")}${didYouMean(text, PERMISSION_MODES)}`,
  );
}

function positiveAmount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0 && Number.isFinite(value)) return value;
  throw codedError("number_invalid", `${flag} ${text}: use an amount of USD above 0, like 0.50`);
}
