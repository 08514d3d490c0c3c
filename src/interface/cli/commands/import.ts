/**
 * `throughline sessions import`: turns a bundle, or a log with the blobs next to it, back into a session, byte for byte.
 * Rejects a damaged file and reports the line and byte.
 */

import { statSync } from "node:fs";

import { Command } from "commander";

import { codedError, isThroughlineError, ThroughlineError } from "../../../base/support/index.ts";
import {
  blobsIn,
  holdsWholeLine,
  isBundle,
  parseBundle,
  parsePlainLog,
  readWholeFile,
  type SessionBundle,
  writeSession,
} from "../../../runtime/log/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { amount } from "../amount.ts";
import { blobsBeside } from "../blobs-beside.ts";
import type { Finish } from "../command-table.ts";
import { looksLikeLog } from "../history-file.ts";
import { type LongWork, longWork } from "../long-work.ts";
import { readProblem } from "../read-problem.ts";
import type { Terminal } from "../terminal.ts";

export function importCommand(terminal: Terminal, finish: Finish): Command {
  return new Command("import")
    .description("Import a session from an exported JSONL file or a copied log")
    .argument("<file>", "a JSONL file that sessions export wrote, or the .jsonl log of a session")
    .option("--id <id>", "give the imported session this id (default: its own)")
    .action(async (file: string, flags: { readonly id?: string }) => {
      finish(await longWork(terminal, (work) => importSession(file, flags, terminal, work)));
    });
}

async function importSession(
  file: string,
  flags: { readonly id?: string },
  terminal: Terminal,
  { signal, tell }: LongWork,
): Promise<void> {
  const bytes = sessionBytes(file);
  await tell("read", bytes.length, bytes.length);
  const bundle = sessionIn(file, bytes);
  const [first] = bundle.events;
  const own = first?.type === "session_start" ? first.session : "";
  const id = flags.id ?? own;
  await writeSession(sessionsFolder(), bundle, {
    id,
    signal,
    onProgress: (done, all) => void tell("written", done, all),
  });
  const { length } = bundle.events;
  terminal.stderr.write(`imported ${amount(length, "event")} and ${amount(bundle.blobs.size, "blob")}\n`);
  if (!isBundle(bytes)) tellPlain(bundle, terminal);
  terminal.stdout.write(`${id}\n`);
}

/** Adds to a damage report what to do about it before the file has become a session. */
function sessionIn(file: string, bytes: Buffer): SessionBundle {
  try {
    if (isBundle(bytes)) return parseBundle(bytes);
    const plain = parsePlainLog(bytes, new Map());
    const beside = blobsBeside(file);
    const named = blobsIn(plain.events).filter((name) => beside.has(name));
    return { ...plain, blobs: new Map(named.map((name) => [name, beside.get(name) ?? Buffer.alloc(0)])) };
  } catch (error) {
    if (!isThroughlineError(error) || !["bundle_damaged", "log_damaged"].includes(error.code)) throw error;
    const { line, byte, problem } = error.details;
    const remedy = holdsWholeLine(bytes)
      ? `Export it again, or save the undamaged part with throughline repair ${file} -o NEW.jsonl and import that`
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

/** Distinguishes a damaged session from a file of another kind, in which there is nothing to restore. */
function sessionBytes(file: string): Buffer {
  const bytes = readBounded(file);
  const start = bytes.toString("utf8", 0, 4096);
  // An empty file, or one of zeros, is a session that a crash damaged.
  if (/^\0*$/.test(start) || looksLikeLog(start)) return bytes;
  throw codedError(
    "input_invalid",
    `${file}: not an exported session or a log: use a JSONL file that sessions export wrote, or the .jsonl log of a session`,
  );
}

function readBounded(file: string): Buffer {
  const fail = (why: string): never => {
    throw codedError("file_unreadable", `${file}: ${why}`);
  };
  try {
    const found = statSync(file);
    if (!found.isFile()) fail("not a regular file");
    return readWholeFile(file, file);
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    return fail(`cannot read this file: ${readProblem(error)}`);
  }
}
