/**
 * `throughline sessions import`: turns a bundle, or a log with the blobs next to it, back into a session, byte for byte;
 * and makes a session of another tool's history. Writes a whole session or nothing. Rejects a damaged file and reports
 * the place.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { Command } from "commander";

import { codedError, isThroughlineError, ThroughlineError } from "../../../base/support/index.ts";
import { FORMATS } from "../../../diagnostics/check/index.ts";
import { factsOf } from "../../../runtime/facts/index.ts";
import {
  blobsIn,
  holdsWholeLine,
  isBundle,
  parseBundle,
  parsePlainLog,
  readWholeFile,
  type SessionBundle,
} from "../../../runtime/log/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { amount } from "../amount.ts";
import { blobsBeside } from "../blobs-beside.ts";
import type { Finish } from "../command-table.ts";
import { FORMAT_FLAG, looksLikeLog, parseFormat, pipedHistory, STDIN } from "../history-file.ts";
import { importOther, type ImportSource, reading } from "../import-other.ts";
import { inertLine } from "../inert-text.ts";
import { type LongWork, longWork } from "../long-work.ts";
import { openStore, type StoreFlags } from "../open-store.ts";
import { putSession } from "../put-session.ts";
import { takesStore } from "../store-flag.ts";
import type { Terminal } from "../terminal.ts";

interface ImportFlags extends StoreFlags {
  readonly id?: string;
  readonly format?: string;
  readonly from?: string;
}

export function importCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    new Command("import").description(
      "Import a session: an exported JSONL file, a copied log, or another tool's history",
    ),
  )
    .argument(
      "<file>",
      "a file that sessions export wrote, the .jsonl log of a session, or another tool's history; - reads standard input",
    )
    .option("--id <id>", "give the imported session this id (default: its own, or one made from the content)")
    .option(
      "--from <provider/model>",
      "for another tool's history: your account of this model made it, so its reasoning goes back to that model",
    )
    .option(...FORMAT_FLAG)
    .addHelpText(
      "after",
      `
Formats of other tools:
${Object.entries(FORMATS)
  .map(([name, what]) => `  ${name.padEnd(14)} ${what}`)
  .join("\n")}

Examples:
  throughline sessions import session.jsonl                 restore an exported session
  throughline sessions import rollout.jsonl                 continue a Codex rollout
  ssh HOST throughline sessions export ID | throughline sessions import -
  throughline sessions import chat.json --from openai/gpt-5.6   … and send its reasoning back to your account`,
    )
    .action(async (file: string, flags: ImportFlags) => {
      // Before the signals are caught, so that Ctrl-C ends a wait for the pipe.
      const piped = file === "-" ? await pipedHistory(file, {}, terminal) : undefined;
      const source = { name: piped === undefined ? file : STDIN, piped };
      finish(await longWork(terminal, (work) => importFile(source, flags, terminal, work)));
    });
}

async function importFile(
  source: ImportSource,
  flags: ImportFlags,
  terminal: Terminal,
  work: LongWork,
): Promise<void> {
  const format = parseFormat(flags.format);
  if (format === undefined && isOurs(source)) {
    if (flags.from !== undefined)
      throw codedError(
        "usage",
        "--from is for another tool's history; an exported session knows who made it",
      );
    await importSession(source, flags, terminal, work);
  } else await importOther(source, { ...flags, format }, terminal, work);
}

async function importSession(
  source: ImportSource,
  flags: ImportFlags,
  terminal: Terminal,
  { signal, tell }: LongWork,
): Promise<void> {
  const { name, piped } = source;
  const bytes = piped ?? reading(name, () => readWholeFile(name, name));
  await tell("read", bytes.length, bytes.length);
  const bundle = sessionIn(source, bytes);
  const [first] = bundle.events;
  const own = first?.type === "session_start" ? first.session : "";
  const id = flags.id ?? own;
  await putSession(flags, bundle, {
    id,
    signal,
    onProgress: (done, all) => void tell("written", done, all),
  });
  const { length } = bundle.events;
  terminal.stderr.write(`imported ${amount(length, "event")} and ${amount(bundle.blobs.size, "blob")}\n`);
  if (!isBundle(bytes)) tellPlain(bundle, terminal);
  await dropRules(id, bundle, flags, terminal);
  terminal.stdout.write(`${id}\n`);
}

/** The author of the file could have allowed anything in it. Only a person here may let calls run without a question. */
async function dropRules(
  id: string,
  { events }: SessionBundle,
  flags: StoreFlags,
  terminal: Terminal,
): Promise<void> {
  const rules = [...factsOf(events).rules.keys()];
  if (rules.length === 0) return;
  const log = await (await openStore(flags)).open(id, { mode: "write" });
  const removed = rules.map(
    (rule) => ({ type: "permission_rule", rule, by: "person", removed: true }) as const,
  );
  try {
    await log.append(removed, { durable: true });
  } finally {
    await log.close();
  }
  const named = rules.map((rule) => inertLine(rule, 600)).join(", ");
  terminal.stderr.write(
    `note: the session allowed calls without a question; these rules were removed: ${named}. /allow RULE adds one again\n`,
  );
}

