/**
 * `throughline repair`: writes a copy of a broken history that providers accept again, and reports what was changed and
 * lost. It never changes the original, except that corrections are appended to a whole log that breaks a rule.
 */

import { basename, dirname, extname, join } from "node:path";

import { Command } from "commander";

import type { OverrideAction } from "../../../base/events/index.ts";
import { writeFilePieces, writeProblem } from "../../../base/files/index.ts";
import { codedError, codeOf, isThroughlineError } from "../../../base/support/index.ts";
import { type Change, type Finding, findingsOf, repairHistory } from "../../../diagnostics/check/index.ts";
import {
  bundleLog,
  damageOf,
  extentOf,
  type Log,
  type LogExtent,
  looseBundle,
  type LostStretch,
  parseBundle,
  salvageLog,
  type SessionBundle,
} from "../../../runtime/log/index.ts";
import { type RuleRepair, planRepair } from "../../../runtime/session/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { amount } from "../amount.ts";
import { emptyText, tailText } from "../crash-left.ts";
import { EXIT } from "../exit-codes.ts";
import {
  FORMAT_FLAG,
  historyFile,
  looksLikeFile,
  looksLikeLog,
  namingFile,
  parseFormat,
  pipedHistory,
  STDIN,
  VENDOR_FLAG,
} from "../history-file.ts";
import { inertLine } from "../inert-text.ts";
import { databasePlace, filePlace, folderPlace, type LogPlace } from "../log-place.ts";
import { chosenDatabase } from "../open-store.ts";
import { type LastFlag, sessionNamed, withLog } from "../session-argument.ts";
import { takesStore } from "../store-flag.ts";
import { printJson, type Terminal } from "../terminal.ts";

interface RepairFlags extends LastFlag {
  readonly output?: string | undefined;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly format?: string;
  readonly vendor?: string;
  readonly error?: string;
  /** False when `--no-reasoning` was given. */
  readonly reasoning?: boolean;
  readonly dropReasoning?: boolean | undefined;
  readonly json?: boolean;
}

interface Report {
  readonly repaired: string;
  readonly format: string;
  /** The path of the copy, if one was written. */
  readonly written?: string;
  readonly changes: readonly Change[];
  readonly remaining: readonly Finding[];
  /** Remarks that are not problems. */
  readonly notes?: readonly string[] | undefined;
}

