/** `throughline check`: finds what a provider would reject in a history, ours or another tool's. */

import { Command } from "commander";

import { checkHistory, type Finding, findingsOf } from "../../../diagnostics/check/index.ts";
import { factsOf } from "../../../runtime/facts/index.ts";
import {
  bundleLog,
  damagedLog,
  damageOf,
  fileStore,
  type Log,
  parseBundle,
} from "../../../runtime/log/index.ts";
import { previewFromLog, rebuildRequest } from "../../../runtime/session/index.ts";
import { amount } from "../amount.ts";
import { crashLeft } from "../crash-left.ts";
import { EXIT } from "../exit-codes.ts";
import {
  FORMAT_FLAG,
  historyFile,
  looksLikeFile,
  namingFile,
  parseFormat,
  pipedHistory,
  pipedLog,
  STDIN,
  VENDOR_FLAG,
} from "../history-file.ts";
import { inertLine } from "../inert-text.ts";
import { eventNames, lostBefore } from "../lost-lines.ts";
import { modelNamed } from "../project-model.ts";
import { type LastFlag, openToRead, sessionNamed, withLog } from "../session-argument.ts";
import { takesStore } from "../store-flag.ts";
import { printJson, type Terminal } from "../terminal.ts";

interface CheckFlags extends LastFlag {
  readonly model?: string;
  readonly format?: string;
  readonly vendor?: string;
  readonly json?: boolean;
}

interface Report {
  readonly checked: string;
  readonly format: string;
  /** Describes what was checked. */
  readonly what: string;
  readonly findings: readonly Finding[];
  /** Remarks that are not problems. */
  readonly notes?: readonly string[] | undefined;
}

