/**
 * The command on a real terminal that has only lines (for the full interface see test/tui). `script` from util-linux
 * gives it a pseudo-terminal, and the test plays the user.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";

import { expect } from "vitest";

import { afterFile } from "../support/clean-up.ts";
import { CLI, environment, type Place } from "./harness.ts";

/** Only to fail with the screen instead of a bare time-out. */
const DEADLINE_MS = 90_000;

export class TerminalRun {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<{ readonly code: number | null; readonly screen: string }>;
  /** Every byte the command wrote to the terminal, and the echo of what was typed. */
  screen = "";
  /** Where the next `shows` starts to look. */
  #from = 0;
  #finished = false;
  readonly #watchers = new Set<() => void>();

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.screen += text;
      this.#look();
    });
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        this.#finished = true;
        this.#look();
        resolve({ code, screen: this.screen });
      });
    });
    afterFile(() => child.kill("SIGKILL"));
  }

  /** Resolves when the text is on the screen after the text waited for before. */
  shows(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        reject(new Error(`${why} without ${JSON.stringify(text)}: ${JSON.stringify(this.screen)}`));
      };
      const deadline = setTimeout(fail, DEADLINE_MS, "still running");
      const look = (): void => {
        const at = this.screen.indexOf(text, this.#from);
        if (at === -1 && !this.#finished) return;
        this.#watchers.delete(look);
        clearTimeout(deadline);
        if (at === -1) {
          fail("ended");
          return;
        }
        this.#from = at + text.length;
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** Sends keys unchanged: "\u0003" is Ctrl-C, "\u0004" Ctrl-D. */
  press(keys: string): void {
    this.child.stdin.write(keys);
  }

  type(line: string): void {
    this.press(`${line}\r`);
  }

  /** Sends kill -9 to the command itself; the terminal stays until it is gone. */
  kill(): void {
    const pid = Number(/^pid (\d+)\r?\n/.exec(this.screen)?.[1]);
    expect(pid).toBeGreaterThan(1);
    process.kill(pid, "SIGKILL");
  }

  #look(): void {
    for (const look of this.#watchers) look();
  }
}

export function onTerminal(
  place: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TerminalRun {
  const command = [process.execPath, CLI, ...args].map(quoted).join(" ");
  return new TerminalRun(
    spawn("script", ["-qfec", `stty cols 200 rows 50; echo "pid $$"; exec ${command}`, "/dev/null"], {
      cwd: place.work,
      env: environment(place, { TERM: "dumb", SHELL: "/bin/sh", ...env }),
    }),
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
