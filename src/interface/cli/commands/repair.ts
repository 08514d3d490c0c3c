/**
 * `throughline repair`: a copy of a broken history that is accepted again, and a report of what was changed and lost. The
 * original is never touched.
 */

import { basename, dirname, extname, join, resolve } from "node:path";

import { Command } from "commander";

import type { OverrideAction } from "../../../base/events/index.ts";
import { writeFilePieces } from "../../../base/files/index.ts";
import { codedError, codeOf, isThroughlineError } from "../../../base/support/index.ts";
import {
  type Change,
  type Finding,
  findingsOf,
  FORMATS,
  repairHistory,
} from "../../../diagnostics/check/index.ts";
import {
  bundleLog,
  damageOf,
  extentOf,
  fileStore,
  type Log,
  type LogExtent,
  looseBundle,
  type LostStretch,
  parseBundle,
  readWholeFile,
  salvageLog,
  type SessionBundle,
  writeSession,
} from "../../../runtime/log/index.ts";
import { type RuleRepair, planRepair } from "../../../runtime/session/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { amount } from "../amount.ts";
import { blobsBeside } from "../blobs-beside.ts";
import { emptyText, tailText } from "../crash-left.ts";
import { EXIT } from "../exit-codes.ts";
import { historyFile, looksLikeFile, parseFormat } from "../history-file.ts";
import { inertLine } from "../inert-text.ts";
import { readProblem } from "../read-problem.ts";
import { type LastFlag, sessionNamed, withLog } from "../session-argument.ts";
import { printJson, type Terminal } from "../terminal.ts";
import { writeProblem } from "../write-problem.ts";

interface RepairFlags extends LastFlag {
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
  readonly remaining: readonly Finding[];
  /** What is worth knowing and not wrong. */
  readonly notes?: readonly string[] | undefined;
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
      const undone = report.remaining.length > 0 || (flags.dryRun === true && report.changes.length > 0);
      finish(undone ? EXIT.differs : EXIT.ok);
    });
}

async function repair(name: string | undefined, flags: RepairFlags, terminal: Terminal): Promise<Report> {
  if (name !== undefined && looksLikeFile(name)) {
    const file = historyFile(name);
    if (file.log === undefined || flags.format !== undefined)
      return repairFile(name, file.read(), flags, terminal);
    const exported = file.exported();
    return exported === undefined ? repairLog(file.log, flags) : repairExported(name, exported, flags);
  }
  return repairLog({ folder: sessionsFolder(), id: await sessionNamed(name, flags, true) }, flags);
}

/** Where a log is. */
interface LogFile {
  readonly folder: string;
  readonly id: string;
}

function logFile(path: string): LogFile {
  const full = resolve(path);
  return { folder: dirname(full), id: basename(full, ".jsonl") };
}

function pathOf({ folder, id }: LogFile): string {
  return join(folder, `${id}.jsonl`);
}

async function repairFile(
  path: string,
  content: Uint8Array,
  flags: RepairFlags,
  terminal: Terminal,
): Promise<Report> {
  const { format, text, changes, remaining, notes } = repairHistory(content, {
    format: parseFormat(flags.format),
    vendor: flags.vendor,
    error: flags.error,
    dropReasoning: flags.dropReasoning,
  });
  const report = { repaired: path, format, changes, remaining, notes };
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
    throw codedError(
      exists ? "file_exists" : "file_unwritable",
      exists
        ? `${path} is there already: give another name with -o, or remove it`
        : `cannot write ${path}: ${writeProblem(error, path)}`,
    );
  }
}

/**
 * An export says by itself whether it is whole. One that is not is saved as a log beside it, which can be imported; a
 * rule that a whole one breaks is repaired in the session it becomes.
 */
