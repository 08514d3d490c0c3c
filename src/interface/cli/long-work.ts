/** Runs long work on files: shows progress on a terminal's stderr, and leaves nothing half-written after Ctrl-C. */

import { setImmediate as breath } from "node:timers/promises";

import { codeOf, messageOf } from "../../base/support/index.ts";
import { EXIT } from "./exit-codes.ts";
import { ProgressLine } from "./progress-line.ts";
import { stopOnSignals } from "./signals.ts";
import type { Terminal } from "./terminal.ts";

export interface LongWork {
  readonly signal: AbortSignal;
  /** Reports the bytes done so far. Awaiting it lets signals be handled. */
  readonly tell: (what: string, done: number, all: number) => Promise<void>;
}

const MIB = 1024 * 1024;
/** Smaller files are done at once and need no progress. */
const SMALL_BYTES = 8 * MIB;

/** Returns the exit code. Work that is stopped removes what it has begun and throws `stopped`. */
export async function longWork(
  terminal: Terminal,
  work: (ports: LongWork) => Promise<void>,
): Promise<number> {
  const stop = new AbortController();
  const end = stopOnSignals(() => stop.abort());
  const progress = terminal.stderr.isTTY === true ? new ProgressLine(terminal) : undefined;
  try {
    await work({
      signal: stop.signal,
      tell: async (what, done, all) => {
        if (all >= SMALL_BYTES) progress?.tell(Math.floor(done / MIB), Math.ceil(all / MIB), `MiB ${what}`);
        await breath();
      },
    });
    return EXIT.ok;
  } catch (error) {
    if (codeOf(error) !== "stopped") throw error;
    progress?.clear();
    terminal.stderr.write(`${messageOf(error)}\n`);
    return end() ?? EXIT.interrupted;
  } finally {
    progress?.clear();
    end();
  }
}
