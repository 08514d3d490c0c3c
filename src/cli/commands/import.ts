/**
 * `throughline sessions import`: a bundle becomes a session again, byte for byte; damage is refused by line and byte.
 *
 * @module
 */

import { readFileSync, statSync } from "node:fs";

import { Command } from "commander";

import { sessionsFolder } from "../../config/index.ts";
import { parseBundle, writeSession } from "../../log/index.ts";
import { ThroughlineError } from "../../support/index.ts";
import { amount } from "../amount.ts";
import type { Finish } from "../command-table.ts";
import { looksLikeLog } from "../history-file.ts";
import { type LongWork, longWork } from "../long-work.ts";
import { readProblem } from "../read-problem.ts";
import type { Terminal } from "../terminal.ts";

const MAX_BYTES = 1024 * 1024 * 1024;

export function importCommand(terminal: Terminal, finish: Finish): Command {
  return new Command("import")
    .description("a session from a file that sessions export wrote")
    .argument("<file>", "the exported JSONL file")
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
  const bundle = parseBundle(bytes);
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
  terminal.stdout.write(`${id}\n`);
}

/** A file of something else is told from a damaged session: nothing can be restored or repaired there. */
function sessionBytes(file: string): Buffer {
  const bytes = readBounded(file);
  const start = bytes.toString("utf8", 0, 4096);
  // Empty, or zeros that a crash left: damage.
  if (/^\0*$/.test(start) || looksLikeLog(start)) return bytes;
  throw new ThroughlineError({
    code: "input_invalid",
    message: `${file}: this is not an exported session: give a file that sessions export wrote as jsonl`,
  });
}

function readBounded(file: string): Buffer {
  const fail = (why: string): never => {
    throw new ThroughlineError({ code: "file_unreadable", message: `${file}: ${why}` });
  };
  try {
    const found = statSync(file);
    if (!found.isFile()) fail("it is not a file");
    if (found.size > MAX_BYTES) fail(`it is larger than ${MAX_BYTES} bytes`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    return fail(`it cannot be read: ${readProblem(error)}`);
  }
}
