/**
 * Standard input as text: to its end, bounded, and with a word on stderr when it keeps us waiting for its next piece.
 */

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
        throw codedError("input_too_large", `standard input is larger than ${MAX_BYTES} bytes`);
      }
    }
  } finally {
    clearTimeout(hint);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** No prompt or "-": stdin is the prompt. Both: stdin is appended to it. */
export async function promptFrom(words: readonly string[], terminal: Terminal): Promise<string> {
  const typed = words.join(" ").trim();
  const piped = (await readStdin(terminal)).trim();
  if (typed === "" || typed === "-") return piped;
  return piped === "" ? typed : `${typed}\n\n<stdin>\n${piped}\n</stdin>`;
}
