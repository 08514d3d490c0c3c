/**
 * Loads the settings of a run and asks whether to trust the parts of the project that need it: its settings file, its
 * MCP servers, its skills. The user is asked once per content of each part. If there is no user to ask, what needs trust
 * is ignored with a warning.
 */

import { codedError, isoTime } from "../../base/support/index.ts";
import {
  asError,
  isIgnored,
  type LoadedConfig,
  loadConfig,
  type ProjectPart,
  type ProjectProblem,
  recordTrust,
  trustFile,
  trustSubject,
} from "../config/index.ts";
import { answerTo } from "./ask.ts";
import { inertLine } from "./inert-text.ts";
import type { Terminal } from "./terminal.ts";
import { changesText, isOrAre, partLines, placeOf, whatItSets, withoutTrust } from "./trust-words.ts";

/** Loads the settings of a folder without asking about trust. */
export function settingsUnasked(cwd: string, terminal: Pick<Terminal, "stderr">): LoadedConfig {
  const loaded = settingsHere(terminal, cwd);
  for (const part of loaded.parts.filter(isUndecided)) tellUntrusted(part, terminal);
  return loaded;
}

/** Loads the settings for a command that needs no trust. */
export function settingsHere(terminal: Pick<Terminal, "stderr">, cwd = process.cwd()): LoadedConfig {
  const loaded = loadConfig(cwd);
  for (const problem of loaded.problems) tellProblem(problem, terminal);
  tellUserOnly(loaded.project, terminal);
  return loaded;
}

export async function settingsWithTrust(
  cwd: string,
  flags: { readonly trust?: boolean },
  terminal: Terminal,
): Promise<LoadedConfig> {
  const loaded = loadConfig(cwd);
  for (const problem of loaded.problems) {
    if (flags.trust === true) throw asError(problem);
    tellProblem(problem, terminal);
  }
  tellUserOnly(loaded.project, terminal);
  const ignored = loaded.parts.filter(isIgnored);
  if (flags.trust === true) {
    decideAll(ignored, "trusted");
    for (const part of ignored) writeLines(partLines(part, { limits: false }), terminal);
    return ignored.length === 0 ? loaded : afterDecision(cwd, ignored, terminal);
  }
  const asked: ProjectPart[] = [];
  for (const part of ignored.filter(isUndecided)) {
    if (!terminal.interactive || part.problem !== undefined) tellUntrusted(part, terminal);
    else {
      writeLines(questionLines(part), terminal);
      const answer = await answerTo("Trust it as it is now? [y/N] ", terminal);
      if (answer === "stopped") throw codedError("stopped", "stopped: you are asked again the next time");
      decideAll([part], answer === "yes" ? "trusted" : "refused");
      asked.push(part);
    }
  }
  return asked.length === 0 ? loaded : afterDecision(cwd, asked, terminal);
}

const DANGERS: Readonly<Record<ProjectPart["type"], string>> = {
  settings: "it could send the conversation elsewhere, run code, or let tools act without asking",
  servers: "they could run code, and they see what the model sends them",
  skills: "they tell the model what to do",
};

function questionLines(part: ProjectPart): readonly string[] {
  return [
    `${whatItSets(part)}: ${DANGERS[part.type]}.`,
    ...partLines(part, { limits: true }),
    ...(part.changes.length > 0 ? [changesText(part)] : []),
  ];
}

function isUndecided(part: ProjectPart): boolean {
  return isIgnored(part) && part.decision === undefined;
}

/** Reloads the settings. The decision covers what was shown; a part that has changed since is not trusted. */
function afterDecision(cwd: string, decided: readonly ProjectPart[], terminal: Terminal): LoadedConfig {
  const loaded = loadConfig(cwd);
  for (const part of loaded.parts.filter(isUndecided)) {
    if (decided.some(({ file }) => file === part.file)) tellUntrusted(part, terminal);
  }
  return loaded;
}

/** Records decisions about exactly the files that were read: all of them, or none. */
export function decideAll(parts: readonly ProjectPart[], decision: "trusted" | "refused"): void {
  for (const part of parts) if (decision === "trusted") assertTrustable(part);
  const at = isoTime(Date.now());
  for (const part of parts) recordTrust(trustFile(), { ...trustSubject(part), decision, at });
}

function assertTrustable(part: ProjectPart): void {
  if (part.problem === undefined) return;
  throw codedError(
    "project_untrustable",
    `${inertLine(part.file, 300)} cannot be trusted in its current state: ${inertLine(part.problem, 400)}. ${upperFirst(withoutTrust(part))}`,
  );
}

function upperFirst(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function writeLines(lines: readonly string[], terminal: Pick<Terminal, "stderr">): void {
  for (const line of lines) terminal.stderr.write(`${line}\n`);
}

/** Reports in one line which project file is ignored, why, and what to do. */
export function tellProblem({ message, code }: ProjectProblem, terminal: Pick<Terminal, "stderr">): void {
  terminal.stderr.write(
    `throughline: ${inertLine(message, 500)}. This file is ignored: correct or remove it [${code}]\n`,
  );
}

/** Reports settings of the project that not even trust puts in force. */
function tellUserOnly(project: ProjectPart | undefined, terminal: Pick<Terminal, "stderr">): void {
  if (project === undefined || project.userOnly.length === 0) return;
  terminal.stderr.write(
    `throughline: ${inertLine(project.file, 300)} sets ${project.userOnly.join(", ")}, which is ignored: only your own settings can set it\n`,
  );
}

function tellUntrusted(part: ProjectPart, terminal: Pick<Terminal, "stderr">): void {
  const changed = part.changes.length > 0 ? ` ${changesText(part)}` : "";
  const next =
    part.problem === undefined
      ? "To accept it in its current state, use --trust once or run throughline config trust."
      : `It cannot be trusted: ${inertLine(part.problem, 400)}.`;
  terminal.stderr.write(
    `throughline: ${whatItSets(part)}, which ${isOrAre(part)} ignored because ${placeOf(part)} needs your trust. ${next}${changed} [project_untrusted]\n`,
  );
}