export function repairCommand(terminal: Terminal, finish: (code: number) => void): Command {
  return takesStore(
    new Command("repair").description(
      "Repair a broken history so that providers accept it, and report what changed",
    ),
  )
    .argument("[session-or-file]", "a session's id, or the path of a file; - reads standard input")
    .option("--last", "use the last session of this directory")
    .option(
      "-o, --output <file>",
      "write the copy to this file (default: next to the original, or stdout for piped input); - means stdout, for other tools' files",
    )
    .option("--force", "with -o, for other tools' files: overwrite an existing file")
    .option("--dry-run", "show what would change without writing anything")
    .option("--error <text>", "also repair what caused this error from the API")
    .option("--no-reasoning", "leave out encrypted reasoning, to continue with another model or account")
    .option("--drop-reasoning", "same as --no-reasoning")
    .option(...FORMAT_FLAG)
    .option(...VENDOR_FLAG)
    .option("--json", "print the report as one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  throughline repair rollout.jsonl                 write rollout.repaired.jsonl
  throughline repair request.json --dry-run
  throughline repair < broken.json > whole.json
  throughline repair chat.json --error "Item 'fc_1' of type 'function_call' was provided …"
  throughline repair SESSION                       save what is left of a damaged log to a new session, or
                                                   append corrections to a log that a provider would reject

Exits with code 5 if something could not be repaired or, with --dry-run, if something would be repaired.`,
    )
    .action(async (name: string | undefined, given: RepairFlags) => {
      const piped = await pipedHistory(name, given, terminal);
      const dropReasoning = given.reasoning === false || given.dropReasoning === true ? true : undefined;
      const output = given.output ?? (piped === undefined ? undefined : "-");
      const flags = { ...given, dropReasoning, output };
      const report =
        piped === undefined ? await repair(name, flags, terminal) : await repairPiped(piped, flags, terminal);
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
    return exported === undefined
      ? repairLog(folderPlace(file.log.folder, file.log.id), flags)
      : repairExported(name, exported, flags);
  }
  const id = await sessionNamed(name, flags, true);
  const database = chosenDatabase(flags);
  return database === undefined
    ? repairLog(folderPlace(sessionsFolder(), id), flags)
    : repairLog(await databasePlace(database, id), flags);
}

async function repairPiped(bytes: Buffer, flags: RepairFlags, terminal: Terminal): Promise<Report> {
  if (flags.format !== undefined || !looksLikeLog(bytes.toString("utf8", 0, 4096)))
    return repairFile(STDIN, bytes, flags, terminal);
  throw codedError(
    "usage",
    "standard input is a Throughline log, which is repaired in place: save it to a file and repair that, or import it and repair the session",
  );
}

async function repairFile(
  path: string,
  content: Uint8Array,
  flags: RepairFlags,
  terminal: Terminal,
): Promise<Report> {
  const options = {
    format: parseFormat(flags.format),
    vendor: flags.vendor,
    error: flags.error,
    dropReasoning: flags.dropReasoning,
  };
  const repaired = namingFile(path, () => repairHistory(content, options));
  const { format, text, changes, remaining, notes } = repaired;
  const report = { repaired: path, format, changes, remaining, notes };
  if (flags.dryRun === true) return report;
  if (flags.output === "-") {
    terminal.stdout.write(text);
    return { ...report, written: "standard output" };
  }
  if (changes.length === 0 && path !== STDIN) return report;
  const extension = extname(path);
  const beside = join(dirname(path), `${basename(path, extension)}.repaired${extension}`);
  return { ...report, written: await writeCopy(flags.output ?? beside, text, flags.force === true) };
}

/** Writes the whole file or none of it, and overwrites another file only if told to. */
async function writeCopy(path: string, text: string, force: boolean): Promise<string> {
  try {
    await writeFilePieces(path, [Buffer.from(text)], { how: force ? "over" : "new" });
    return path;
  } catch (error) {
    const exists = codeOf(error) === "EEXIST" || codeOf(error) === "EISDIR";
    throw codedError(
      exists ? "file_exists" : "file_unwritable",
      exists
        ? `${path} already exists: choose another name with -o, or add --force`
        : `cannot write ${path}: ${writeProblem(error, path)}`,
    );
  }
}

/**
 * An exported file says whether it is whole. A damaged one is saved as a log next to it, which can be imported. A whole
 * one that breaks a rule is repaired after it has been imported.
 */
async function repairExported(name: string, bytes: Buffer, flags: RepairFlags): Promise<Report> {
  let bundle: SessionBundle;
  try {
    bundle = parseBundle(bytes);
  } catch (error) {
    if (!isThroughlineError(error) || !["bundle_damaged", "log_damaged"].includes(error.code)) throw error;
    const { line, byte, problem } = error.details;
    const location = `line ${String(line)}, byte ${String(byte)}`;
    return salvage(looseBundle(bytes), filePlace(name), flags, {
      rule: "file",
      location,
      what: String(problem),
    });
  }
  const { changes, remaining } = await mendRules(bundleLog(bundle), {});
  if (changes.length > 0 && flags.dryRun !== true)
    throw codedError(
      "usage",
      `cannot append corrections to an exported file: run throughline sessions import ${name}, then repair the session`,
    );
  return { repaired: name, format: "throughline", changes, remaining };
}

async function repairLog(place: LogPlace, flags: RepairFlags): Promise<Report> {
  if ([flags.error, flags.dropReasoning, flags.vendor].some((flag) => flag !== undefined)) {
    throw codedError(
      "usage",
      "--error, --no-reasoning and --vendor are for other tools' files; a session handles rejected requests automatically",
    );
  }
  const raw = await place.read();
  if (raw.problem !== undefined)
    return salvage(raw, place, flags, { rule: "file", location: "the end of the log", what: raw.problem });
  const extent = wholeExtent(raw.lines);
  if (extent?.events === 0)
    return {
      repaired: place.id,
      format: "throughline",
      changes: [],
      remaining: [],
      notes: [emptyText(extent.tail)],
    };
  // The next writer moves an unfinished tail aside anyway, so a copy without it is written only with -o.
  if (extent?.tail !== undefined && flags.output === undefined)
    return { ...(await repairRules(place, flags)), notes: [tailText(extent.tail)] };
  if (extent !== undefined && extent.tail === undefined) return repairRules(place, flags);
  return salvage(raw, place, flags);
}

/** Writes the undamaged part to a new log. `known` is the damage that was found before its lines were checked. */
async function salvage(
  whole: Pick<SessionBundle, "lines" | "blobs">,
  place: LogPlace,
  flags: RepairFlags,
  known?: Change,
): Promise<Report> {
  const { lines, lost, loosened } = salvageLog(whole.lines, { session: place.id });
  const found = lost.length === 0 && known !== undefined ? [known] : lost.map(lossOf);
  const changes = [...found, ...loosened.map(loosenedChange)];
  const report = { repaired: place.id, format: "throughline", changes, remaining: [] };
  if (flags.dryRun === true) return report;
  const target = targetOf(place, flags.output);
  await target.create({ lines, blobs: whole.blobs });
  // The saved part may still break a rule, because the damage did not come from this program.
  const rules = await repairRules(target, {});
  return {
    ...report,
    changes: [...changes, ...rules.changes],
    remaining: rules.remaining,
    written: target.name,
  };
}

/** The extent of a whole log; undefined if the log is damaged. */
function wholeExtent(bytes: Buffer): LogExtent | undefined {
  try {
    return extentOf(bytes);
  } catch (error) {
    if (damageOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Appends corrections to a whole log whose next request would be rejected. Existing events do not change. */
async function repairRules(place: LogPlace, flags: RepairFlags): Promise<Report> {
  const mend = (mode: "read" | "write"): Promise<Report> =>
    withLog(place.open(mode), (log) => mendRules(log, flags));
  const looked = await mend("read");
  // If nothing is wrong, do not lock out other writers or touch the log.
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
      "this session's log is intact, so corrections are appended to it: omit -o, or fork the session first",
    );
  await log.append(drafts, { durable: true });
  return { ...report, written: log.location };
}

function mendedChange({ violation, model, correction }: RuleRepair): Change {
  const [finding] = findingsOf([violation]);
  const location = `the next request to ${model}, ${finding?.location ?? ""}`;
  if (correction.type === "compaction")
    return { rule: violation.rule, location, what: "added a text instead of the missing message" };
  const { what, action } = correction;
  const named = what.kind === "group" ? ` ${what.response}` : what.kind === "call" ? ` ${what.callId}` : "";
  const [said, lost] = MENDED[action];
  return { rule: violation.rule, location, what: `${said}${named}`, lost };
}

const MENDED: Readonly<Record<OverrideAction, readonly [said: string, lost?: string]>> = {
  omit_reasoning: ["sends this response without ids and reasoning:", "its reasoning, in requests"],
  omit_ids: ["sends this response without ids:"],
  translate: ["sends this response as plain text:"],
  close_call: ["leaves out the call", "the call and its result, in requests"],
  strip_field: ["leaves out a field"],
};

function targetOf(place: LogPlace, output: string | undefined): LogPlace {
  if (output === undefined) return place.other(`${place.id}-repaired`.slice(-64).replace(/^[_-]+/, ""));
  if (!output.endsWith(".jsonl"))
    throw codedError(
      "usage",
      `-o ${inertLine(output, 100)}: the copy of a session needs a name that ends in .jsonl: choose one, or omit -o`,
    );
  return filePlace(output);
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
    what: "it lost a line, so it is sent without its ids",
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
  if (changes.length === 0 && remaining.length === 0) return void out.write(`${head}: no problems\n`);
  const where = written === undefined ? "nothing written" : `written to ${inertLine(written, 300)}`;
  out.write(`${head}: ${amount(changes.length, "change")}, ${where}\n`);
}
