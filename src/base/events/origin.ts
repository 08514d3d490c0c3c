/** Who made an item, and to whom a request is sent. Opaque payloads go back only to an equal origin (law 1). */

export type Dialect = "openai-responses" | "openai-chat" | "anthropic-messages";

/** Who made an item, or who receives a request: provider, dialect, model, endpoint and account. */
export interface Origin {
  readonly provider: string;
  readonly dialect: Dialect;
  /** The requested model. The served snapshot is recorded too, but the guard ignores it. */
  readonly model: string;
  readonly endpoint: string;
  /** A fingerprint, never the key: ciphertext is bound to the account (failures.md E04). */
  readonly credential: string;
}

export function sameOrigin(a: Origin, b: Origin): boolean {
  return (
    a.provider === b.provider &&
    a.dialect === b.dialect &&
    a.model === b.model &&
    a.endpoint === b.endpoint &&
    a.credential === b.credential
  );
}

/** Names the first difference between two origins, as a reason for people. */
export function originDifference(a: Origin, b: Origin): string {
  if (a.provider !== b.provider) return `made by ${a.provider}`;
  if (a.dialect !== b.dialect) return `made on ${a.dialect}`;
  if (a.model !== b.model) return `made by ${a.model}`;
  if (a.endpoint !== b.endpoint) return `made at ${a.endpoint}`;
  return "made under another account";
}
