/**
 * Who may use the server, and for what. The server has one random token of 256 bits, with all rights. A store that
 * several machines share has a table of further ones, each with a tenant and a right. A program sends a token. A browser
 * gets access through a link that works once, and then holds a cookie. Keys are compared in constant time, or found by
 * their digest, and never logged.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import { codedError, codeOf } from "../../base/support/index.ts";
import { type Grant, type Right, RIGHTS, type TokenTable } from "../../runtime/log/index.ts";
import { SignedCodes } from "./signed-codes.ts";

const MIN_TOKEN_LENGTH = 32;
const DAY_MS = 24 * 3_600_000;
/** A link may lie in a terminal for a while before somebody opens it. */
const CODE_MS = DAY_MS;
const LOGIN_MS = 30 * DAY_MS;

/** The keys of one right of the server's own token. */
interface OwnKeys {
  readonly grant: Grant;
  readonly token: string;
  readonly cookie: string;
  readonly digests: { readonly token: Buffer; readonly cookie: Buffer };
}

/** At once for the server's own keys; others have to be looked up. */
export type Found = Grant | Promise<Grant | undefined> | undefined;

export interface AccessKeysParts {
  /**
   * Default: a random one. A server with a table then gives out links of the table, which hold on every node and after a
   * restart.
   */
  readonly token?: string | undefined;
  readonly tenant?: string | undefined;
  readonly table?: TokenTable | undefined;
  /** The address of the server, to which links lead. */
  readonly address: () => string;
}

export class AccessKeys {
  /** The server's own token. */
  readonly token: string;
  readonly #own: readonly OwnKeys[];
  readonly #table: TokenTable | undefined;
  /** Stands for the server's own token in the table of codes, which other servers may share. */
  readonly #issuer: string;
  /** Codes of unused links. With a table they are there, so that any node accepts them. */
  readonly #codes: { readonly digest: Buffer; readonly grant: Grant }[] = [];
  readonly #signed: SignedCodes;
  readonly #address: () => string;
  /** The row of the table whose links this server gives out. Undefined if its own token does. */
  readonly #row: string | undefined;

