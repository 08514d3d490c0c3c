/**
 * Ctrl-C ends the turn cleanly, a second one the process. Nothing is lost either way: what was acknowledged is written.
 */

import { EXIT } from "./exit-codes.ts";

const CODES = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.terminated } as const;
type StopSignal = keyof typeof CODES;

/** Returns a function that ends the watch and tells the exit code, if a signal came. */
export function stopOnSignals(stop: () => void): () => number | undefined {
  let code: number | undefined;
  const onSignal = (signal: StopSignal): void => {
    // oxlint-disable-next-line unicorn/no-process-exit -- a second Ctrl-C means now
    if (code !== undefined) process.exit(CODES[signal]);
    code = CODES[signal];
    stop();
  };
  const signals = Object.keys(CODES) as StopSignal[];
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
    return code;
  };
}
