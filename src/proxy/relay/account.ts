/**
 * Whose request it is: a fingerprint of the organisation that the provider names, or else of the account or credential that
 * the client sends. No key is kept, and nothing crosses accounts.
 */

import type { IncomingHttpHeaders } from "node:http";

import type { Ledger } from "../ledger/index.ts";

const CREDENTIALS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"] as const;
/** The headers in which a client names its account. */
const ACCOUNTS = ["chatgpt-account-id", "openai-organization", "anthropic-organization-id"] as const;
/** The headers in which a provider names the organisation. */
const ORGANISATIONS = ["anthropic-organization-id", "openai-organization"] as const;

/** The fingerprint of what the client sends. */
export function credentialOf(headers: IncomingHttpHeaders, ledger: Ledger): string {
  const account = ACCOUNTS.map((name) => headers[name]).find((value) => value !== undefined);
  const given =
    account ?? CREDENTIALS.map((name) => headers[name]).find((value) => value !== undefined) ?? "";
  return fingerprint(ledger, account === undefined ? "credential" : "account", String(given));
}

/** The account that a credential belongs to, as far as an answer has told. */
export function accountOf(credential: string, ledger: Ledger): string {
  return ledger.index.organisation(credential) ?? credential;
}

/** Learns which organisation a credential belongs to. Returns its account from now on. */
export function learnAccount(credential: string, headers: IncomingHttpHeaders, ledger: Ledger): string {
  const told = ORGANISATIONS.map((name) => headers[name]).find((value) => value !== undefined);
  if (told === undefined || told === "") return accountOf(credential, ledger);
  const organisation = fingerprint(ledger, "organisation", String(told));
  if (ledger.index.organisation(credential) !== organisation)
    void ledger.record({ type: "account", credential, organisation });
  return organisation;
}

function fingerprint(ledger: Ledger, kind: string, value: string): string {
  return ledger.mark(`${kind}\n${value}`).slice(0, 16);
}

/** A provider may repeat a key in what it says about it. */
export function withoutKeys(text: string, headers: IncomingHttpHeaders): string {
  let clean = text;
  for (const name of CREDENTIALS)
    for (const word of String(headers[name] ?? "").split(/\s+/))
      if (word.length >= SHORTEST_KEY) clean = clean.replaceAll(word, "[key]");
  return clean;
}

const SHORTEST_KEY = 8;
