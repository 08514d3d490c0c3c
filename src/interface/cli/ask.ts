/** Asks a person a question that is answered with yes or no. */

import { createInterface } from "node:readline/promises";

import { forLineEditor } from "./terminal-gate.ts";
import type { Terminal } from "./terminal.ts";

/** Anything but a yes means no, including Ctrl-C and the end of the input. */
export async function asks(question: string, terminal: Terminal): Promise<boolean> {
  return (await answerTo(question, terminal)) === "yes";
}

/** `stopped`: Ctrl-C, for a question whose no would be remembered. */
export async function answerTo(question: string, terminal: Terminal): Promise<"yes" | "no" | "stopped"> {
  const lines = createInterface({ input: terminal.stdin, output: forLineEditor(terminal.stderr) });
  const ended = new AbortController();
  lines.once("close", () => ended.abort());
  let stopped = false;
  lines.once("SIGINT", () => {
    stopped = true;
    lines.close();
  });
  try {
    const answer = await lines.question(question, { signal: ended.signal });
    return /^y(?:es)?$/i.test(answer.trim()) ? "yes" : "no";
  } catch {
    if (stopped) terminal.stderr.write("\n");
    return stopped ? "stopped" : "no";
  } finally {
    lines.close();
  }
}