export function checkCommand(terminal: Terminal, finish: (code: number) => void): Command {
  return takesStore(
    new Command("check").description(
      "Find what a provider would reject in a session, a request, or another tool's history",
    ),
  )
    .argument("[session-or-file]", "a session's id, or the path of a file; - reads standard input")
    .option("--last", "use the last session of this directory")
    .option(
      "-m, --model <provider/model[:effort]>",
      "for a session: check the next request as if it went to this model",
    )
    .option(...FORMAT_FLAG)
    .option(...VENDOR_FLAG)
    .option("--json", "print the findings as one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  throughline check request.json        check a request body, or an array of items or messages
  throughline check rollout.jsonl       check a Codex rollout, a pi session, a Claude Code transcript …
  cat request.json | throughline check -
  throughline check --last              check every request of the last session, and the next one

Exits with code 5 if it finds a problem.`,
    )
    .action(async (name: string | undefined, flags: CheckFlags) => {
      const report = await check(name, flags, terminal);
      print(report, flags, terminal);
      finish(report.findings.length === 0 ? EXIT.ok : EXIT.differs);
    });
}

async function check(name: string | undefined, flags: CheckFlags, terminal: Terminal): Promise<Report> {
  parseFormat(flags.format); // reject a bad value even if the format is not used
  const piped = await pipedHistory(name, flags, terminal);
  if (piped !== undefined) {
    const bundle = flags.format === undefined ? pipedLog(piped) : undefined;
    return bundle === undefined
      ? checkFile(STDIN, piped, flags)
      : checkLog(STDIN, bundleLog(bundle), flags.model);
  }
  if (name !== undefined && looksLikeFile(name)) {
    const file = historyFile(name);
    if (file.log === undefined || flags.format !== undefined) return checkFile(name, file.read(), flags);
    const exported = file.exported();
    if (exported !== undefined) return checkLog(name, bundleLog(parseBundle(exported)), flags.model);
    return checkStored(fileStore(file.log.folder).open(file.log.id, { mode: "read" }), name, flags.model);
  }
  const id = await sessionNamed(name, flags, true);
  return checkStored(openToRead(id, flags), id, flags.model);
}

function checkFile(file: string, content: Uint8Array, flags: CheckFlags): Report {
  const options = { format: parseFormat(flags.format), vendor: flags.vendor };
  const { format, version, pieces, findings, notes } = namingFile(file, () => checkHistory(content, options));
  const said = version === undefined ? "" : `, version ${version}`;
  return { checked: file, format, what: `${format}${said}, ${amount(pieces, "item")}`, findings, notes };
}

function checkStored(opening: Promise<Log>, name: string, model: string | undefined): Promise<Report> {
  const told = opening.catch((error: unknown) => {
    const damage = damageOf(error);
    // The log knows only its id; the message should repeat the name the user typed.
    throw damage === undefined ? error : damagedLog(damage, name, error);
  });
  return withLog(told, (log) => checkLog(name, log, model));
}

/** Checks every past request against its hash, and the next one against the rules. */
async function checkLog(name: string, log: Log, model: string | undefined): Promise<Report> {
  const findings: Finding[] = [];
  const { requests, settings } = factsOf(log.events);
  const behindLost: number[] = [];
  const withSecret: number[] = [];
  const withFront: number[] = [];
  const erased =
    log.events.findLast((event) => event.type === "notice" && event.code === "erased")?.seq ?? -1;
  const frontLeft =
    log.events.findLast((event) => event.type === "notice" && event.code === "front_left")?.seq ?? -1;
  const own = requests.filter(({ imported }) => !imported);
  for (const { request } of own) {
    const { proof, start } = await rebuildRequest(log, request);
    if (proof !== "differs") continue;
    if (lostBefore(log.events, start.seq).length > 0) behindLost.push(request);
    else if (start.seq < erased) withSecret.push(request);
    else if (start.seq < frontLeft) withFront.push(request);
    else
      findings.push({
        rule: "hash",
        title: "The log rebuilds every request byte for byte",
        location: `request ${request}`,
        message: "the rebuilt request is not the one that was sent",
        todo: "The log or the program has changed since then. Report this with the log.",
        evidence: "",
      });
  }
  // A log that ends before its first settings has no next request yet.
  const hasNext = model !== undefined || settings !== undefined;
  if (hasNext) findings.push(...findingsOf((await previewFromLog(log, modelNamed(model))).violations));
  const left = await crashLeft(log);
  const notes = [
    ...(left === undefined ? [] : [left]),
    ...repairNotes(log, behindLost),
    ...eraseNotes(erased, withSecret),
    ...importNotes(requests.length - own.length),
    ...(frontLeft === -1 ? [] : [`this log begins with a summary${cannotRebuild(withFront, "")}`]),
  ];
  return {
    checked: name,
    format: "throughline",
    what: `${amount(log.events.length, "event")}, ${amount(own.length, "request")}${hasNext ? " and the next one" : ""}`,
    findings,
    notes: notes.length === 0 ? undefined : notes,
  };
}

function importNotes(count: number): readonly string[] {
  if (count === 0) return [];
  return [
    `${amount(count, "answer")} ${count === 1 ? "was" : "were"} imported; there is no request to rebuild`,
  ];
}

/** The requests contained the secret, so they cannot be rebuilt. That is the purpose of erasing. */
function eraseNotes(erased: number, requests: readonly number[]): readonly string[] {
  return erased === -1 ? [] : [`a secret was erased from this log${cannotRebuild(requests, "")}`];
}

function cannotRebuild(requests: readonly number[], where: string): string {
  if (requests.length === 0) return "";
  const word = requests.length === 1 ? "request" : "requests";
  return `; ${word} ${requests.join(", ")}${where} cannot be rebuilt as sent`;
}

/** Requests after a lost line cannot be verified any more. That is known and needs no repair. */
function repairNotes(log: Log, behindLost: readonly number[]): readonly string[] {
  const lost = lostBefore(log.events, Number.POSITIVE_INFINITY);
  if (lost.length === 0) return [];
  const [is, it] = lost.length === 1 ? ["is", "it"] : ["are", "them"];
  const cannot = cannotRebuild(behindLost, ` after ${it}`);
  return [`this log was repaired: ${eventNames(lost)} ${is} lost${cannot}`];
}

function print(report: Report, flags: CheckFlags, terminal: Terminal): void {
  if (flags.json === true) return printJson(terminal.stdout, report);
  const { checked, what, findings, notes = [] } = report;
  for (const note of notes) terminal.stdout.write(`note: ${note}\n`);
  for (const { rule, title, location, message, todo, evidence } of findings) {
    const source = evidence === "" ? "" : ` (${evidence})`;
    // Every rule but this one quotes the answer of the API; a wrong hash is found in the log itself.
    const said = rule === "hash" ? "found" : "the API would answer";
    terminal.stdout.write(
      `${location}: ${rule} ${title}${source}\n  ${said}: ${inertLine(message, 300)}\n  to do: ${todo}\n`,
    );
  }
  const count = findings.length === 0 ? "no problems" : amount(findings.length, "problem");
  terminal.stdout.write(`${inertLine(checked, 200)}: ${what}: ${count}\n`);
}
