/**
 * `throughline sessions export`: writes a session as Markdown or HTML for reading, or as a bundle that `sessions import`
 * restores byte for byte.
 */

import { statSync } from "node:fs";
import { resolve } from "node:path";

import { Command, Option } from "commander";

import type { SessionHandle } from "../../../base/api/index.ts";
import type { LoggedEvent } from "../../../base/events/index.ts";
import { writeFilePieces, writeProblem } from "../../../base/files/index.ts";
import { codedError, codeOf, type ThroughlineError } from "../../../base/support/index.ts";
import type { CostOf } from "../../../runtime/facts/index.ts";
import {
  blobsIn,
  type EraseReport,
  linesFrom,
  readBundle,
  type SessionBundle,
} from "../../../runtime/log/index.ts";
import { amount } from "../amount.ts";
import type { Finish } from "../command-table.ts";
import { costsWith } from "../cost.ts";
import { EXPORT_FORMATS, type ExportFormat, exportForm } from "../export/export-forms.ts";
import { type LongWork, longWork } from "../long-work.ts";
import { settingsHere } from "../project-trust.ts";
import { type LastFlag, openToRead, sessionNamed, takesSession, withLog } from "../session-argument.ts";
import { takesStore } from "../store-flag.ts";
import type { Terminal } from "../terminal.ts";

export interface ExportFlags extends LastFlag {
  readonly format: ExportFormat;
  readonly reasoning: boolean;
  readonly redact?: boolean;
  readonly output?: string;
  /** Overwrite an existing file. */
  readonly force?: boolean;
}

export function exportCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    takesSession(
      new Command("export").description(
        "Export a session as JSONL (byte for byte, with its blobs), Markdown or HTML",
      ),
    ),
  )
    .addOption(new Option("--format <format>", "output format").choices(EXPORT_FORMATS).default("jsonl"))
    .option("--no-reasoning", "leave out the model's reasoning")
    .option("--redact", "remove text that looks like a secret, and the API keys set in this environment")
    .option("-o, --output <file>", "write to this new file instead of stdout; - means stdout")
    .option("--force", "with -o: overwrite an existing file")
    .action(async (name: string | undefined, { output, ...given }: ExportFlags) => {
      const flags = output === undefined || output === "-" ? given : { ...given, output };
      finish(await longWork(terminal, (work) => exportSession(name, flags, terminal, work)));
    });
}

async function exportSession(
  name: string | undefined,
  flags: ExportFlags,
  terminal: Terminal,
  work: LongWork,
): Promise<void> {
  const id = await sessionNamed(name, flags);
  const whole = await withLog(openToRead(id, flags), readBundle);
  const words = { name: `-o ${flags.output ?? ""}`, taken: "choose another name, or add --force" };
  const costOf = flags.format === "html" ? costsWith(settingsHere(terminal).values) : undefined;
  await writeBundle(id, whole, flags, terminal, { words, work, costOf });
  if (flags.output === undefined) return;
  terminal.stderr.write(
    `exported ${id}: ${amount(whole.events.length, "event")}, ${amount(whole.blobs.size, "blob")}\n`,
  );
}

/** Serves the chat's `/export`. Works for local and remote sessions, because it reads through the session's handle. */
export async function exportHandle(
  handle: SessionHandle,
  flags: ExportFlags,
  terminal: Terminal,
): Promise<void> {
  const events: LoggedEvent[] = [];
  for await (const event of handle.events()) events.push(event);
  const blobs = new Map<string, Uint8Array>();
  for (const name of blobsIn(events)) {
    const bytes = await handle.blob(name);
    if (bytes !== undefined) blobs.set(name, bytes);
  }
  const words = { name: flags.output ?? "", taken: "choose another name with /export NAME, or remove it" };
  await writeBundle(handle.id, { events, lines: linesFrom(events), blobs }, flags, terminal, { words });
}

/** How messages refer to the file: as the value of a flag, or as the argument of a chat command. */
interface FileWords {
  readonly name: string;
  /** What to do if the file exists. */
  readonly taken: string;
}

async function writeBundle(
  id: string,
  whole: SessionBundle,
  flags: ExportFlags,
  terminal: Terminal,
  {
    words,
    work,
    costOf,
  }: { readonly words: FileWords; readonly work?: LongWork; readonly costOf?: CostOf | undefined },
): Promise<void> {
  if (whole.events.length === 0)
    throw codedError("session_empty", `session ${id} is empty: there is nothing to export`);
  const { format, reasoning, redact = false } = flags;
  const { pieces, erased } = exportForm(whole, id, { format, reasoning, redact, costOf });
  if (erased !== undefined) sayRedacted(erased, terminal);
  if (flags.output === undefined) {
    for (const piece of pieces) {
      await written(terminal.stdout, piece);
      if (work?.signal.aborted === true) throw stopped();
    }
    return;
  }
  const path = resolve(flags.output);
  if (flags.force !== true && isFile(path)) {
    throw codedError("file_exists", `${words.name}: the file already exists: ${words.taken}`);
  }
  const blobBytes = [...whole.blobs.values()].reduce((sum, { length }) => sum + length, 0);
  const all = whole.lines.length + Math.ceil((blobBytes * 4) / 3);
  try {
    await writeFilePieces(path, pieces, {
      how: flags.force === true ? "over" : "new",
      ...(work === undefined ? {} : { signal: work.signal }),
      onProgress: (done) => void work?.tell("written", done, Math.max(done, all)),
    });
  } catch (error) {
    if (codeOf(error) === "stopped") throw error;
    throw codedError(
      "file_unwritable",
      `${words.name}: cannot write this file: ${writeProblem(error, path)}`,
      error,
    );
  }
}

/** A bundle ends with a line that says it is whole, so a cut-off one is detected on import. */
function stopped(): ThroughlineError {
  return codedError("stopped", "stopped: the export is incomplete");
}

/** Waits for the pipe to drain, so that a large session is not held in memory twice. */
function written(stream: NodeJS.WritableStream, piece: Buffer): Promise<void> {
  return new Promise((done) => {
    if (stream.write(piece)) done();
    else stream.once("drain", () => done());
  });
}

function sayRedacted({ events, opaque }: EraseReport, terminal: Terminal): void {
  const places = events.reduce((sum, event) => sum + event.places, 0);
  terminal.stderr.write(
    `redacted ${places} ${places === 1 ? "place" : "places"}${
      opaque.length === 0
        ? ""
        : `; ${amount(opaque.length, "encrypted item")} written after that cannot be searched (--no-reasoning leaves them out)`
    }\n`,
  );
}

/** Ignores errors: whatever prevents reading the file also prevents writing it, and is reported then. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
