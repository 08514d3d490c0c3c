/**
 * The only error class. `code` is for programs; the message says what happened and what to do next. Errors of providers
 * and tools become events; only programmer and environment errors are thrown.
 */

import { type ErrorCode, isRetryable } from "./error-codes.ts";

export interface ThroughlineErrorOptions {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Every error that the library throws. `code` is for programs; the message says what happened and what to do next. */
export class ThroughlineError extends Error {
  readonly code: ErrorCode;
  /** Further facts about the error, for programs. docs/api.md names them. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(options: ThroughlineErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ThroughlineError";
    this.code = options.code;
    this.details = options.details ?? {};
  }

  /** Whether the same call can succeed later without a change by the caller. */
  get retryable(): boolean {
    return isRetryable(this.code);
  }
}

/** Creates an error with a code and a message. */
export function codedError(code: ErrorCode, message: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError({ code, message, cause });
}

/**
 * Returns whether a value is a `ThroughlineError`, even one from another copy of the package, where `instanceof` fails.
 */
export function isThroughlineError(value: unknown): value is ThroughlineError {
  return value instanceof Error && value.name === "ThroughlineError" && "code" in value;
}

export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message.replace(UNNAMED_MESSAGE, nameOf);
  return typeof error === "string" ? error : `not an Error: ${typeof error}`;
}

/** The `code` of a Node or Throughline error, for branching on ENOENT and similar codes. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  if (typeof error.code !== "string") return undefined;
  return error.code.replace(
    UNNAMED_CODE,
    (text, number: string) => nameOf(text, number).split(":")[0] ?? text,
  );
}

/** Linux errors of network disks, quotas and damaged file systems that Node knows only by number. */
const UNNAMED: Readonly<Record<string, string>> = {
  "-116": "ESTALE: stale file handle",
  "-117": "EUCLEAN: the file system is damaged",
  "-121": "EREMOTEIO: remote i/o error",
  "-122": "EDQUOT: disk quota exceeded",
};
const UNNAMED_CODE = /^Unknown system error (-\d+)$/;
const UNNAMED_MESSAGE = /^Unknown system error (-\d+): Unknown system error -\d+/;

function nameOf(text: string, number: string): string {
  return UNNAMED[number] ?? text;
}

const FILE_CALLS: ReadonlySet<string> = new Set(
  "access chdir chmod close copyfile fchmod fdatasync fstat fsync ftruncate link lstat mkdir mkdtemp open read readlink realpath rename rm rmdir scandir stat symlink unlink utime write".split(
    " ",
  ),
);

/** For Node's error of a call on a file: which call it was and on which path, if Node says so. */
export function fileErrorOf(
  error: unknown,
): { readonly call: string; readonly path: string | undefined } | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || typeof error.syscall !== "string")
    return undefined;
  if (!FILE_CALLS.has(error.syscall)) return undefined;
  return {
    call: error.syscall,
    path: "path" in error && typeof error.path === "string" ? error.path : undefined,
  };
}
