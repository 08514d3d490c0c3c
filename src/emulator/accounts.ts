/**
 * Who is calling. Ciphertext is bound to the organisation (E04), so every key must map to one.
 *
 * @module
 */

import { createHash } from "node:crypto";

import { refuse, type Refusal } from "./judge/refusal.ts";

export type Account = { readonly organisation: string } | Refusal;

export function accountOf(options: {
  readonly authorization: string | undefined;
  readonly organisationHeader: string | undefined;
  readonly accounts: Readonly<Record<string, string>> | undefined;
  readonly strict: boolean;
}): Account {
  const key = /^Bearer\s+(\S+)\s*$/i.exec(options.authorization ?? "")?.[1];
  if (key === undefined) {
    if (!options.strict && options.accounts === undefined) return { organisation: "org-none" };
    return refuse({
      rule: "X-key-missing",
      status: 401,
      message:
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your browser and are prompted for a username and password.",
    });
  }
  const known = options.accounts;
  const listed = known !== undefined && Object.hasOwn(known, key) ? known[key] : undefined;
  if (key.startsWith("sk-wrong") || (known !== undefined && listed === undefined)) {
    return refuse({
      rule: "X-key",
      status: 401,
      message: `Incorrect API key provided: ${redacted(key)}. You can find your API key at https://platform.openai.com/account/api-keys.`,
      code: "invalid_api_key",
    });
  }
  return { organisation: options.organisationHeader ?? listed ?? organisationOf(key) };
}

/** The default: one organisation per key. */
function organisationOf(key: string): string {
  return `org-${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}

/** As the API quotes a wrong key: the ends, the rest as stars. */
export function redacted(key: string): string {
  return key.length <= 8 ? "*".repeat(key.length) : `${key.slice(0, 8)}${"*".repeat(8)}${key.slice(-4)}`;
}
