/**
 * `throughline repair`: a copy of a broken history that is accepted again, and a report of what was changed and lost. The
 * original is never touched.
 *
 * @module
 */

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";

import { Command } from "commander";

import { type Change, type Finding, findingsOf, FORMATS, repairHistory } from "../../check/index.ts";
import { sessionsFolder, writeFilePieces } from "../../config/index.ts";
import type { OverrideAction } from "../../events/index.ts";
import { fileStore, type Log, type LostStretch, salvageLog, writeSession } from "../../log/index.ts";
import { type Mended, mendingOf } from "../../session/index.ts";
import { codeOf, ThroughlineError } from "../../support/index.ts";
import { amount } from "../amount.ts";
import { resolveSession } from "../choose-session.ts";
import { EXIT } from "../exit-codes.ts";
import { historyFile, looksLikeFile, parseFormat } from "../history-file.ts";
import { inertLine } from "../inert-text.ts";
import { readProblem } from "../read-problem.ts";
import type { Terminal } from "../terminal.ts";
import { writeProblem } from "../write-problem.ts";

interface RepairFlags {
  readonly last?: boolean;
  readonly output?: string;
  readonly dryRun?: boolean;
  readonly format?: string;
  readonly vendor?: string;
  readonly error?: string;
  readonly dropReasoning?: boolean;
  readonly json?: boolean;
}

interface Report {
  readonly repaired: string;
  readonly format: string;
  /** Where the copy is; absent when nothing was written. */
  readonly written?: string;
  readonly changes: readonly Change[];
  readonly left: readonly Finding[];
}

export function repairCommand(terminal: Terminal, finish: (code: number) => void): Command {
  return new Command("repair")
    .description("a copy of a broken history that is accepted again, and a report")
    .argument("[session-or-file]", "a session's id, or the path of a file")
    .option("--last", "the last session of this directory")
    .option(
      "-o, --output <file>",
      "where the copy goes (default: beside the original); - is standard output, for files of other tools",
    )
    .option("--dry-run", "say what would be done, write nothing")
    .option("--error <text>", "the error the API answered with: it sees what the rules cannot")
    .option("--drop-reasoning", "without what only its maker can read: for another model or account")
    .option("--format <name>", `for a file, instead of looking: ${Object.keys(FORMATS).join(", ")}`)
    .option("--vendor <name>", "for chat messages: whose rules, e.g. deepseek, kimi, mistral, groq")
    .option("--json", "the report as JSON")
    .addHelpText(
      "after",
      `
Examples:
  throughline repair rollout.jsonl                 writes rollout.repaired.jsonl
  throughline repair request.json --dry-run
  throughline repair chat.json --error "Item 'fc_1' of type 'function_call' was provided …"
  throughline repair SESSION                       a damaged log: what can be saved, as a session of its own;
                                                   a whole one that would be refused: corrections added to it

Exit code 5 when something could not be repaired, or, with --dry-run, when something would be.`,
    )
    .action(async (name: string | undefined, flags: RepairFlags) => {
      const report = await repair(name, flags, terminal);
      print(report, flags, flags.output === "-" ? terminal.stderr : terminal.stdout);
      const undone = report.left.length > 0 || (flags.dryRun === true && report.changes.length > 0);
      finish(undone ? EXIT.differs : EXIT.ok);
    });
}

async function repair(name: string | undefined, flags: RepairFlags, terminal: Terminal): Promise<Report> {
  if (name !== undefined && looksLikeFile(name)) {
    const file = historyFile(name);
    if (file.log === undefined || flags.format !== undefined)
      return repairFile(name, file.read(), flags, terminal);
    return repairLog(file.log.folder, file.log.id, flags);
  }
  const folder = sessionsFolder();
  const id = await resolveSession(
    fileStore(folder),
    { name, last: flags.last === true, orFile: true },
    process.cwd(),
  );
  return repairLog(folder, id, flags);
}

