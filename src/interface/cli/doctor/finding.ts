/** A finding of the doctor. `bad` makes it exit with code 1; a `note` or `bad` finding says how to fix it. */

import { inertLine } from "../inert-text.ts";

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

const STATUS_WORDS: Readonly<Record<Finding["status"], string>> = { ok: "ok  ", note: "note", bad: "BAD " };

export function findingText({ check, status, message, fix }: Finding): string {
  const line = `${STATUS_WORDS[status]} ${check.padEnd(10)} ${inertLine(message, 400)}`;
  return fix === undefined ? line : `${line}\n       to do: ${inertLine(fix, 300)}`;
}
