/**
 * The prompt of one run: its words, the files they and `-i` name, and standard input. Reads standard input to its end, up
 * to a limit, and prints a hint to stderr if the next chunk is slow to arrive.
 */

import type { Input } from "../../base/api/index.ts";
import type { InputPart } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import { attachFiles, mentionedFiles, partOf } from "./attached-files.ts";
import { type Content, contentOf } from "./input-content.ts";
import { say, type Terminal } from "./terminal.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const PATIENCE_MS = 2000;

export async function readStdin(terminal: Terminal, most = MAX_BYTES): Promise<Buffer> {
  if (terminal.stdin.isTTY) return Buffer.alloc(0);
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
      if (size > most) {
        throw codedError("input_too_large", `standard input is larger than the limit of ${most} bytes`);
      }
    }
  } finally {
    clearTimeout(hint);
  }
  return Buffer.concat(pieces);
}

/** Bytes that are not text are attached or refused, never sent as replacement characters. */
function usable(bytes: Buffer): Exclude<Content, { kind: "unusable" }> {
  const content = contentOf(bytes);
  if (content.kind !== "unusable") return content;
  const todo =
    content.todo === "" ? "convert text to UTF-8 first (iconv -f ENCODING -t UTF-8)" : content.todo;
  throw codedError("input_not_text", `standard input is ${content.what}; it must be UTF-8: ${todo}`);
}

export interface PromptFlags {
  readonly input?: readonly string[];
  readonly server?: string;
}

/**
 * Without a prompt, or with "-", stdin is the prompt. Otherwise stdin is appended to the prompt. Piped text is sent as it
 * is: only words of the command line name files. With a server, its own files are meant, so an `@` stays text.
 */
export async function promptFrom(
  words: readonly string[],
  flags: PromptFlags,
  terminal: Terminal,
): Promise<Input> {
  const typed = words.join(" ").trim();
  const attached = attachFiles(flags.input ?? []);
  const bytes = await readStdin(terminal);
  const piped = usable(bytes);
  const named =
    flags.server === undefined ? mentionedFiles(typed, process.cwd(), (text) => say(terminal, text)) : [];
  const parts = [...named, ...attached];
  if (piped.kind !== "text") parts.push(partOf(piped.kind === "pdf" ? "stdin.pdf" : "stdin", bytes, piped));
  const text = withPiped(typed === "-" ? "" : typed, piped.kind === "text" ? piped.text.trim() : "");
  if (parts.length === 0) return text;
  const first: readonly InputPart[] = text === "" ? [] : [{ type: "text", text }];
  return [...first, ...parts];
}

function withPiped(typed: string, piped: string): string {
  if (typed === "") return piped;
  return piped === "" ? typed : `${typed}\n\n<stdin>\n${piped}\n</stdin>`;
}