  constructor(parts: AccessKeysParts) {
    const { tenant = "", table } = parts;
    const token = parts.token ?? randomKey();
    if (token.length < MIN_TOKEN_LENGTH || !/^[\w.~+/=-]+$/.test(token)) {
      throw codedError(
        "token_weak",
        `the server's token must have ${MIN_TOKEN_LENGTH} or more letters, digits or -._~+/= : create one with "openssl rand -hex 32", or omit it to get a random one`,
      );
    }
    this.token = token;
    this.#signed = new SignedCodes(token);
    this.#table = table;
    this.#address = parts.address;
    this.#row = parts.token === undefined && table !== undefined ? rowOf(tenant) : undefined;
    const mark = createHmac("sha256", token)
      .update(`throughline link of tenant ${tenant}`)
      .digest("base64url");
    this.#issuer = `${ISSUER}${mark.slice(0, 22)}`;
    this.#own = RIGHTS.map((may) => {
      const keys = derived(token, may);
      const digests = { token: digest(keys.token), cookie: digest(keys.cookie) };
      return { grant: { tenant, may, name: "" }, ...keys, digests };
    });
  }

  /** What the server's own token opens. */
  get owner(): Grant {
    return this.#keysOf("admin").grant;
  }

  /** Whether a grant is of the server's own token or of a link that it printed. */
  isOwn({ name }: Grant): boolean {
    return name === "" || name === this.#row;
  }

  ofToken(given: string): Found {
    return this.#ownGrant(given, "token") ?? this.#table?.grantOf(given, "bearer");
  }

  ofCookie(given: string): Found {
    return this.#ownGrant(given, "cookie") ?? this.#table?.grantOf(given, "cookie");
  }

  /** Creates a code that gives these rights once, to one browser or program. */
  async newCode(grant: Grant): Promise<string> {
    if (this.#table !== undefined) {
      const name = grant.name === "" ? await this.#linkName(this.#table) : grant.name;
      return this.#table.addCode({ ...grant, name }, CODE_MS);
    }
    const code = randomKey();
    this.#codes.push({ digest: digest(code), grant });
    if (this.#codes.length > MAX_CODES) this.#codes.shift();
    return code;
  }

  /** The same for a server that runs in another process with the same token, or on the same table. */
  async codeForServer(): Promise<string> {
    return this.#table === undefined ? this.#signed.make(this.#address()) : this.newCode(this.owner);
  }

  /** Logs out whoever used a link of the table's own row. */
  async forgetLinks(): Promise<void> {
    if (this.#row !== undefined) await this.#table?.remove(this.#row);
  }

  async #linkName(table: TokenTable): Promise<string> {
    if (this.#row === undefined) return this.#issuer;
    try {
      await table.add({ ...this.owner, name: this.#row }, undefined); // nobody gets this token, only its links
    } catch (error) {
      if (codeOf(error) !== "token_exists") throw error;
    }
    return this.#row;
  }

  /**
   * Resolves to a cookie for a browser, or a token for a program, once for each code. Keys of the server's own token are
   * derived from it: nothing is stored, and every node with the same token accepts them. The token of a row of the table
   * is not known here, so its link gives out a new row: it needs no secret that all nodes share, and goes with the token
   * when that is removed.
   */
  async redeem(code: string, kind: "browser" | "login"): Promise<string | undefined> {
    const grant = this.#table === undefined ? this.#redeemHere(code) : await this.#table.redeemCode(code);
    if (grant === undefined) return undefined;
    const isOwn = this.#table === undefined || grant.name === this.#issuer;
    // A link of another server's own token, on the same store, opens nothing here.
    if (!isOwn && grant.name.startsWith(ISSUER)) return undefined;
    if (!isOwn) return this.#table?.addLogin(grant, kind, LOGIN_MS);
    const { cookie, token } = this.#keysOf(grant.may);
    return kind === "browser" ? cookie : token;
  }

  #redeemHere(code: string): Grant | undefined {
    const given = digest(code);
    let at = -1;
    for (const [index, known] of this.#codes.entries()) if (timingSafeEqual(known.digest, given)) at = index;
    if (at === -1) return this.#signed.redeem(code, this.#address()) ? this.owner : undefined;
    return this.#codes.splice(at, 1)[0]?.grant;
  }

  /** Compares with all of them, so that the time does not tell which one was close. */
  #ownGrant(text: string, as: "token" | "cookie"): Grant | undefined {
    const given = digest(text);
    let found: Grant | undefined;
    for (const own of this.#own) if (timingSafeEqual(own.digests[as], given)) found = own.grant;
    return found;
  }

  #keysOf(may: Right): OwnKeys {
    return this.#own.find(({ grant }) => grant.may === may) as OwnKeys; // made for every right
  }
}

/** No name that `throughline tokens add` accepts. */
function rowOf(tenant: string): string {
  return tenant === "" ? "serve:links" : `serve:links:${tenant}`;
}

const MAX_CODES = 64;
/** No token of the table has such a name. */
const ISSUER = "own:";

/**
 * A cookie is not the token itself, so a leaked cookie is not a bearer token. All are the same after a restart with the
 * same token.
 */
function derived(token: string, may: Right): { readonly token: string; readonly cookie: string } {
  const from = (text: string): string => createHmac("sha256", token).update(text).digest("base64url");
  return may === "admin"
    ? { token, cookie: from("throughline cookie") }
    : { token: from(`throughline token ${may}`), cookie: from(`throughline cookie ${may}`) };
}

function randomKey(): string {
  return randomBytes(32).toString("base64url");
}

/** Equal lengths for any input, so that the comparison does not reveal the length either. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