async function repairExported(name: string, bytes: Buffer, flags: RepairFlags): Promise<Report> {
  let bundle: SessionBundle;
  try {
    bundle = parseBundle(bytes);
  } catch (error) {
    if (!isThroughlineError(error) || !["bundle_damaged", "log_damaged"].includes(error.code)) throw error;
    const { line, byte, problem } = error.details;
    const location = `line ${String(line)}, byte ${String(byte)}`;
    return salvage(looseBundle(bytes), logFile(name), flags, {
      rule: "file",
      location,
      what: String(problem),
    });
  }
  const { changes, remaining } = await mendRules(bundleLog(bundle), {});
  if (changes.length > 0 && flags.dryRun !== true)
    throw codedError(
      "usage",
      `an exported file is not added to: throughline sessions import ${name}, then repair the session`,
    );
  return { repaired: name, format: "throughline", changes, remaining };
}

async function repairLog(file: LogFile, flags: RepairFlags): Promise<Report> {
  if ([flags.error, flags.dropReasoning, flags.vendor].some((flag) => flag !== undefined)) {
    throw codedError(
      "usage",
      "a session heals what a provider refuses by itself: --error, --drop-reasoning and --vendor are for files of other tools",
    );
  }
  const bytes = readLog(pathOf(file));
  const extent = wholeExtent(bytes);
  if (extent?.events === 0)
    return {
      repaired: file.id,
      format: "throughline",
      changes: [],
      remaining: [],
      notes: [emptyText(extent.tail)],
    };
  // The next writer moves an unfinished end aside by itself; a copy without it is made where one is asked for.
  if (extent?.tail !== undefined && flags.output === undefined)
    return { ...(await repairRules(file, flags)), notes: [tailText(extent.tail)] };
  if (extent !== undefined && extent.tail === undefined) return repairRules(file, flags);
  return salvage({ lines: bytes, blobs: blobsBeside(pathOf(file)) }, file, flags);
}

/** A copy of what is whole, as a log of its own; `known` is what was found wrong before its lines were looked at. */
async function salvage(
  whole: Pick<SessionBundle, "lines" | "blobs">,
  file: LogFile,
  flags: RepairFlags,
  known?: Change,
): Promise<Report> {
  const { lines, lost, loosened } = salvageLog(whole.lines, { session: file.id });
  const found = lost.length === 0 && known !== undefined ? [known] : lost.map(lossOf);
  const changes = [...found, ...loosened.map(loosenedChange)];
  const report = { repaired: file.id, format: "throughline", changes, remaining: [] };
  if (flags.dryRun === true) return report;
  const target = targetOf(file, flags.output);
  const written = pathOf(target);
  try {
    await writeSession(target.folder, { lines, blobs: whole.blobs }, { id: target.id });
  } catch (error) {
    if (codeOf(error) !== "session_exists") throw error;
    const instead = "give another name that ends in .jsonl with -o, or remove it";
    throw codedError("file_exists", `${written} is there already: ${instead}`, error);
  }
  // What is whole again may still break a rule: it was not our program that damaged it.
  const rules = await repairRules(target, {});
  return { ...report, changes: [...changes, ...rules.changes], remaining: rules.remaining, written };
}

/** Undefined: it is damaged. */
function wholeExtent(bytes: Buffer): LogExtent | undefined {
  try {
    return extentOf(bytes);
  } catch (error) {
    if (damageOf(error) === undefined) throw error;
    return undefined;
  }
}

/** A whole log whose next request would be refused: corrections are appended, nothing that stands in it is changed. */
async function repairRules({ folder, id }: LogFile, flags: RepairFlags): Promise<Report> {
  const mend = (mode: "read" | "write"): Promise<Report> =>
    withLog(fileStore(folder).open(id, { mode }), (log) => mendRules(log, flags));
  const looked = await mend("read");
  // Nobody is kept from writing, and nothing is touched, where nothing is wrong.
  return flags.dryRun === true || looked.changes.length === 0 ? looked : mend("write");
}

