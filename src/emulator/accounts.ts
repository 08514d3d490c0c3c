/** Identifies the caller. Opaque payloads are bound to the organisation (E04, C03), so every key must map to one. */

import { createHash } from "node:crypto";

import type { ApiRefusal } from "./api-refusal.ts";

export type Account = { readonly organisation: string } | ApiRefusal;

export function accountOf(options: {
  readonly key: string | undefined;
  readonly organisation?: string | undefined;
  readonly accounts: Readonly<Record<string, string>> | undefined;
  readonly strict: boolean;
  /** The dialect's own refusals. */
  readonly missing: () => ApiRefusal;
  readonly wrong: (key: string) => ApiRefusal;
}): Account {
  const { key, accounts: known } = options;
  if (key === undefined) {
    return options.strict || known !== undefined ? options.missing() : { organisation: "org-none" };
  }
  const listed = known !== undefined && Object.hasOwn(known, key) ? known[key] : undefined;
  if (key.startsWith("sk-wrong") || (known !== undefined && listed === undefined)) return options.wrong(key);
  return { organisation: options.organisation ?? listed ?? organisationOf(key) };
}

export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? "")?.[1];
}

/** The default: one organisation per key. */
function organisationOf(key: string): string {
  return `org-${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}

/** Redacts a wrong key as the API does: both ends, with stars in between. */
export function redacted(key: string): string {
  return key.length <= 8 ? "*".repeat(key.length) : `${key.slice(0, 8)}${"*".repeat(8)}${key.slice(-4)}`;
}