/** Adds to a damage report what to do about it before the file has become a session. */
function sessionIn({ name: file, piped }: ImportSource, bytes: Buffer): SessionBundle {
  try {
    if (isBundle(bytes)) return parseBundle(bytes);
    const plain = parsePlainLog(bytes, new Map());
    if (piped !== undefined) return plain;
    const beside = blobsBeside(file);
    const named = blobsIn(plain.events).filter((name) => beside.has(name));
    return { ...plain, blobs: new Map(named.map((name) => [name, beside.get(name) ?? Buffer.alloc(0)])) };
  } catch (error) {
    if (!isThroughlineError(error) || !["bundle_damaged", "log_damaged"].includes(error.code)) throw error;
    const { line, byte, problem } = error.details;
    const remedy = holdsWholeLine(bytes)
      ? `Export it again, or save the undamaged part with throughline repair ${piped === undefined ? file : "FILE"} -o NEW.jsonl and import that`
      : "No line of it is complete: export it again, or use another copy";
    throw new ThroughlineError({
      code: error.code,
      message: `${file} is not a complete session: line ${String(line)}, byte ${String(byte)}: ${String(problem)}. Nothing was written. ${remedy}`,
      details: error.details,
      cause: error,
    });
  }
}

/** Warns about two limits of a plain log: it does not say where it should end, and its blobs are in other files. */
function tellPlain({ events, blobs }: SessionBundle, terminal: Terminal): void {
  terminal.stderr.write(
    `note: this is a log, not an exported file, so lines missing at its end go unnoticed; its last event is from ${events.at(-1)?.at ?? ""}\n`,
  );
  const gone = blobsIn(events).length - blobs.size;
  if (gone > 0)
    terminal.stderr.write(
      `note: ${amount(gone, "blob")} ${gone === 1 ? "was" : "were"} missing from the ….blobs folder next to it; requests will say that ${gone === 1 ? "it is" : "they are"} gone\n`,
    );
}

/**
 * Whether the file is an export or a log of ours. An empty file, or one of zeros, is a session that a crash damaged. So
 * is anything in the sessions folder.
 */
function isOurs({ name: file, piped }: ImportSource): boolean {
  if (piped !== undefined) return looksLikeLog(piped.toString("utf8", 0, START_BYTES));
  return reading(file, () => {
    const start = startOf(file);
    if (dirname(resolve(file)) === resolve(sessionsFolder())) return true;
    return /^\0*$/.test(start) || looksLikeLog(start);
  });
}

const START_BYTES = 4096;

/** Without waiting for the other end of a pipe. */
function startOf(file: string): string {
  const open = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(open).isFile()) throw new Error("not a regular file");
    const start = Buffer.alloc(START_BYTES);
    return start.toString("utf8", 0, readSync(open, start, 0, start.length, 0));
  } finally {
    closeSync(open);
  }
}
