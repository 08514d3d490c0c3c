/**
 * The one error class. `code` is for programs, the message says what happened and what to do next.
 * What a provider or a tool does wrong travels as an event; only programmer and environment errors are thrown.
 */

export interface ThroughlineErrorOptions {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class ThroughlineError extends Error {
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(options: ThroughlineErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ThroughlineError";
    this.code = options.code;
    this.details = options.details ?? {};
  }
}

/** What most errors are made of. */
export function codedError(code: string, message: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError({ code, message, cause });
}

/** Recognises the class across copies of the package, where `instanceof` fails. */
export function isThroughlineError(value: unknown): value is ThroughlineError {
  return value instanceof Error && value.name === "ThroughlineError" && "code" in value;
}

export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === "string" ? error : `not an Error: ${typeof error}`;
}

/** The `code` of a Node or Throughline error, for branching on ENOENT and the like. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
