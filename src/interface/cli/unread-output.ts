/**
 * Standard output whose reader went away (`| head`), or that cannot take any more. Nobody can be told, but what is under
 * way is ended in order: without it the turn would stand in the log without an end.
 */

import { writeSync } from "node:fs";

import { codeOf } from "../../base/support/index.ts";
import { EXIT } from "./exit-codes.ts";
import { readProblem } from "./read-problem.ts";

const stops = new Set<() => void>();
let exitCode: number | undefined;

/** For the life of the process. */
export function watchOutput(): void {
  process.stdout.on("error", (error) => lost(error));
  process.stderr.on("error", (error) => {
    if (stops.size === 0) lost(error); // progress nobody reads is no reason to stop a turn
  });
}

/** Called when standard output is lost. The result ends the watch and tells the exit code, if it was. */
export function whenUnread(stop: () => void): () => number | undefined {
  stops.add(stop);
  if (exitCode !== undefined) stop();
  return () => {
    stops.delete(stop);
    return exitCode;
  };
}

/** Every further write fails too; the first one tells why. */
function lost(error: unknown): void {
  const first = exitCode === undefined;
  const left = codeOf(error) === "EPIPE";
  exitCode ??= left ? EXIT.ok : EXIT.turnFailed;
  // A reader that went away wants no word; a disk that is full is a failure somebody has to hear of.
  if (first && !left) tell(`throughline: the output cannot be written: ${readProblem(error)}\n`);
  // oxlint-disable-next-line unicorn/no-process-exit -- nothing is under way, and there is nobody to write for
  if (stops.size === 0) process.exit(exitCode);
  if (first) for (const stop of stops) stop();
}

/** At once: the process may be about to end. */
function tell(text: string): void {
  try {
    writeSync(process.stderr.fd, text);
  } catch {
    // Nobody hears anything then.
  }
}
