/**
 * The settings of a run, and the question whether a project's own file may set what needs trust. Asked of a person once
 * per content of the file; where nobody can be asked, such settings are left out with a warning.
 */

import { createInterface } from "node:readline/promises";

import { isoTime } from "../../base/support/index.ts";
import { type LoadedConfig, loadConfig, type ProjectState, recordTrust, trustFile } from "../config/index.ts";
import { inertLine } from "./inert-text.ts";
import { forLineEditor } from "./terminal-gate.ts";
import type { Terminal } from "./terminal.ts";

export async function settingsWithTrust(
  cwd: string,
  flags: { readonly trust?: boolean },
  terminal: Terminal,
): Promise<LoadedConfig> {
  const loaded = loadConfig(cwd);
  const { project } = loaded;
  if (project === undefined || project.needsTrust.length === 0 || project.decision === "trusted")
    return loaded;
  if (flags.trust === true) return decide(cwd, project, "trusted");
  if (project.decision === "refused") return loaded;
  const what = `${inertLine(project.file, 300)} sets ${project.needsTrust.join(", ")}`;
  if (!terminal.interactive) {
    terminal.stderr.write(
      `throughline: ${what}, which needs your trust: ignored. --trust once, or throughline config trust, accepts the file as it is now [project_untrusted]\n`,
    );
    return loaded;
  }
  terminal.stderr.write(
    `${what}: it could send the conversation elsewhere, run code, or let tools act unasked.\n`,
  );
  return decide(
    cwd,
    project,
    (await asks("Trust it as it is now? [y/N] ", terminal)) ? "trusted" : "refused",
  );
}

function decide(cwd: string, { file, sha256 }: ProjectState, decision: "trusted" | "refused"): LoadedConfig {
  recordTrust(trustFile(), { file, sha256, decision, at: isoTime(Date.now()) });
  return loadConfig(cwd);
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
