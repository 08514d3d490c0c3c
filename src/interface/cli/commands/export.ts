/**
 * `throughline sessions export`: a session as Markdown or a page to read, or as a bundle to carry away byte for byte.
 */

import { statSync } from "node:fs";
import { resolve } from "node:path";

import { Command, Option } from "commander";

import type { SessionHandle } from "../../../base/api/index.ts";
import type { LoggedEvent } from "../../../base/events/index.ts";
import { writeFilePieces } from "../../../base/files/index.ts";
import { codedError, codeOf, type ThroughlineError } from "../../../base/support/index.ts";
import {
  blobsIn,
  type EraseReport,
  linesFrom,
  readBundle,
  type SessionBundle,
} from "../../../runtime/log/index.ts";
import { amount } from "../amount.ts";
import type { Finish } from "../command-table.ts";
import { EXPORT_FORMATS, type ExportFormat, exportForm } from "../export/export-forms.ts";
import { type LongWork, longWork } from "../long-work.ts";
import { type LastFlag, sessionNamed, sessionStore, takesSession, withLog } from "../session-argument.ts";
import type { Terminal } from "../terminal.ts";
import { writeProblem } from "../write-problem.ts";

export interface ExportFlags extends LastFlag {
  readonly format: ExportFormat;
  readonly reasoning: boolean;
  readonly redact?: boolean;
  readonly output?: string;
  /** Over a file that is there. */
  readonly force?: boolean;
}

export function exportCommand(terminal: Terminal, finish: Finish): Command {
  return takesSession(
    new Command("export").description("a session as JSONL (byte for byte, with its blobs), Markdown or HTML"),
  )
    .addOption(
      new Option("--format <format>", "jsonl, markdown or html").choices(EXPORT_FORMATS).default("jsonl"),
    )
    .option("--no-reasoning", "without the model's thoughts")
    .option("--redact", "without what looks like a secret, and without this environment's keys")
    .option("-o, --output <file>", "write to this new file instead of stdout")
    .option("--force", "with -o: over a file that is there")
    .action(async (name: string | undefined, flags: ExportFlags) => {
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
  const whole = await withLog(sessionStore().open(id, { mode: "read" }), readBundle);
  const words = { name: `-o ${flags.output ?? ""}`, taken: "give another name, or --force" };
  await writeBundle(id, whole, flags, terminal, { words, work });
  if (flags.output === undefined) return;
  terminal.stderr.write(
    `exported ${id}: ${amount(whole.events.length, "event")}, ${amount(whole.blobs.size, "blob")}\n`,
  );
}

/** `/export` of the chat: wherever the session is, its handle gives everything that is in it. */
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
  const words = { name: flags.output ?? "", taken: "give another name behind /export, or remove it" };
  await writeBundle(handle.id, { events, lines: linesFrom(events), blobs }, flags, terminal, { words });
}

/** The file in the words of where it was named: behind a flag, or in the chat. */
interface FileWords {
  readonly name: string;
  /** What to do when there is such a file. */
  readonly taken: string;
}

async function writeBundle(
  id: string,
  whole: SessionBundle,
  flags: ExportFlags,
  terminal: Terminal,
  { words, work }: { readonly words: FileWords; readonly work?: LongWork },
): Promise<void> {
  if (whole.events.length === 0)
    throw codedError("session_empty", `session ${id} is empty: there is nothing to export`);
  const { format, reasoning, redact = false } = flags;
  const { pieces, erased } = exportForm(whole, id, { format, reasoning, redact });
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
    throw codedError("file_exists", `${words.name}: it is there already: ${words.taken}`);
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
      `${words.name}: cannot be written: ${writeProblem(error, path)}`,
      error,
    );
  }
}

/** A bundle says at its end that it is whole. */
function stopped(): ThroughlineError {
  return codedError("stopped", "stopped: what was written is not whole");
}

/** A pipe takes what it can: a large session is not kept in memory twice. */
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
        : `; ${opaque.length} sealed items were made after that and cannot be looked into (--no-reasoning leaves them out)`
    }\n`,
  );
}

/** Whatever keeps it from being looked at keeps it from being written too, and is told then. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