async function repairFile(
  path: string,
  content: Uint8Array,
  flags: RepairFlags,
  terminal: Terminal,
): Promise<Report> {
  const { format, text, changes, left } = repairHistory(content, {
    ...(flags.format === undefined ? {} : { format: parseFormat(flags.format) }),
    ...(flags.vendor === undefined ? {} : { vendor: flags.vendor }),
    ...(flags.error === undefined ? {} : { error: flags.error }),
    ...(flags.dropReasoning === true ? { dropReasoning: true } : {}),
  });
  const report = { repaired: path, format, changes, left };
  if (flags.dryRun === true) return report;
  if (flags.output === "-") {
    terminal.stdout.write(text);
    return { ...report, written: "standard output" };
  }
  if (changes.length === 0) return report;
  const extension = extname(path);
  const beside = join(dirname(path), `${basename(path, extension)}.repaired${extension}`);
  return { ...report, written: await writeNew(flags.output ?? beside, text) };
}

/** Complete or not there, and never over something else. */
async function writeNew(path: string, text: string): Promise<string> {
  try {
    await writeFilePieces(path, [Buffer.from(text)], { how: "new" });
    return path;
  } catch (error) {
    const exists = codeOf(error) === "EEXIST" || codeOf(error) === "EISDIR";
    throw new ThroughlineError({
      code: exists ? "file_exists" : "file_unwritable",
      message: exists
        ? `${path} is there already: give another name with -o, or remove it`
        : `cannot write ${path}: ${writeProblem(error, path)}`,
    });
  }
}

async function repairLog(folder: string, id: string, flags: RepairFlags): Promise<Report> {
  const asked = [flags.error, flags.dropReasoning, flags.vendor].some((flag) => flag !== undefined);
  if (asked) {
    throw new ThroughlineError({
      code: "usage",
      message:
        "a session heals what a provider refuses by itself: --error, --drop-reasoning and --vendor are for files of other tools",
    });
  }
  const { lines, lost, loosened } = salvageLog(readLog(join(folder, `${id}.jsonl`)), { session: id });
  if (lost.length === 0) return repairRules(folder, id, flags);
  const changes = [...lost.map(lossOf), ...loosened.map(loosenedChange)];
  const report = { repaired: id, format: "throughline", changes, left: [] };
  if (flags.dryRun === true) return report;
  const target = targetOf(folder, id, flags.output);
  await writeSession(target.folder, { lines, blobs: blobsOf(folder, id) }, { id: target.id }).catch(
    (error: unknown) => {
      throw codeOf(error) === "session_exists" ? copyExists(target, error) : error;
    },
  );
  // What is whole again may still break a rule: it was not our program that damaged it.
  const rules = await repairRules(target.folder, target.id, {});
  const written = join(target.folder, `${target.id}.jsonl`);
  return { ...report, changes: [...changes, ...rules.changes], left: rules.left, written };
}

function copyExists(
  target: { readonly folder: string; readonly id: string },
  cause: unknown,
): ThroughlineError {
  const path = join(target.folder, `${target.id}.jsonl`);
  return new ThroughlineError({
    code: "file_exists",
    message: `${path} is there already: give another name that ends in .jsonl with -o, or remove it`,
    cause,
  });
}

/** A whole log whose next request would be refused: corrections are appended, nothing that stands in it is changed. */
async function repairRules(folder: string, id: string, flags: RepairFlags): Promise<Report> {
  const looked = await mendIn(folder, id, "read", flags);
  // Nobody is kept from writing, and nothing is touched, where nothing is wrong.
  if (flags.dryRun === true || looked.changes.length === 0) return looked;
  return mendIn(folder, id, "write", flags);
}

async function mendRules(log: Log, flags: RepairFlags): Promise<Report> {
  const { drafts, mended, left } = await mendingOf(log);
  const report: Report = {
    repaired: log.session,
    format: "throughline",
    changes: mended.map(mendedChange),
    left: left.flatMap(({ violation }) => findingsOf([violation])),
  };
  if (log.mode === "read" || drafts.length === 0) return report;
  if (flags.output !== undefined)
    throw new ThroughlineError({
      code: "usage",
      message: "a session whose log is whole is repaired by adding to it: leave -o away, or fork it first",
    });
  await log.append(drafts);
  await log.sync();
  return { ...report, written: log.place };
}

