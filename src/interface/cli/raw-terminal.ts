/** The terminal for the full interface: raw keys, its size, and its modes restored on every exit. */

import type { TuiTerminal } from "../tui/index.ts";
import { directly } from "./terminal-gate.ts";

/** Switches off every mode that the interface may have switched on. Harmless if a mode is already off. */
const AS_BEFORE = "\u001B[?2026l\u001B[?2004l\u001B[<u\u001B[0m\u001B[?25h";

export function rawTerminal(): TuiTerminal {
  const { stdin, stdout } = process;
  const write = directly(stdout);
  const restore = (): void => void write(AS_BEFORE);
  return {
    // Query the size each time: the terminal has its new size before the resize signal arrives.
    get columns() {
      return positive(stdout.getWindowSize()[0]) ?? 80;
    },
    get rows() {
      return positive(stdout.getWindowSize()[1]) ?? 24;
    },
    write(data) {
      write(data);
    },
    start({ input, resize }) {
      const gone = (): void => input("\u0004"); // the terminal was closed
      process.once("exit", restore);
      stdin.setRawMode(true);
      stdin.setEncoding("utf8");
      stdin.on("data", input);
      stdin.on("end", gone);
      stdout.on("resize", resize);
      stdin.resume();
      return () => {
        process.off("exit", restore);
        stdin.off("data", input);
        stdin.off("end", gone);
        stdout.off("resize", resize);
        stdin.pause();
        stdin.setRawMode(false);
      };
    },
    suspend: () =>
      new Promise((resolve) => {
        stdin.setRawMode(false);
        const back = (): void => {
          clearTimeout(running);
          process.off("SIGCONT", back);
          stdin.setRawMode(true);
          resolve();
        };
        process.once("SIGCONT", back);
        process.kill(process.pid, "SIGTSTP");
        // Without a shell to resume it, the system does not stop the process. Then this timer fires.
        const running = setTimeout(back, 50);
      }),
  };
}

/** A pseudo-terminal without a size reports 0. */
function positive(size: number | undefined): number | undefined {
  return size === undefined || size <= 0 ? undefined : size;
}
