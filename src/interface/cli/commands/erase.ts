/**
 * `throughline sessions erase`: copies a session without a leaked secret and reports what changed. Logs are append-only:
 * this is the only way to remove something, and it works by writing a new log.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { Command } from "commander";

import { fileProblem, readRegularFile, readText } from "../../../base/files/index.ts";
import { codedError, messageOf, readProblem } from "../../../base/support/index.ts";
import {
  eraseFrom,
  type EraseReport,
  readBundle,
  type Replace,
  standsBeside,
  writeSession,
} from "../../../runtime/log/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { amount } from "../amount.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { patternReplacer, valueReplacer } from "../export/secret-patterns.ts";
import { type LastFlag, sessionNamed, sessionStore, takesSession, withLog } from "../session-argument.ts";
import { printJson, type Terminal } from "../terminal.ts";

interface EraseFlags extends LastFlag {
  readonly secretFile?: string;
  readonly pattern?: string;
  readonly replace?: boolean;
  readonly id?: string;
  readonly json?: boolean;
}

export function eraseCommand(terminal: Terminal, finish: Finish): Command {
  return takesSession(
    new Command("erase").description("Copy a session without a leaked secret, and report what changed"),
  )
    .option(
      "--secret-file <file>",
      "read the secret from this file, which holds nothing else (other users can see command lines)",
    )
    .option("--pattern <regex>", "erase what matches this regular expression instead")
    .option("--replace", "replace the session with the copy, and remove the session's other files")
    .option("--id <id>", "give the copy this id (default: the session's id with -erased)")
    .option("--json", "print the report as one JSON object")
    .action(async (name: string | undefined, flags: EraseFlags) => {
      finish(await erase(name, flags, terminal));
    });
}

async function erase(name: string | undefined, flags: EraseFlags, terminal: Terminal): Promise<number> {
  const replace = replacerOf(flags);
  const id = await sessionNamed(name, flags);
  const bundle = await withLog(sessionStore().open(id, { mode: "read" }), readBundle);
  const beside = besideWith(id, replace, new Set(bundle.blobs.keys()));
  const { bundle: clean, report } = eraseFrom(bundle, replace);
  if (report.events.length === 0 && report.blobs.length === 0 && beside.length === 0) {
    terminal.stderr.write("not found in this session: nothing was written\n");
    return EXIT.turnFailed;
  }
  const copy = flags.replace === true ? id : (flags.id ?? `${id}-erased`.slice(-64));
  const waiting = flags.replace === true ? (await sessionStore().waiting(id).list()).length : 0;
  await writeSession(sessionsFolder(), clean, { id: copy, replace: flags.replace === true });
  if (flags.json === true) printJson(terminal.stdout, { session: id, copy, ...report, beside, waiting });
  else
    terminal.stdout.write(
      reportText({ id, copy, report, beside, waiting, replaced: flags.replace === true }),
    );
  return EXIT.ok;
}

/**
 * Files next to the log that hold the secret and are not part of the copy: the scratch journal and similar files, and
 * blobs that no event names. Such blobs remain if a replacement is killed after it wrote the log and before it removed
 * them.
 */
function besideWith(id: string, replace: Replace, named: ReadonlySet<string>): readonly string[] {
  const folder = sessionsFolder();
  const blobs = `${id}.blobs`;
  const beside = namesIn(folder).filter((name) => standsBeside(name, id));
  const orphans = namesIn(join(folder, blobs)).filter((name) => !named.has(name));
  return [...beside, ...orphans.map((name) => join(blobs, name))].filter((name) => {
    const bytes = bytesOf(join(folder, name));
    // Search as UTF-8 and as one character per byte, like the blobs of a copy.
    return [bytes.toString("utf8"), bytes.toString("latin1")].some((text) => replace(text) !== text);
  });
}

function bytesOf(path: string): Buffer {
  try {
    return readRegularFile(path);
  } catch (error) {
    throw codedError("file_unreadable", `cannot search ${path}: ${fileProblem(error)}`, error);
  }
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function reportText(facts: {
  readonly id: string;
  readonly copy: string;
  readonly report: EraseReport;
  readonly beside: readonly string[];
  /** The number of waiting turns that were removed with the session. */
  readonly waiting: number;
  readonly replaced: boolean;
}): string {
  const { id, copy, report, beside, waiting, replaced } = facts;
  const lines = [
    ...report.events.map(
      ({ seq, type, places }) => `changed [${seq}] ${type}: ${places} ${places === 1 ? "place" : "places"}`,
    ),
    ...report.blobs.map(
      ({ before, after }) => `changed blob ${before.slice(0, 12)}, now ${after.slice(0, 12)}`,
    ),
    ...beside.map((name) => `${replaced ? "removed" : "still contains it"}: ${name}`),
    ...(waiting === 0 ? [] : [`removed: ${amount(waiting, "waiting turn")} of a server`]),
    ...report.opaque.map(
      ({ seq, type, model }) =>
        `could not search [${seq}] ${type} of ${model}: it is encrypted, and is no longer sent`,
    ),
    replaced
      ? `${id} is replaced. Backups and the provider may still have the secret: change it.`
      : `written as ${copy}; ${id} still contains the secret. Check the copy, then run this again with --replace, or remove ${id}. Change the secret in any case.`,
  ];
  return `${lines.join("\n")}\n`;
}

function replacerOf({ secretFile, pattern }: EraseFlags): Replace {
  if ((secretFile === undefined) === (pattern === undefined))
    throw codedError("usage", "nothing to erase: give either --secret-file or --pattern");
  if (pattern !== undefined) {
    try {
      return patternReplacer(pattern);
    } catch (error) {
      throw codedError("pattern_invalid", `--pattern: ${messageOf(error)}`);
    }
  }
  return valueReplacer(secretIn(secretFile ?? ""));
}

const SHORTEST = 8;

function secretIn(file: string): string {
  let secret: string;
  try {
    secret = readText(file).replace(/\r?\n$/, "");
  } catch (error) {
    throw codedError(
      "file_unreadable",
      `--secret-file ${file}: cannot read this file: ${readProblem(error)}`,
    );
  }
  if (secret.length >= SHORTEST) return secret;
  throw codedError(
    "secret_too_short",
    `--secret-file ${file}: a secret of fewer than ${SHORTEST} characters would match other text too; use --pattern with the text around it`,
  );
}
