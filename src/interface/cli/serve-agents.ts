/**
 * Creates the agents of `serve`: one per session, with the tools and settings of the session's folder. A folder other
 * than the one the server was started in has its own project settings. The same rules of trust apply, but the server
 * does not ask: it ignores untrusted settings and says so once on its terminal.
 */

import { statSync } from "node:fs";

import type { AgentFor } from "../../access/server/index.ts";
import type { CostOf } from "../../runtime/facts/index.ts";
import type { Model } from "../../runtime/providers/index.ts";
import { createAgent } from "../../runtime/session/index.ts";
import { type LoadedConfig, readInstructions } from "../config/index.ts";
import { allowRules } from "./allow-rules.ts";
import { chooseFallback, chooseModel } from "./choose-model.ts";
import { costsWith } from "./cost.ts";
import { systemText } from "./instruction-text.ts";
import { connectMcp } from "./mcp/connect.ts";
import { type McpEntries, mcpEntries, tellMcpProblems } from "./mcp/entries.ts";
import { modelsFingerprint } from "./models-fingerprint.ts";
import { chooseTools, heldCost } from "./open-session.ts";
import { storeSecrets } from "./open-store.ts";
import { settingsUnasked, settingsWithTrust, tellProblem } from "./project-trust.ts";
import { recentTools } from "./recent-tools.ts";
import { remembered } from "./remembered-models.ts";
import type { RunFlags } from "./run-options.ts";
import { costLimits, type RunSettings, runSettings } from "./run-settings.ts";
import { readSkills, tellSkills } from "./skills.ts";
import type { Terminal } from "./terminal.ts";
import { headerSecrets, modelsOf } from "./user-providers.ts";

interface Parts {
  readonly config: LoadedConfig;
  readonly settings: RunSettings;
  readonly modelFrom: (name: string) => Model;
  readonly mcp: McpEntries;
}

export async function serveAgents(
  flags: RunFlags,
  terminal: Terminal,
): Promise<{
  readonly agentFor: AgentFor;
  readonly model: string;
  readonly costOf: CostOf;
  /** The same on all servers between which sessions can move. */
  readonly fingerprint: string;
}> {
  const start = process.cwd();
  const here = partsOf(flags, start, await settingsWithTrust(start, flags, terminal));
  tellMcpProblems(here.mcp, terminal);
  const usual = chooseModel({ flags, ...here, kept: undefined });
  // Reports a bad --fallback, --tools or --allow now, not to the first browser.
  chooseFallback({ flags, ...here });
  const { tools: usualTools } = await chooseTools(here.settings, start);
  allowRules(here.settings, usualTools, terminal);
  const ofTheStore = storeSecrets(flags);
  const builtinOf = recentTools();
  const once = { stderr: tellingOnce(terminal.stderr) };
  const agentFor: AgentFor = async ({ cwd = start, settings: kept }) => {
    const folder = isFolder(cwd) ? cwd : start;
    const parts = folder === start ? here : partsOf(flags, folder, settingsUnasked(folder, once));
    const { config, settings, modelFrom, mcp } = parts;
    const { permissions, maxSteps } = settings;
    const { found: files, problems } = readInstructions(folder, { project: settings.projectInstructions });
    for (const problem of problems) tellProblem(problem, once);
    const model = modelOfSession({ flags, ...parts, kept }, usual);
    const fallback = chooseFallback({ flags, config, modelFrom });
    if (folder !== start) tellMcpProblems(mcp, once);
    const found = await readSkills(config);
    tellSkills(found, once);
    const { tools, skills } = await chooseTools(settings, folder, {
      skills: found.skills,
      builtin: builtinOf(folder),
    });
    const servers = await connectMcp(mcp.entries, { cwd: folder, only: settings.allowTools });
    return createAgent({
      model,
      fallback,
      modelFrom,
      tools: servers === undefined ? tools : [...tools, servers],
      allow: allowRules(settings, tools, once),
      system: systemText(settings.system, files, folder, skills),
      permissions,
      interactive: true,
      limits: {
        maxSteps,
        ...costLimits(heldCost(settings, [model, ...fallback], once), settings.fromUntrusted.maxCostUsd),
      },
      cwd: folder,
      secrets: [...headerSecrets(config.values), ...ofTheStore, ...mcp.secrets],
    });
  };
  const { values } = here.config;
  return { agentFor, model: usual.label, costOf: costsWith(values), fingerprint: modelsFingerprint(values) };
}

function partsOf(flags: RunFlags, cwd: string, config: LoadedConfig): Parts {
  return {
    config,
    settings: runSettings(flags, config),
    modelFrom: remembered(modelsOf(config.values)),
    mcp: mcpEntries(config, { cwd, files: flags.mcpConfig ?? [] }),
  };
}

/** Falls back to the default model, so that a session whose model is unknown here can still be read. */
function modelOfSession(parts: Parameters<typeof chooseModel>[0], usual: Model): Model {
  try {
    return chooseModel(parts);
  } catch {
    return usual;
  }
}

/** Writes each message once, because a server opens the same folder many times. */
function tellingOnce(stderr: Terminal["stderr"]): Terminal["stderr"] {
  const told = new Set<string>();
  const write = (text: string | Uint8Array): boolean => {
    const key = String(text);
    if (told.has(key)) return true;
    told.add(key);
    return stderr.write(text);
  };
  return Object.assign(Object.create(stderr) as Terminal["stderr"], { write });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
