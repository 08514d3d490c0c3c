/**
 * Opens a session from flags: folder, settings, model, tools, permissions, the project's instructions. Reports every
 * error before anything is written.
 */

import { statSync } from "node:fs";

import { codedError, codeOf } from "../../base/support/index.ts";
import type { CostOf } from "../../runtime/facts/index.ts";
import { memoryStore } from "../../runtime/log/index.ts";
import type { Model } from "../../runtime/providers/index.ts";
import { createAgent, readFacts, type Session } from "../../runtime/session/index.ts";
import { builtinTools, SKILL_TOOL, skillTool, type Tool } from "../../runtime/tools/index.ts";
import type { WireRecord } from "../../runtime/turn/index.ts";
import { readInstructions } from "../config/index.ts";
import { allowRules, isMcpName } from "./allow-rules.ts";
import { chooseFallback, chooseModel, requireKey } from "./choose-model.ts";
import { chooseSession } from "./choose-session.ts";
import { costsWith } from "./cost.ts";
import { previewLines } from "./debug-preview.ts";
import {
  type InstructionFiles,
  instructionFiles,
  NO_INSTRUCTIONS,
  systemText,
  tellInstructions,
} from "./instruction-text.ts";
import { loadTools } from "./load-tools.ts";
import { connectMcp, tellWaiting } from "./mcp/connect.ts";
import { mcpEntries, tellMcpProblems } from "./mcp/entries.ts";
import { openStore, storeSecrets } from "./open-store.ts";
import { AnswerFile } from "./output-files.ts";
import { settingsWithTrust, tellProblem } from "./project-trust.ts";
import type { RunFlags } from "./run-options.ts";
import { costLimits, type RunSettings, runSettings } from "./run-settings.ts";
import { NO_SKILLS, readSkills, type Skill, tellSkills } from "./skills.ts";
import { say, type Terminal } from "./terminal.ts";
import { startTracing } from "./tracing.ts";
import { headerSecrets, modelsOf } from "./user-providers.ts";

export type { RunFlags } from "./run-options.ts";

export interface Opened {
  readonly session: Session;
  readonly model: Model;
  readonly settings: RunSettings;
  readonly costOf: CostOf;
  /** The files whose instructions are part of every request. */
  readonly instructions: InstructionFiles;
  /** The skills that the model can read. `skillMessage` makes the message that asks for one. */
  readonly skills: readonly Skill[];
}

export interface OpenOptions {
  readonly interactive: boolean;
  readonly tools?: readonly Tool[];
  readonly terminal: Terminal;
  /** No model will be used, so no key is needed and no instructions are read. */
  readonly offline?: boolean;
  /** Opens a session that another process is writing for reading, instead of failing. */
  readonly attach?: boolean;
}

