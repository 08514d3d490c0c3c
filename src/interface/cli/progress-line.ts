/** Shows progress on stderr: one rewritten line on a terminal, an occasional new line elsewhere. */

import { clearLine } from "./terminal-gate.ts";
import type { Terminal } from "./terminal.ts";

const EVERY_MS = 100;
const EVERY_PART = 10;

export class ProgressLine {
  readonly #terminal: Terminal;
  readonly #live: boolean;
  #shownAt = 0;
  #part = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#live = terminal.stderr.isTTY === true;
  }

  tell(done: number, all: number, what: string): void {
    if (this.#live) {
      const now = performance.now();
      if (now - this.#shownAt < EVERY_MS && done < all) return;
      this.#shownAt = now;
      this.#terminal.stderr.write(`${clearLine}${done} of ${all} ${what}`);
      return;
    }
    // Short work needs no progress.
    const part = Math.floor((done / all) * EVERY_PART);
    if (all < 1000 || part === this.#part) return;
    this.#part = part;
    this.#terminal.stderr.write(`${done} of ${all} ${what}\n`);
  }

  clear(): void {
    if (this.#live && this.#shownAt > 0) this.#terminal.stderr.write(clearLine);
  }
}
