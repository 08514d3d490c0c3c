/** Decodes untrusted bytes as text. Throws coded errors for files that are not text, too large or nested too deep. */

import { codedError, type ErrorCode, jsonDepth, type ThroughlineError } from "../../../base/support/index.ts";

/** The largest history that is read, 128 MiB: more than any model can read. */
export const MAX_HISTORY_BYTES = 128 * 1024 * 1024;
const MAX_DEPTH = 512;

/** Replaces bytes that are not text. Only the line that contains them is damaged. */
export const NOT_TEXT = "\uFFFD";

export function readText(content: string | Uint8Array): string {
  // A history that is already parsed is the likely mistake.
  if (typeof content !== "string" && !(content instanceof Uint8Array))
    throw invalid(
      "input_invalid",
      "the history must be its JSON text or its bytes: pass JSON.stringify(history)",
    );
  if (content.length > MAX_HISTORY_BYTES) {
    throw invalid(
      "file_too_large",
      `larger than ${MAX_HISTORY_BYTES} bytes: shorten the file, or use only its newest part`,
    );
  }
  const text = typeof content === "string" ? content : decode(content);
  if (text.trim() === "") throw invalid("input_invalid", "the file is empty");
  if (jsonDepth(text) > MAX_DEPTH) throw invalid("input_too_deep", `nested deeper than ${MAX_DEPTH} levels`);
  return text;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // One damaged line does not make a file of lines unreadable. A file that does not begin like JSON lines is not text.
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    if (/^\s*\{"/.test(text) && text.includes("\n")) return text;
    throw invalid("file_not_text", "not a text file: give JSON or lines of JSON");
  }
}

function invalid(code: ErrorCode, message: string): ThroughlineError {
  return codedError(code, message);
}
