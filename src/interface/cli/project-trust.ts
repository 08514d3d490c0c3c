/**
 * Loads the settings of a run and asks whether to trust the project's own file. The user is asked once per content of
 * the files that would run. If there is no user to ask, settings that need trust are ignored with a warning.
 */

import { codedError, isoTime } from "../../base/support/index.ts";
import {
  asError,
  type LoadedConfig,
  loadConfig,
  type ProjectProblem,
  type ProjectState,
  recordTrust,
  trustFile,
  trustSubject,
} from "../config/index.ts";
import { asks } from "./ask.ts";
import { inertLine } from "./inert-text.ts";
import type { Terminal } from "./terminal.ts";
import { changesText, codeLines, LIMITS_OF_TRUST } from "./trust-words.ts";

/** Loads the settings of a folder without asking about trust. */
export function settingsUnasked(cwd: string, terminal: Pick<Terminal, "stderr">): LoadedConfig {
  const loaded = settingsHere(terminal, cwd);
  const { project } = loaded;
  if (project !== undefined && project.needsTrust.length > 0 && project.decision === undefined)
    tellUntrusted(project, terminal);
  return loaded;
}

/** Loads the settings for a command that needs no trust. */
export function settingsHere(terminal: Pick<Terminal, "stderr">, cwd = process.cwd()): LoadedConfig {
  const loaded = loadConfig(cwd);
  if (loaded.problem !== undefined) tellProblem(loaded.problem, terminal);
  tellUserOnly(loaded.project, terminal);
  return loaded;
}

export async function settingsWithTrust(
  cwd: string,
  flags: { readonly trust?: boolean },
  terminal: Terminal,
): Promise<LoadedConfig> {
  const loaded = loadConfig(cwd);
  const { project, problem } = loaded;
  if (problem !== undefined) {
    if (flags.trust === true) throw asError(problem);
    tellProblem(problem, terminal);
  }
  tellUserOnly(project, terminal);
  if (project === undefined || project.needsTrust.length === 0 || project.decision === "trusted")
    return loaded;
  if (flags.trust === true) {
    decide(project, "trusted");
    for (const line of codeLines(project)) terminal.stderr.write(`${line}\n`);
    return afterDecision(cwd, terminal);
  }
  if (project.decision === "refused") return loaded;
  if (!terminal.interactive || project.code?.problem !== undefined) {
    tellUntrusted(project, terminal);
    return loaded;
  }
  terminal.stderr.write(
    `${whatItSets(project)}: it could send the conversation elsewhere, run code, or let tools act without asking.\n`,
  );
  for (const line of codeLines(project)) terminal.stderr.write(`${line}\n`);
  if (project.changes.length > 0) terminal.stderr.write(`${changesText(project)}\n`);
  if (project.code !== undefined) terminal.stderr.write(`${LIMITS_OF_TRUST}\n`);
  decide(project, (await asks("Trust it as it is now? [y/N] ", terminal)) ? "trusted" : "refused");
  return afterDecision(cwd, terminal);
}

/** Reloads the settings. The decision covers what was shown; a file that has changed since is not trusted. */
function afterDecision(cwd: string, terminal: Terminal): LoadedConfig {
  const loaded = loadConfig(cwd);
  return loaded.project?.decision === undefined ? settingsUnasked(cwd, terminal) : loaded;
}

/** Records a decision about exactly the files that were read. */
export function decide(project: ProjectState, decision: "trusted" | "refused"): void {
  const { code, file } = project;
  if (decision === "trusted" && code?.problem !== undefined) {
    throw codedError(
      "project_untrustable",
      `${inertLine(file, 300)} cannot be trusted in its current state: ${inertLine(code.problem, 400)}. To run its tools without this check, name them with --tools`,
    );
  }
  recordTrust(trustFile(), { ...trustSubject(project), decision, at: isoTime(Date.now()) });
}

/** Reports in one line which project file is ignored, why, and what to do. */
export function tellProblem({ message, code }: ProjectProblem, terminal: Pick<Terminal, "stderr">): void {
  terminal.stderr.write(
    `throughline: ${inertLine(message, 500)}. This file is ignored: correct or remove it [${code}]\n`,
  );
}

/** Reports settings of the project that not even trust puts in force. */
function tellUserOnly(project: ProjectState | undefined, terminal: Pick<Terminal, "stderr">): void {
  if (project === undefined || project.userOnly.length === 0) return;
  terminal.stderr.write(
    `throughline: ${inertLine(project.file, 300)} sets ${project.userOnly.join(", ")}, which is ignored: only your own settings can set it\n`,
  );
}

function tellUntrusted(project: ProjectState, terminal: Pick<Terminal, "stderr">): void {
  const changed = project.changes.length > 0 ? ` ${changesText(project)}` : "";
  const next =
    project.code?.problem === undefined
      ? "To accept it in its current state, use --trust once or run throughline config trust."
      : `It cannot be trusted: ${inertLine(project.code.problem, 400)}.`;
  terminal.stderr.write(
    `throughline: ${whatItSets(project)}, which is ignored because it needs your trust. ${next}${changed} [project_untrusted]\n`,
  );
}

function whatItSets({ file, needsTrust }: ProjectState): string {
  return `${inertLine(file, 300)} sets ${needsTrust.join(", ")}`;
}
