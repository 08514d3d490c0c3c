/**
 * Who may use the sessions of a store that several machines share. A store keeps digests, never a token: whoever reads
 * the table can use none of them.
 */

/** What a token allows. `write` includes `read`, and `admin` includes both. */
export type Right = "read" | "write" | "admin";

export const RIGHTS: readonly Right[] = ["read", "write", "admin"];

/** What a key opens. */
export interface Grant {
  /** The sessions of this tenant and no others. */
  readonly tenant: string;
  readonly may: Right;
  /** The name of the token, or of the one whose link was used. Empty for the server's own token. */
  readonly name: string;
}

/**
 * - `token`: made by `throughline tokens add`;
 * - `browser`: the cookie of a browser that opened a link;
 * - `login`: the token of a program that redeemed a link.
 */
export type TokenKind = "token" | "browser" | "login";

/** A row of the table. Times are in milliseconds since 1970. */
export interface StoredToken extends Grant {
  readonly kind: TokenKind;
  readonly createdAt: number;
  /** Undefined: it works until it is removed. */
  readonly expiresAt: number | undefined;
}

export interface TokenTable {
  /** Adds a random token and resolves to it. `token_exists` if there is one of this name. */
  add(grant: Grant, expiresInMs: number | undefined): Promise<string>;
  /**
   * Adds a random key for whoever used a link of the token of this name. It expires with that token at the latest.
   * Undefined: the token is gone.
   */
  addLogin(grant: Grant, kind: Exclude<TokenKind, "token">, expiresInMs: number): Promise<string | undefined>;
  /** What the key opens; undefined if it is not known, or no longer valid. A removed one may be known for 3 s. */
  grantOf(key: string, kind: "bearer" | "cookie"): Promise<Grant | undefined>;
  /** By name. */
  list(): Promise<readonly StoredToken[]>;
  /** Removes a token, with the browsers and programs that logged in by its links. Resolves to whether there was one. */
  remove(name: string): Promise<boolean>;
  /** Adds a code that works once, on any node. */
  addCode(grant: Grant, expiresInMs: number): Promise<string>;
  /** Resolves to what the code opens, the first time. */
  redeemCode(code: string): Promise<Grant | undefined>;
}
