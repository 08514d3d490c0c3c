/** Asks a person a question that is answered with yes or no. */

import { createInterface } from "node:readline/promises";

import { forLineEditor } from "./terminal-gate.ts";
import type { Terminal } from "./terminal.ts";

/** Anything but a yes means no, including Ctrl-C and the end of the input. */
export async function asks(question: string, terminal: Terminal): Promise<boolean> {
  const lines = createInterface({ input: terminal.stdin, output: forLineEditor(terminal.stderr) });
  const ended = new AbortController();
  lines.once("close", () => ended.abort());
  lines.once("SIGINT", () => lines.close());
  try {
    return /^y(?:es)?$/i.test((await lines.question(question, { signal: ended.signal })).trim());
  } catch {
    return false;
  } finally {
    lines.close();
  }
}
