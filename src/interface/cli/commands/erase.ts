/**
 * `throughline sessions erase`: a copy of a session without a leaked secret, with a report of what was changed. Logs are
 * only ever added to; this is the one way to get something out of one, and it writes another.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { Command } from "commander";

import { fileProblem, readRegularFile, readText } from "../../../base/files/index.ts";
import { codedError, messageOf } from "../../../base/support/index.ts";
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
    new Command("erase").description("a copy of a session without a leaked secret, and a report"),
  )
    .option(
      "--secret-file <file>",
      "a file that holds the secret and nothing else: a command line is seen by others",
    )
    .option("--pattern <regex>", "a regular expression instead")
    .option("--replace", "put the copy in place of the session, and remove what stood beside it")
    .option("--id <id>", "the copy's id (default: the session's with -erased)")
    .option("--json", "the report as JSON")
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
    terminal.stderr.write("it is nowhere in this session: nothing was written\n");
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
 * What stands beside the log and is not part of a copy: the scratch journal and its like, and blobs that no event names, such as those of a replacement that was killed when the log was in place and its blobs were not yet gone.
 */
function besideWith(id: string, replace: Replace, named: ReadonlySet<string>): readonly string[] {
  const folder = sessionsFolder();
  const blobs = `${id}.blobs`;
  const beside = namesIn(folder).filter((name) => standsBeside(name, id));
  const orphans = namesIn(join(folder, blobs)).filter((name) => !named.has(name));
  return [...beside, ...orphans.map((name) => join(blobs, name))].filter((name) => {
    const bytes = bytesOf(join(folder, name));
    // As text, and one character per byte, as the blobs of a copy are looked at.
    return [bytes.toString("utf8"), bytes.toString("latin1")].some((text) => replace(text) !== text);
  });
}

function bytesOf(path: string): Buffer {
  try {
    return readRegularFile(path);
  } catch (error) {
    throw codedError("file_unreadable", `could not look into ${path}: ${fileProblem(error)}`, error);
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
  /** Turns that were promised and went with the session. */
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
    ...beside.map((name) => `${replaced ? "removed" : "still holds it"}: ${name}`),
    ...(waiting === 0 ? [] : [`removed: ${amount(waiting, "turn")} that a server had promised`]),
    ...report.opaque.map(
      ({ seq, type, model }) =>
        `could not look into [${seq}] ${type} of ${model}: it is sealed, and is no longer sent`,
    ),
    replaced
      ? `${id} is replaced. Backups and the provider may have it still: change the secret.`
      : `written as ${copy}; ${id} holds the secret still: look at the copy, then run this again with --replace, or remove ${id}. Change the secret in any case.`,
  ];
  return `${lines.join("\n")}\n`;
}

function replacerOf({ secretFile, pattern }: EraseFlags): Replace {
  if ((secretFile === undefined) === (pattern === undefined))
    throw codedError("usage", "what is to be erased? Give --secret-file or --pattern");
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
    throw codedError("file_unreadable", `--secret-file ${file}: ${messageOf(error)}`);
  }
  if (secret.length >= SHORTEST) return secret;
  throw codedError(
    "secret_too_short",
    `--secret-file ${file}: fewer than ${SHORTEST} characters would hit other words too; use --pattern with what stands around it`,
  );
}
