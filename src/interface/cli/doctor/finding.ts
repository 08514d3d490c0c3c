/** A finding of the doctor. `bad` makes it exit with code 1; a `note` or `bad` finding says how to fix it. */

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
