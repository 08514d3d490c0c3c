/**
 * What a look at one thing found. `bad` makes the doctor leave with 1; everything but `ok` says how to mend it.
 */

export interface Finding {
  readonly check: string;
  readonly status: "ok" | "note" | "bad";
  readonly message: string;
  readonly fix?: string | undefined;
}

export function ok(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

export function note(check: string, message: string, fix?: string): Finding {
  return { check, status: "note", message, fix };
}

export function bad(check: string, message: string, fix: string): Finding {
  return { check, status: "bad", message, fix };
}
