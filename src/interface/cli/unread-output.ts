/**
 * Handles standard output whose reader has closed it (`| head`), or that cannot be written any more. Ends the running
 * turn cleanly; otherwise the turn would have no end in the log.
 */

import { writeSync } from "node:fs";

import { codeOf, readProblem } from "../../base/support/index.ts";
import { EXIT } from "./exit-codes.ts";

const stops = new Set<() => void>();
let exitCode: number | undefined;

/** Watches until the process exits. */
export function watchOutput(): void {
  process.stdout.on("error", (error) => lost(error));
  process.stderr.on("error", (error) => {
    if (stops.size === 0) lost(error); // unread progress is no reason to stop a turn
  });
}

/** Calls `stop` when standard output is lost. The returned function ends the watch and returns the exit code, if any. */
export function whenUnread(stop: () => void): () => number | undefined {
  stops.add(stop);
  if (exitCode !== undefined) stop();
  return () => {
    stops.delete(stop);
    return exitCode;
  };
}

/** Every later write fails too; the first failure gives the reason. */
function lost(error: unknown): void {
  const first = exitCode === undefined;
  const left = codeOf(error) === "EPIPE";
  exitCode ??= left ? EXIT.ok : EXIT.turnFailed;
  // A closed pipe needs no message; a full disk is a failure that must be reported.
  if (first && !left) tell(`throughline: cannot write the output: ${readProblem(error)}\n`);
  // oxlint-disable-next-line unicorn/no-process-exit -- nothing is running, and nothing reads the output
  if (stops.size === 0) process.exit(exitCode);
  if (first) for (const stop of stops) stop();
}

/** Writes synchronously, because the process may be about to exit. */
function tell(text: string): void {
  try {
    writeSync(process.stderr.fd, text);
  } catch {
    // Standard error is lost too.
  }
}