export async function openSession(flags: RunFlags, options: OpenOptions): Promise<Opened> {
  const { terminal, interactive } = options;
  enterDirectory(flags.directory);
  const cwd = process.cwd();
  const config = await settingsWithTrust(cwd, flags, terminal);
  const settings = runSettings(flags, config);
  const { permissions, maxSteps } = settings;
  if (flags.output !== undefined) void new AnswerFile(flags.output); // throws if the file cannot be written
  const store = flags.ephemeral === true ? memoryStore() : await openStore(flags);
  const choice = { continueLast: flags.continue === true, id: flags.resume };
  const id = await chooseSession(store, choice, cwd, (text) => say(terminal, text));
  const kept = id === undefined ? undefined : (await readFacts(store, id)).settings;
  const modelFrom = modelsOf(config.values);
  const model = chooseModel({ flags, config, modelFrom, kept });
  if (options.offline !== true) requireKey(model, config.values);
  const fallback = options.offline === true ? [] : chooseFallback({ flags, config, modelFrom });
  const maxCostUsd = heldCost(settings, [model, ...fallback], terminal);
  const mcp = mcpEntries(config, { cwd, files: flags.mcpConfig ?? [] });
  if (options.offline !== true) tellMcpProblems(mcp, terminal);
  const found = options.offline === true ? NO_SKILLS : await readSkills(config);
  tellSkills(found, terminal);
  const { tools, skills } = await chooseTools(settings, cwd, { extra: options.tools, skills: found.skills });
  const servers =
    options.offline === true ? undefined : await connectMcp(mcp.entries, { cwd, only: settings.allowTools });
  if (servers !== undefined && !interactive) tellWaiting(servers, terminal);
  const allow = allowRules(settings, tools, terminal);
  const { found: files, problems } =
    options.offline === true
      ? NO_INSTRUCTIONS
      : readInstructions(cwd, { project: settings.projectInstructions });
  for (const problem of problems) tellProblem(problem, terminal);
  const system = systemText(settings.system, files, cwd, skills);
  const secrets = [...headerSecrets(config.values), ...storeSecrets(flags), ...mcp.secrets];
  const traced = {
    permissions,
    allow,
    interactive,
    maxSteps,
    maxCostUsd,
    tools,
    secrets: () => [...[model, ...fallback].flatMap((one) => one.secrets()), ...secrets],
  };
  const tracing = startTracing(flags, store, traced, terminal);
  const agent = createAgent({
    ...tracing.agent,
    allow,
    model,
    fallback,
    modelFrom,
    tools: servers === undefined ? tools : [...tools, servers],
    system,
    permissions,
    interactive,
    limits: { maxSteps, ...costLimits(maxCostUsd, settings.fromUntrusted.maxCostUsd) },
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
  if (flags.json !== true) tellInstructions(files, cwd, terminal);
  return {
    session,
    model,
    settings,
    costOf: costsWith(config.values),
    instructions: instructionFiles(files),
    skills,
  };
}

export function enterDirectory(directory: string | undefined): void {
  if (directory === undefined) return;
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw codedError("directory_not_found", `-C ${directory}: no such directory`);
  }
  process.chdir(directory);
}

/** Returns the cost limit. Drops one that an untrusted project sets for a model without a price: it cannot be enforced. */
export function heldCost(
  { maxCostUsd, fromUntrusted }: RunSettings,
  models: readonly Model[],
  terminal: Pick<Terminal, "stderr">,
): number | undefined {
  const unpriced = models.find(({ price }) => price === undefined);
  if (maxCostUsd === undefined || unpriced === undefined || !fromUntrusted.maxCostUsd) return maxCostUsd;
  say(terminal, `ignoring the project's maxCostUsd: the price of ${unpriced.label} is unknown`);
  return undefined;
}

export interface MoreTools {
  readonly extra?: readonly Tool[] | undefined;
  readonly skills?: readonly Skill[];
  /** Those of the folder, if they exist already. */
  readonly builtin?: readonly Tool[];
}

/** Without the tool that reads skills, because of its name or of `--allow-tools`, there are no skills. */
export async function chooseTools(
  settings: RunSettings,
  cwd: string,
  { extra = [], skills = [], builtin = builtinTools({ cwd }) }: MoreTools = {},
): Promise<{ readonly tools: readonly Tool[]; readonly skills: readonly Skill[] }> {
  const { trustedCode: trusted } = settings;
  const own = settings.tools === undefined ? [] : await loadTools(settings.tools, { trusted });
  const names = new Set(own.map(({ name }) => name));
  const reader = skills.length === 0 ? [] : [skillTool(skills)];
  const all = [...own, ...[...extra, ...builtin, ...reader].filter(({ name }) => !names.has(name))];
  const { allowTools } = settings;
  // One list of names serves every folder, also those without skills. Which tools MCP servers have is known only when
  // they are connected.
  const known = [...all.map(({ name }) => name), SKILL_TOOL];
  const unknown = (allowTools ?? []).filter((name) => !isMcpName(name) && !known.includes(name));
  if (unknown.length > 0 && !settings.fromUntrusted.allowTools) {
    throw codedError(
      "tool_unknown",
      `--allow-tools: unknown tool ${unknown.join(", ")}; use one of ${all.map(({ name }) => name).join(", ")}`,
    );
  }
  const tools = all.filter(({ name }) => allowTools?.includes(name) !== false);
  return { tools, skills: reader.some((one) => tools.includes(one)) ? skills : [] };
}

function tellRequests(terminal: Terminal): (record: WireRecord) => void {
  return (record) => {
    if (record.type !== "request") return;
    for (const line of previewLines(Buffer.concat(record.body).toString("utf8"))) {
      terminal.stderr.write(`${terminal.dim(line)}\n`);
    }
  };
}