async function mendIn(
  folder: string,
  id: string,
  mode: "read" | "write",
  flags: RepairFlags,
): Promise<Report> {
  const log = await fileStore(folder).open(id, { mode });
  try {
    return await mendRules(log, flags);
  } finally {
    await log.close();
  }
}

function mendedChange({ violation, model, correction }: Mended): Change {
  const [finding] = findingsOf([violation]);
  const place = `the next request to ${model}, ${finding?.place ?? ""}`;
  if (correction.type === "compaction")
    return { rule: violation.rule, place, what: "added a word in place of the message that is missing" };
  const { what, action } = correction;
  const response = what.kind === "group" ? ` ${what.response}` : "";
  const call = what.kind === "call" ? ` ${what.callId}` : "";
  const [said, lost] = MENDED[action];
  return { rule: violation.rule, place, what: `${said}${response}${call}`, ...(lost === "" ? {} : { lost }) };
}

const MENDED: Readonly<Record<OverrideAction, readonly [string, string]>> = {
  omit_reasoning: ["sends without ids and reasoning the response", "its reasoning, in requests"],
  omit_ids: ["sends without ids the response", ""],
  translate: ["sends as plain text the response", ""],
  close_call: ["leaves out the call", "it and its result, in requests"],
  strip_field: ["leaves out a field", ""],
};

function readLog(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ThroughlineError({
      code: "file_unreadable",
      message: `cannot read ${path}: ${readProblem(error)}`,
    });
  }
}

function targetOf(
  folder: string,
  id: string,
  output: string | undefined,
): { readonly folder: string; readonly id: string } {
  if (output === undefined) return { folder, id: `${id}-repaired`.slice(-64).replace(/^[_-]+/, "") };
  if (!output.endsWith(".jsonl"))
    throw new ThroughlineError({
      code: "usage",
      message: `the copy of a session is a file with a name that ends in .jsonl, not ${inertLine(output, 100)}: give one with -o, or leave -o away`,
    });
  const full = resolve(output);
  return { folder: dirname(full), id: basename(full, ".jsonl") };
}

function blobsOf(folder: string, id: string): ReadonlyMap<string, Uint8Array> {
  const blobs = join(folder, `${id}.blobs`);
  try {
    const names = readdirSync(blobs).filter((name) => /^[0-9a-f]{64}$/.test(name));
    return new Map(names.map((name) => [name, readFileSync(join(blobs, name))]));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return new Map();
    throw error;
  }
}

function lossOf({ line, byte, bytes, problem, seqs }: LostStretch): Change {
  const events = seqs.length === 1 ? `event ${seqs[0]}` : `events ${seqs[0]} to ${seqs.at(-1)}`;
  return {
    rule: "file",
    place: `line ${line}, byte ${byte}`,
    what: `left out ${bytes} bytes: ${problem}`,
    ...(seqs.length === 0 ? {} : { lost: events }),
  };
}

function loosenedChange(response: string): Change {
  return {
    rule: "R02",
    place: `response ${response}`,
    what: "it lost a line: it is sent without its ids",
    lost: "its reasoning, in requests",
  };
}

function print(report: Report, flags: RepairFlags, out: Terminal["stdout"]): void {
  if (flags.json === true) {
    out.write(`${JSON.stringify(report, undefined, 2)}\n`);
    return;
  }
  const { repaired, format, written, changes, left } = report;
  for (const { place, rule, what, lost } of changes) {
    const loss = lost === undefined ? "" : ` (lost: ${inertLine(lost, 200)})`;
    out.write(`${inertLine(place, 200)}: ${rule}: ${inertLine(what, 300)}${loss}\n`);
  }
  for (const { place, rule, title, todo } of left)
    out.write(`${inertLine(place, 200)}: ${rule} ${title}: not repaired. To do: ${todo}\n`);
  const name = inertLine(repaired, 200);
  if (changes.length === 0 && left.length === 0) out.write(`${name}: ${format}: nothing wrong\n`);
  else if (written === undefined)
    out.write(`${name}: ${format}: ${amount(changes.length, "change")}, nothing written\n`);
  else
    out.write(
      `${name}: ${format}: ${amount(changes.length, "change")}, written to ${inertLine(written, 300)}\n`,
    );
}
