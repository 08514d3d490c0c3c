/**
 * `throughline check`: what is wrong with a history, ours or a raw Responses `input`, before a provider says so.
 *
 * @module
 */

import { existsSync, readFileSync, statSync } from "node:fs";

import { Command } from "commander";

import { checkInput, type Finding, findingsOf } from "../../check/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { fileStore, type Log } from "../../log/index.ts";
import { modelFrom } from "../../models/index.ts";
import { previewFromLog, rebuildRequest } from "../../session/index.ts";
import { messageOf, ThroughlineError } from "../../support/index.ts";
import { resolveSession } from "../choose-session.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import type { Terminal } from "../terminal.ts";

interface CheckFlags {
  readonly last?: boolean;
  readonly model?: string;
  readonly json?: boolean;
}

interface Report {
  readonly checked: string;
  /** What was looked at, in words. */
  readonly what: string;
  readonly findings: readonly Finding[];
}

export function checkCommand(terminal: Terminal, finish: (code: number) => void): Command {
  return new Command("check")
    .description("lint a history: a session, or a file with a Responses input array")
    .argument("[session-or-file]", "a session's id, or the path of a JSON file")
    .option("--last", "the last session of this directory")
    .option(
      "-m, --model <provider/model[:effort]>",
      "for a session: as if the next request went to this model",
    )
    .option("--json", "the findings as JSON")
    .addHelpText(
      "after",
      `
Examples:
  throughline check request.json        a request body, or its input array
  throughline check --last              every request of the last session, and the next one

Exit code 5 when something was found.`,
    )
    .action(async (name: string | undefined, flags: CheckFlags) => {
      const report = await check(name, flags);
      print(report, flags, terminal);
      finish(report.findings.length === 0 ? EXIT.ok : EXIT.differs);
    });
}

async function check(name: string | undefined, flags: CheckFlags): Promise<Report> {
  if (name !== undefined && looksLikeFile(name)) return checkFile(name);
  const store = fileStore(sessionsFolder());
  const id = await resolveSession(store, { name, last: flags.last === true }, process.cwd());
  const log = await store.open(id, { mode: "read" });
  try {
    return await checkLog(id, log, flags.model);
  } finally {
    await log.close();
  }
}

function looksLikeFile(name: string): boolean {
  return name.includes("/") || name.endsWith(".json") || (existsSync(name) && statSync(name).isFile());
}

const MAX_FILE_BYTES = 256 * 1024 * 1024;

function checkFile(file: string): Report {
  let text: string;
  try {
    if (statSync(file).size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ThroughlineError({
      code: "file_unreadable",
      message: `cannot read ${file}: ${messageOf(error)}`,
    });
  }
  const { items, findings } = checkInput(text);
  return { checked: file, what: `${items} items`, findings };
}

/** Every request that was made: proven by its hash. And the next one: by the rules. */
async function checkLog(id: string, log: Log, model: string | undefined): Promise<Report> {
  const findings: Finding[] = [];
  const requests = log.events.filter((event) => event.type === "response_start").length;
  for (let request = 1; request <= requests; request += 1) {
    const { proof } = await rebuildRequest(log, request);
    if (proof !== "differs") continue;
    findings.push({
      rule: "hash",
      title: "A request is rebuilt from the log byte for byte",
      place: `request ${request}`,
      message: "the log does not give the bytes that were sent",
      todo: "The log or the program was changed since; report it with the log.",
      evidence: "",
    });
  }
  const next = await previewFromLog(log, model === undefined ? undefined : modelFrom(model));
  findings.push(...findingsOf(next.violations));
  return {
    checked: id,
    what: `${log.events.length} events, ${requests} requests and the next one`,
    findings,
  };
}

function print({ checked, what, findings }: Report, flags: CheckFlags, terminal: Terminal): void {
  if (flags.json === true) {
    terminal.stdout.write(`${JSON.stringify({ checked, what, findings }, undefined, 2)}\n`);
    return;
  }
  for (const { rule, title, place, message, todo, evidence } of findings) {
    const source = evidence === "" ? "" : ` (${evidence})`;
    terminal.stdout.write(
      `${place}: ${rule} ${title}${source}\n  the API answers: ${inertLine(message, 300)}\n  to do: ${todo}\n`,
    );
  }
  const count = findings.length === 0 ? "nothing wrong" : `${findings.length} found`;
  terminal.stdout.write(`${inertLine(checked, 200)}: ${what}: ${count}\n`);
}
