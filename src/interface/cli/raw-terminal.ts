/**
 * The terminal as the full interface needs it: keys one by one, its size, and given back whatever happens.
 */

import type { TuiTerminal } from "../tui/index.ts";
import { directly } from "./terminal-gate.ts";

/** Everything the interface may have switched on; off again it harms nobody. */
const AS_BEFORE = "\u001B[?2026l\u001B[?2004l\u001B[<u\u001B[0m\u001B[?25h";

export function rawTerminal(): TuiTerminal {
  const { stdin, stdout } = process;
  const write = directly(stdout);
  const restore = (): void => void write(AS_BEFORE);
  return {
    // Asked for, not remembered: the terminal has its new size before the signal that tells of it has arrived.
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
        // Where no shell would wake it again the system does not stop it: whoever counts time is running.
        const running = setTimeout(back, 50);
      }),
  };
}

/** A pseudo-terminal that was never given a size says 0. */
function positive(size: number | undefined): number | undefined {
  return size === undefined || size <= 0 ? undefined : size;
}
