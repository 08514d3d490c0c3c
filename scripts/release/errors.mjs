/** Bad input: the command prints the message and exits with 2. */
export class UsageError extends Error {}

/** A step failed: the command prints the message and exits with 1. */
export class StepError extends Error {}

/** A signal stopped the command: it cleans up and exits with 128 and the signal's number. */
export class Interrupted extends Error {
  constructor(signal) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}
