/**
 * `throughline sessions import`: a bundle, or a log with the blobs beside it, becomes a session again, byte for byte;
 * damage is refused by line and byte.
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
    .description("a session from a file that sessions export wrote, or from another's log")
    .argument("<file>", "the exported JSONL file, or the .jsonl file of a session")
    .option("--id <id>", "the session's id here (default: its own)")
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

/** Damage is told with what to do about it here: the file is no session yet. */
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
      ? `Export it again, or save what is whole: throughline repair ${file} -o NEW.jsonl, then import that`
      : "Not one line of it is whole: export it again, or take another copy";
    throw new ThroughlineError({
      code: error.code,
      message: `${file} is not a whole session: line ${String(line)}, byte ${String(byte)}: ${String(problem)}. Nothing was written. ${remedy}`,
      details: error.details,
      cause: error,
    });
  }
}

/** Nothing in a log tells where it should end, and its blobs lie elsewhere: both are said. */
function tellPlain({ events, blobs }: SessionBundle, terminal: Terminal): void {
  terminal.stderr.write(
    `note: this is a log and no export, so that nothing tells whether it lost lines at its end; the last event is of ${events.at(-1)?.at ?? ""}\n`,
  );
  const gone = blobsIn(events).length - blobs.size;
  if (gone > 0)
    terminal.stderr.write(
      `note: ${amount(gone, "blob")} of it ${gone === 1 ? "was" : "were"} not beside it, in ….blobs; requests say that ${gone === 1 ? "it is" : "they are"} gone\n`,
    );
}

/** A file of something else is told from a damaged session: nothing can be restored or repaired there. */
function sessionBytes(file: string): Buffer {
  const bytes = readBounded(file);
  const start = bytes.toString("utf8", 0, 4096);
  // Empty, or zeros that a crash left: damage.
  if (/^\0*$/.test(start) || looksLikeLog(start)) return bytes;
  throw codedError(
    "input_invalid",
    `${file}: this is not an exported session or a log: give a file that sessions export wrote as jsonl, or the .jsonl file of a session`,
  );
}

function readBounded(file: string): Buffer {
  const fail = (why: string): never => {
    throw codedError("file_unreadable", `${file}: ${why}`);
  };
  try {
    const found = statSync(file);
    if (!found.isFile()) fail("it is not a file");
    return readWholeFile(file, file);
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    return fail(`it cannot be read: ${readProblem(error)}`);
  }
}
