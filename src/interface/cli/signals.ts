/** The first signal ends the turn cleanly, a second one the process. Acknowledged events are saved in both cases. */

import { EXIT } from "./exit-codes.ts";

const CODES = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp } as const;
type StopSignal = keyof typeof CODES;

/** Returns a function that ends the watch and returns the exit code if a signal arrived. */
export function stopOnSignals(stop: () => void): () => number | undefined {
  let code: number | undefined;
  const onSignal = (signal: StopSignal): void => {
    // oxlint-disable-next-line unicorn/no-process-exit -- a second Ctrl-C exits at once
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