async function mendRules(log: Log, flags: RepairFlags): Promise<Report> {
  const { drafts, repairs, remaining } = await planRepair(log);
  const report: Report = {
    repaired: log.session,
    format: "throughline",
    changes: repairs.map(mendedChange),
    remaining: remaining.flatMap(({ violation }) => findingsOf([violation])),
  };
  if (log.mode === "read" || drafts.length === 0) return report;
  if (flags.output !== undefined)
    throw codedError(
      "usage",
      "a session whose log is whole is repaired by adding to it: leave -o away, or fork it first",
    );
  await log.append(drafts, { durable: true });
  return { ...report, written: log.location };
}

function mendedChange({ violation, model, correction }: RuleRepair): Change {
  const [finding] = findingsOf([violation]);
  const location = `the next request to ${model}, ${finding?.location ?? ""}`;
  if (correction.type === "compaction")
    return { rule: violation.rule, location, what: "added a word in place of the message that is missing" };
  const { what, action } = correction;
  const named = what.kind === "group" ? ` ${what.response}` : what.kind === "call" ? ` ${what.callId}` : "";
  const [said, lost] = MENDED[action];
  return { rule: violation.rule, location, what: `${said}${named}`, lost };
}

const MENDED: Readonly<Record<OverrideAction, readonly [said: string, lost?: string]>> = {
  omit_reasoning: ["sends without ids and reasoning the response", "its reasoning, in requests"],
  omit_ids: ["sends without ids the response"],
  translate: ["sends as plain text the response"],
  close_call: ["leaves out the call", "it and its result, in requests"],
  strip_field: ["leaves out a field"],
};

function readLog(path: string): Buffer {
  try {
    return readWholeFile(path, path);
  } catch (error) {
    if (isThroughlineError(error)) throw error;
    throw codedError("file_unreadable", `cannot read ${path}: ${readProblem(error)}`);
  }
}

function targetOf({ folder, id }: LogFile, output: string | undefined): LogFile {
  if (output === undefined) return { folder, id: `${id}-repaired`.slice(-64).replace(/^[_-]+/, "") };
  if (!output.endsWith(".jsonl"))
    throw codedError(
      "usage",
      `the copy of a session is a file with a name that ends in .jsonl, not ${inertLine(output, 100)}: give one with -o, or leave -o away`,
    );
  return logFile(output);
}

function lossOf({ line, byte, bytes, problem, seqs }: LostStretch): Change {
  const events = seqs.length === 1 ? `event ${seqs[0]}` : `events ${seqs[0]} to ${seqs.at(-1)}`;
  return {
    rule: "file",
    location: `line ${line}, byte ${byte}`,
    what: `left out ${bytes} bytes: ${problem}`,
    lost: seqs.length === 0 ? undefined : events,
  };
}

function loosenedChange(response: string): Change {
  return {
    rule: "R02",
    location: `response ${response}`,
    what: "it lost a line: it is sent without its ids",
    lost: "its reasoning, in requests",
  };
}

function print(report: Report, flags: RepairFlags, out: Terminal["stdout"]): void {
  if (flags.json === true) return printJson(out, report);
  const { repaired, format, written, changes, remaining, notes = [] } = report;
  for (const note of notes) out.write(`note: ${note}\n`);
  for (const { location, rule, what, lost } of changes) {
    const loss = lost === undefined ? "" : ` (lost: ${inertLine(lost, 200)})`;
    out.write(`${inertLine(location, 200)}: ${rule}: ${inertLine(what, 300)}${loss}\n`);
  }
  for (const { location, rule, title, todo } of remaining)
    out.write(`${inertLine(location, 200)}: ${rule} ${title}: not repaired. To do: ${todo}\n`);
  const head = `${inertLine(repaired, 200)}: ${format}`;
  if (changes.length === 0 && remaining.length === 0) return void out.write(`${head}: nothing wrong\n`);
  const where = written === undefined ? "nothing written" : `written to ${inertLine(written, 300)}`;
  out.write(`${head}: ${amount(changes.length, "change")}, ${where}\n`);
}
