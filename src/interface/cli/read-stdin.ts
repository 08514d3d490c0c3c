/** Reads standard input to its end, up to a limit. Prints a hint to stderr if the next chunk is slow to arrive. */

import { codedError } from "../../base/support/index.ts";
import type { Terminal } from "./terminal.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const PATIENCE_MS = 2000;

async function readStdin(terminal: Terminal): Promise<string> {
  if (terminal.stdin.isTTY) return "";
  const hint = setTimeout(() => {
    terminal.stderr.write(
      "throughline: waiting for standard input to end (add </dev/null if there is none)\n",
    );
  }, PATIENCE_MS);
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of terminal.stdin) {
      hint.refresh();
      pieces.push(piece as Buffer);
      size += (piece as Buffer).length;
      if (size > MAX_BYTES) {
        throw codedError("input_too_large", `standard input is larger than the limit of ${MAX_BYTES} bytes`);
      }
    }
  } finally {
    clearTimeout(hint);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** Without a prompt, or with "-", stdin is the prompt. Otherwise stdin is appended to the prompt. */
export async function promptFrom(words: readonly string[], terminal: Terminal): Promise<string> {
  const typed = words.join(" ").trim();
  const piped = (await readStdin(terminal)).trim();
  if (typed === "" || typed === "-") return piped;
  return piped === "" ? typed : `${typed}\n\n<stdin>\n${piped}\n</stdin>`;
}
