/**
 * From flags to an open session: folder, settings, model, tools, permissions, the project's instructions. Everything
 * that can be wrong is found before anything is written.
 */

import { statSync } from "node:fs";
import { relative } from "node:path";

import { codedError, codeOf } from "../../base/support/index.ts";
import type { CostOf } from "../../runtime/facts/index.ts";
import { fileStore, memoryStore } from "../../runtime/log/index.ts";
import type { Model } from "../../runtime/providers/index.ts";
import { createAgent, readFacts, type Session } from "../../runtime/session/index.ts";
import { builtinTools, type Tool } from "../../runtime/tools/index.ts";
import type { WireRecord } from "../../runtime/turn/index.ts";
import { type ProjectInstructions, readProjectInstructions, sessionsFolder } from "../config/index.ts";
import { chooseModel, requireKey } from "./choose-model.ts";
import { chooseSession } from "./choose-session.ts";
import { costsWith } from "./cost.ts";
import { previewLines } from "./debug-preview.ts";
import { inertLine } from "./inert-text.ts";
import { loadTools } from "./load-tools.ts";
import { AnswerFile } from "./output-files.ts";
import { settingsWithTrust, tellProblem } from "./project-trust.ts";
import type { RunFlags } from "./run-options.ts";
import { type RunSettings, runSettings } from "./run-settings.ts";
import { say, type Terminal } from "./terminal.ts";
import { startTracing } from "./tracing.ts";
import { headerSecrets, modelsOf } from "./user-providers.ts";

export type { RunFlags } from "./run-options.ts";

export interface Opened {
  readonly session: Session;
  readonly model: Model;
  readonly settings: RunSettings;
  readonly costOf: CostOf;
  /** The project's instructions that are part of every request: their file. */
  readonly instructions: string | undefined;
}

export interface OpenOptions {
  readonly interactive: boolean;
  readonly tools?: readonly Tool[];
  readonly terminal: Terminal;
  /** Nothing will be asked of a model: no key is needed, no instructions are read. */
  readonly offline?: boolean;
  /** A session that another process writes is opened to read instead of refused. */
  readonly attach?: boolean;
}

export async function openSession(flags: RunFlags, options: OpenOptions): Promise<Opened> {
  const { terminal, interactive } = options;
  enterDirectory(flags.directory);
  const cwd = process.cwd();
  const config = await settingsWithTrust(cwd, flags, terminal);
  const settings = runSettings(flags, config);
  const { permissions, maxSteps } = settings;
  if (flags.output !== undefined) void new AnswerFile(flags.output); // refuses what cannot be written
  const store = flags.ephemeral === true ? memoryStore() : fileStore(sessionsFolder());
  const choice = { continueLast: flags.continue === true, id: flags.resume };
  const id = await chooseSession(store, choice, cwd, (text) => say(terminal, text));
  const kept = id === undefined ? undefined : (await readFacts(store, id)).settings;
  const modelFrom = modelsOf(config.values);
  const model = chooseModel({ flags, config, modelFrom, kept });
  if (options.offline !== true) requireKey(model, config.values);
  const maxCostUsd = heldCost(settings, model, terminal);
  const tools = await chooseTools(settings, cwd, options.tools ?? []);
  const { found, problem } =
    settings.projectInstructions && options.offline !== true ? readProjectInstructions(cwd) : NO_INSTRUCTIONS;
  if (problem !== undefined) tellProblem(problem, terminal);
  const system = systemText(settings.system, found, cwd);
  const secrets = headerSecrets(config.values);
  const traced = {
    permissions,
    interactive,
    maxSteps,
    maxCostUsd,
    tools,
    secrets: () => [...model.secrets(), ...secrets],
  };
  const tracing = startTracing(flags, store, traced, terminal);
  const agent = createAgent({
    ...tracing.agent,
    model,
    modelFrom,
    tools,
    system,
    permissions,
    interactive,
    limits: { maxSteps, maxCostUsd },
    ...(flags.autoCompact === false ? { compaction: { automatic: false } } : {}),
    ...(flags.debug === true ? { trace: tellRequests(terminal) } : {}),
    cwd,
    secrets,
  });
  const open = (mode: "write" | "read"): Promise<Session> => agent.open({ store: tracing.store, mode, id });
  const session = await open("write").catch((error: unknown) => {
    if (options.attach === true && codeOf(error) === "session_locked") return open("read");
    throw error;
  });
  if (flags.json !== true) tellInstructions(found, cwd, terminal);
  return { session, model, settings, costOf: costsWith(config.values), instructions: found?.file };
}

export const NO_INSTRUCTIONS: ReturnType<typeof readProjectInstructions> = {};

export function enterDirectory(directory: string | undefined): void {
  if (directory === undefined) return;
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw codedError("directory_not_found", `-C ${directory}: there is no such directory`);
  }
  process.chdir(directory);
}

/** The limit of cost; one that an untrusted project set on a model without a price is dropped, as it cannot be held. */
export function heldCost(
  { maxCostUsd, fromUntrusted }: RunSettings,
  { price, label }: Model,
  terminal: Pick<Terminal, "stderr">,
): number | undefined {
  if (maxCostUsd === undefined || price !== undefined || !fromUntrusted.maxCostUsd) return maxCostUsd;
  say(terminal, `the project's maxCostUsd is ignored: the price of ${label} is not known`);
  return undefined;
}

export async function chooseTools(
  settings: RunSettings,
  cwd: string,
  extra: readonly Tool[],
): Promise<readonly Tool[]> {
  const { trustedCode: trusted } = settings;
  const own = settings.tools === undefined ? [] : await loadTools(settings.tools, { trusted });
  const names = new Set(own.map(({ name }) => name));
  const all = [...own, ...[...extra, ...builtinTools({ cwd })].filter(({ name }) => !names.has(name))];
  const { allowTools } = settings;
  if (allowTools === undefined) return all;
  const unknown = allowTools.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length > 0 && !settings.fromUntrusted.allowTools) {
    throw codedError(
      "tool_unknown",
      `--allow-tools: there is no tool ${unknown.join(", ")}; available are ${all.map(({ name }) => name).join(", ")}`,
    );
  }
  return all.filter(({ name }) => allowTools.includes(name));
}

/** What the user says comes first; what the project says is told apart from it. */
export function systemText(
  own: string | undefined,
  found: ProjectInstructions | undefined,
  cwd: string,
): string | undefined {
  if (found === undefined || found.text === "") return own;
  const project = `Instructions of this project (${relative(cwd, found.file)}):\n\n${found.text}`;
  return own === undefined ? project : `${own}\n\n${project}`;
}

function tellInstructions(found: ProjectInstructions | undefined, cwd: string, terminal: Terminal): void {
  if (found === undefined) return;
  const cut = found.cut ? `, cut to ${Buffer.byteLength(found.text)}: shorten it` : "";
  terminal.stderr.write(
    `${terminal.dim(inertLine(`instructions: ${relative(cwd, found.file)} (${found.bytes} bytes${cut})`, 200))}\n`,
  );
}

function tellRequests(terminal: Terminal): (record: WireRecord) => void {
  return (record) => {
    if (record.type !== "request") return;
    for (const line of previewLines(Buffer.concat(record.body).toString("utf8"))) {
      terminal.stderr.write(`${terminal.dim(line)}\n`);
    }
  };
}
