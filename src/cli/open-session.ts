/**
 * From flags to an open session: folder, model, tools, permissions.
 *
 * @module
 */

import { statSync } from "node:fs";

import { sessionsFolder } from "../config/index.ts";
import type { Settings } from "../events/index.ts";
import { fileStore, type Store } from "../log/index.ts";
import { modelFrom } from "../models/index.ts";
import type { Model } from "../providers/index.ts";
import { createAgent, type Session } from "../session/index.ts";
import { ThroughlineError } from "../support/index.ts";
import { builtinTools, type PermissionMode, type Tool } from "../tools/index.ts";
import { chooseSession } from "./choose-session.ts";
import { inertLine } from "./inert-text.ts";
import { loadTools } from "./load-tools.ts";
import type { Terminal } from "./terminal.ts";
import { startTracing, type TraceFlags } from "./tracing.ts";

export interface RunFlags extends TraceFlags {
  readonly print?: boolean;
  readonly json?: boolean;
  readonly continue?: boolean;
  readonly resume?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly tools?: string;
  readonly allowTools?: string;
  readonly permissions?: string;
  readonly maxSteps?: string;
  readonly system?: string;
  readonly directory?: string;
  readonly playback?: string;
  readonly fast?: boolean;
  readonly strict?: boolean;
}

const PERMISSION_MODES: readonly PermissionMode[] = ["ask", "auto", "read-only", "deny"];
const DEFAULT_OPENAI_MODEL = "openai/gpt-5.6";
const EMULATOR_MODEL = "emulator/emu-reasoner";

export interface Opened {
  readonly session: Session;
  readonly model: Model;
}

export async function openSession(
  flags: RunFlags,
  options: { readonly canAsk: boolean; readonly tools?: readonly Tool[]; readonly terminal: Terminal },
): Promise<Opened> {
  enterDirectory(flags.directory);
  const cwd = process.cwd();
  const store = fileStore(sessionsFolder());
  const permissions = permissionMode(flags.permissions);
  const maxSteps = positiveInteger("--max-steps", flags.maxSteps);
  const choice = { continueLast: flags.continue === true, id: flags.resume };
  const id = await chooseSession(store, choice, cwd, (text) => {
    options.terminal.stderr.write(`throughline: ${inertLine(text, 500)}\n`);
  });
  const model = await chooseModel(flags, store, id);
  const tools = await chooseTools(flags, cwd, options.tools ?? []);
  const { canAsk } = options;
  const traced = { permissions, canAsk, maxSteps, tools, secrets: () => model.secrets() };
  const tracing = startTracing(flags, store, traced, options.terminal);
  const agent = createAgent({
    ...tracing.agent,
    model,
    tools,
    ...(flags.system === undefined ? {} : { system: flags.system }),
    permissions,
    canAsk,
    limits: maxSteps === undefined ? {} : { maxSteps },
    cwd,
  });
  return { session: await agent.open({ store: tracing.store, ...(id === undefined ? {} : { id }) }), model };
}

function enterDirectory(directory: string | undefined): void {
  if (directory === undefined) return;
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new ThroughlineError({
      code: "directory_not_found",
      message: `-C ${directory}: there is no such directory`,
    });
  }
  process.chdir(directory);
}

async function chooseTools(flags: RunFlags, cwd: string, extra: readonly Tool[]): Promise<readonly Tool[]> {
  const own = flags.tools === undefined ? [] : await loadTools(flags.tools);
  const names = new Set(own.map(({ name }) => name));
  const all = [...own, ...[...extra, ...builtinTools({ cwd })].filter(({ name }) => !names.has(name))];
  if (flags.allowTools === undefined) return all;
  const allowed = flags.allowTools
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = allowed.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length > 0) {
    throw new ThroughlineError({
      code: "tool_unknown",
      message: `--allow-tools: there is no tool ${unknown.join(", ")}; available are ${all.map(({ name }) => name).join(", ")}`,
    });
  }
  return all.filter(({ name }) => allowed.includes(name));
}

function permissionMode(text: string | undefined): PermissionMode {
  const mode = PERMISSION_MODES.find((one) => one === (text ?? "ask"));
  if (mode !== undefined) return mode;
  throw new ThroughlineError({
    code: "permissions_invalid",
    message: `--permissions ${text}: use one of ${PERMISSION_MODES.join(", ")}`,
  });
}

function positiveInteger(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new ThroughlineError({
    code: "number_invalid",
    message: `${flag} ${text}: use a whole number above 0`,
  });
}

/** flag > environment > the session's own > a real model if there is a key > the emulator. */
async function chooseModel(flags: RunFlags, store: Store, id: string | undefined): Promise<Model> {
  const named = flags.model ?? environment("THROUGHLINE_MODEL");
  const kept = id === undefined ? undefined : await lastSettings(store, id);
  const name =
    named ??
    (kept === undefined ? undefined : modelName(kept)) ??
    (environment("OPENAI_API_KEY") === undefined ? EMULATOR_MODEL : DEFAULT_OPENAI_MODEL);
  const model = modelFrom(name);
  return flags.effort === undefined ? model : model.withEffort(flags.effort);
}

/** Empty is as good as unset. */
function environment(name: string): string | undefined {
  const value = process.env[name];
  return value === "" ? undefined : value;
}

async function lastSettings(store: Store, id: string): Promise<Settings | undefined> {
  const log = await store.open(id, { mode: "read" });
  const settings = log.events.findLast((event) => event.type === "settings")?.settings;
  await log.close();
  return settings;
}

function modelName({ target, effort }: Settings): string {
  return `${target.provider}/${target.model}${effort === undefined ? "" : `:${effort}`}`;
}
