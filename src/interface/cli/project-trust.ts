/**
 * The settings of a run, and the question whether a project's own file may set what needs trust. A person is asked once
 * per content of the files that would run; where nobody can be asked, such settings are left out with a warning.
 */

import { createInterface } from "node:readline/promises";

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
import { inertLine } from "./inert-text.ts";
import { forLineEditor } from "./terminal-gate.ts";
import type { Terminal } from "./terminal.ts";
import { changesText, codeLines, LIMITS_OF_TRUST } from "./trust-words.ts";

/** The settings of a folder where no one can be asked. */
export function settingsUnasked(cwd: string, terminal: Pick<Terminal, "stderr">): LoadedConfig {
  const loaded = settingsHere(terminal, cwd);
  const { project } = loaded;
  if (project !== undefined && project.needsTrust.length > 0 && project.decision === undefined)
    tellUntrusted(project, terminal);
  return loaded;
}

/** The settings here, for a command that needs no trust. */
export function settingsHere(terminal: Pick<Terminal, "stderr">, cwd = process.cwd()): LoadedConfig {
  const loaded = loadConfig(cwd);
  if (loaded.problem !== undefined) tellProblem(loaded.problem, terminal);
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
    `${whatItSets(project)}: it could send the conversation elsewhere, run code, or let tools act unasked.\n`,
  );
  for (const line of codeLines(project)) terminal.stderr.write(`${line}\n`);
  if (project.changes.length > 0) terminal.stderr.write(`${changesText(project)}\n`);
  if (project.code !== undefined) terminal.stderr.write(`${LIMITS_OF_TRUST}\n`);
  decide(project, (await asks("Trust it as it is now? [y/N] ", terminal)) ? "trusted" : "refused");
  return afterDecision(cwd, terminal);
}

/** What was decided holds for what was shown. Whatever changed since then is not trusted. */
function afterDecision(cwd: string, terminal: Terminal): LoadedConfig {
  return settingsUnasked(cwd, terminal);
}

/** Records a decision about the files that were read, and no others. */
export function decide(project: ProjectState, decision: "trusted" | "refused"): void {
  const { code, file } = project;
  if (decision === "trusted" && code?.problem !== undefined) {
    throw codedError(
      "project_untrustable",
      `${inertLine(file, 300)} cannot be trusted as it is: ${inertLine(code.problem, 400)}. To run its tools without this check, name them with --tools`,
    );
  }
  recordTrust(trustFile(), { ...trustSubject(project), decision, at: isoTime(Date.now()) });
}

/** A file of the project is ignored: one line says which, why, and what to do. */
export function tellProblem({ message, code }: ProjectProblem, terminal: Pick<Terminal, "stderr">): void {
  terminal.stderr.write(
    `throughline: ${inertLine(message, 500)}. This file is ignored: correct or remove it [${code}]\n`,
  );
}

function tellUntrusted(project: ProjectState, terminal: Pick<Terminal, "stderr">): void {
  const changed = project.changes.length > 0 ? ` ${changesText(project)}` : "";
  const next =
    project.code?.problem === undefined
      ? "--trust once, or throughline config trust, accepts it as it is now."
      : `It cannot be trusted: ${inertLine(project.code.problem, 400)}.`;
  terminal.stderr.write(
    `throughline: ${whatItSets(project)}, which needs your trust: ignored. ${next}${changed} [project_untrusted]\n`,
  );
}

function whatItSets({ file, needsTrust }: ProjectState): string {
  return `${inertLine(file, 300)} sets ${needsTrust.join(", ")}`;
}

/** Default: no. Ctrl-C and the end of the input are no, too. */
async function asks(question: string, terminal: Terminal): Promise<boolean> {
  const lines = createInterface({ input: terminal.stdin, output: forLineEditor(terminal.stderr) });
  const ended = new AbortController();
  lines.once("close", () => ended.abort());
  lines.once("SIGINT", () => lines.close());
  try {
    return /^y(?:es)?$/i.test((await lines.question(question, { signal: ended.signal })).trim());
  } catch {
    return false;
  } finally {
    lines.close();
  }
}
