/**
 * `throughline sessions erase`: copies a session without a leaked secret and reports what changed. Logs are append-only:
 * this is the only way to remove something, and it works by writing a new log.
 */

import { Command } from "commander";

import { readText } from "../../../base/files/index.ts";
import { codedError, messageOf, readProblem } from "../../../base/support/index.ts";
import { eraseFrom, type EraseReport, readBundle, type Replace } from "../../../runtime/log/index.ts";
import { amount } from "../amount.ts";
import type { Finish } from "../command-table.ts";
import { erasePlace } from "../erase-place.ts";
import { EXIT } from "../exit-codes.ts";
import { patternReplacer, valueReplacer } from "../export/secret-patterns.ts";
import { openStore } from "../open-store.ts";
import { type LastFlag, openToRead, sessionNamed, takesSession, withLog } from "../session-argument.ts";
import { takesStore } from "../store-flag.ts";
import { printJson, type Terminal } from "../terminal.ts";

interface EraseFlags extends LastFlag {
  readonly secretFile?: string;
  readonly pattern?: string;
  readonly replace?: boolean;
  readonly id?: string;
  readonly json?: boolean;
}

export function eraseCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    takesSession(
      new Command("erase").description("Copy a session without a leaked secret, and report what changed"),
    ),
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
  const bundle = await withLog(openToRead(id, flags), readBundle);
  const place = erasePlace(flags);
  const beside = await place.besideWith(id, replace, new Set(bundle.blobs.keys()));
  const { bundle: clean, report } = eraseFrom(bundle, replace);
  if (report.events.length === 0 && report.blobs.length === 0 && beside.length === 0) {
    terminal.stderr.write("not found in this session: nothing was written\n");
    return EXIT.turnFailed;
  }
  const copy = flags.replace === true ? id : (flags.id ?? `${id}-erased`.slice(-64));
  const waiting = flags.replace === true ? (await (await openStore(flags)).waiting(id).list()).length : 0;
  if (flags.replace === true) await place.putOver(id, clean);
  else await place.putNew(copy, clean);
  if (flags.json === true) printJson(terminal.stdout, { session: id, copy, ...report, beside, waiting });
  else
    terminal.stdout.write(
      reportText({
        id,
        copy,
        report,
        beside,
        waiting,
        replaced: flags.replace === true,
        remains: place.remains,
      }),
    );
  return EXIT.ok;
}

function reportText(facts: {
  readonly id: string;
  readonly copy: string;
  readonly report: EraseReport;
  readonly beside: readonly string[];
  /** The number of waiting turns that were removed with the session. */
  readonly waiting: number;
  readonly replaced: boolean;
  /** Who may still have the secret. */
  readonly remains: string;
}): string {
  const { id, copy, report, beside, waiting, replaced, remains } = facts;
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
      ? `${id} is replaced. ${remains}: change it.`
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
