/**
 * Tokens, cookies and login codes. The table has the SHA-256 of 256 random bits, so a row is found by its primary key
 * and nothing has to be compared in constant time: an attacker who measures the index learns a digest, not a key.
 *
 * Look-ups are collected: one statement at a time asks for all keys that wait. A flood of wrong keys costs the database
 * one statement after the other and no more, on connections that no lease and no append depends on.
 */

import { createHash, randomBytes } from "node:crypto";

import { type Clock, codedError } from "../../base/support/index.ts";
import type { Grant, Right, StoredToken, TokenKind, TokenTable } from "../log/index.ts";
import type { Connections } from "./connections.ts";
import type { Row, Statement } from "./lane.ts";
import { quoted } from "./migrate.ts";
import { storeError } from "./problems.ts";

/** How long a key that was found is not looked up again, so how long a removed one still works. */
const REMEMBER_MS = 3000;
const MOST_REMEMBERED = 10_000;
/** How many keys one statement asks for. */
const MOST_ASKED = 500;

interface Known {
  readonly grant: Grant;
  readonly kind: TokenKind | "code";
}

interface Waiting {
  readonly digest: Buffer;
  readonly resolve: (known: Known | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class PostgresTokens implements TokenTable {
  readonly #connections: Connections;
  readonly #clock: Clock;
  readonly #statements: ReturnType<typeof tokenStatements>;
  readonly #remembered = new Map<string, Known & { readonly until: number }>();
  #waiting: Waiting[] = [];
  #isLooking = false;

  constructor(connections: Connections, schema: string, clock: Clock) {
    this.#connections = connections;
    this.#clock = clock;
    this.#statements = tokenStatements(schema);
  }

  async add({ tenant, may, name }: Grant, expiresInMs: number | undefined): Promise<string> {
    const key = newKey();
    const values = [digestOf(key), tenant, may, name, expiresInMs ?? null];
    const [made] = await this.#change(this.#statements.add, values);
    if (made !== undefined) return key;
    throw codedError(
      "token_exists",
      `there is already a token named "${name}". Remove it first, or choose another name`,
    );
  }

  async addLogin(
    { tenant, may, name }: Grant,
    kind: Exclude<TokenKind, "token">,
    expiresInMs: number,
  ): Promise<string | undefined> {
    const key = newKey();
    const values = [digestOf(key), tenant, may, name, kind, expiresInMs];
    const [made] = await this.#change(this.#statements.addLogin, values);
    return made === undefined ? undefined : key;
  }

  async grantOf(key: string, kind: "bearer" | "cookie"): Promise<Grant | undefined> {
    if (!KEY.test(key)) return undefined;
    const known = await this.#known(digestOf(key));
    // A cookie is no bearer token, and a token is no cookie: each works only where it was given.
    const fits = kind === "cookie" ? ["browser"] : ["token", "login"];
    return known !== undefined && fits.includes(known.kind) ? known.grant : undefined;
  }

  async list(): Promise<readonly StoredToken[]> {
    const rows = await this.#connections.read(this.#statements.list, []);
    return rows.map((row) => ({
      ...grantIn(row),
      kind: row["kind"] as TokenKind,
      createdAt: Number(row["created"]),
      expiresAt: row["expires"] === null ? undefined : Number(row["expires"]),
    }));
  }

  async remove(name: string): Promise<boolean> {
    const rows = await this.#change(this.#statements.remove, [name]);
    this.#remembered.clear();
    return rows.length > 0;
  }

  async addCode({ tenant, may, name }: Grant, expiresInMs: number): Promise<string> {
    const code = newKey();
    await this.#change(this.#statements.addCode, [digestOf(code), tenant, may, name, expiresInMs]);
    return code;
  }

  /** One statement finds and removes it, so of two nodes only one gets it. */
  async redeemCode(code: string): Promise<Grant | undefined> {
    if (!KEY.test(code) || (await this.#known(digestOf(code)))?.kind !== "code") return undefined;
    const [row] = await this.#change(this.#statements.redeem, [digestOf(code)]);
    return row && grantIn(row);
  }

  /** Sent once: a repeated insert or delete would find its own effect and report another outcome. */
  async #change(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    try {
      return await this.#connections.large.query(statement, values);
    } catch (error) {
      throw storeError(error);
    }
  }

  #known(digest: Buffer): Promise<Known | undefined> {
    const remembered = this.#remembered.get(digest.toString("hex"));
    if (remembered !== undefined && remembered.until > this.#clock.monotonic())
      return Promise.resolve(remembered);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ digest, resolve, reject });
      if (!this.#isLooking) void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    for (;;) {
      const asked = this.#waiting.splice(0, MOST_ASKED);
      if (asked.length === 0) break;
      try {
        // Counted from before the question: a token that is removed meanwhile is not known any longer for that.
        const until = this.#clock.monotonic() + REMEMBER_MS;
        const digests = asked.map(({ digest }) => digest);
        const rows = await this.#connections.read(this.#statements.look, [digests]);
        const found = new Map(rows.map((row) => [String(row["digest"]), knownIn(row)]));
        this.#forgetOld();
        for (const { digest, resolve } of asked) {
          const known = found.get(digest.toString("hex"));
          if (known !== undefined && known.kind !== "code")
            this.#remembered.set(digest.toString("hex"), { ...known, until });
          resolve(known);
        }
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    this.#isLooking = false;
  }

  #forgetOld(): void {
    if (this.#remembered.size < MOST_REMEMBERED) return;
    const now = this.#clock.monotonic();
    for (const [digest, { until }] of this.#remembered) if (until <= now) this.#remembered.delete(digest);
  }
}

/** The prefix lets a person, and a program that looks for leaked secrets, see what it is. */
const PREFIX = "tl_";
const KEY = /^tl_[\w-]{43}$/;

function newKey(): string {
  return `${PREFIX}${randomBytes(32).toString("base64url")}`;
}

function digestOf(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

function grantIn(row: Row): Grant {
  return { tenant: String(row["tenant"]), may: row["may"] as Right, name: String(row["name"]) };
}

function knownIn(row: Row): Known {
  return { grant: grantIn(row), kind: row["kind"] as Known["kind"] };
}

/** A right as a number, in SQL: the higher one includes the lower. */
const rank = (may: string): string => `array_position(array['read', 'write', 'admin'], ${may})`;

function tokenStatements(schema: string) {
  const s = quoted(schema);
  const named = (name: string, text: string): Statement => ({ name: `tl_${schema}_${name}`, text });
  /** Whether there is a token of this name that has not expired. */
  const lives = (name: string): string =>
    `exists (select 1 from ${s}.tokens t where t.name = ${name} and t.kind = 'token'
                and (t.expires_at is null or t.expires_at > clock_timestamp()))`;
  return {
    /** No row: the name is taken. What an expired token of this name has given out goes with it. */
    add: named(
      "token_add",
      `with d as (delete from ${s}.tokens where (expires_at <= now() and name <> $4)
                      or (name = $4 and kind <> 'token' and not ${lives("$4")})),
            c as (delete from ${s}.login_codes where name = $4 and not ${lives("$4")})
       insert into ${s}.tokens (digest, tenant, may, name, kind, expires_at)
       values ($1, $2, $3, $4, 'token', now() + $5 * interval '1 ms')
       on conflict (name) where kind = 'token' do update
          set digest = excluded.digest, tenant = excluded.tenant, may = excluded.may, expires_at = excluded.expires_at,
              created_at = now()
        where ${s}.tokens.expires_at <= now()
       returning 1`,
    ),
    addLogin: named(
      "token_login",
      `insert into ${s}.tokens (digest, tenant, may, name, kind, expires_at)
       select $1, $2, $3, $4, $5, least(t.expires_at, now() + $6 * interval '1 ms') from ${s}.tokens t
        where t.name = $4 and t.kind = 'token' and (t.expires_at is null or t.expires_at > now())
          and t.tenant = $2 and ${rank("$3")} <= ${rank("t.may")}
       returning 1`,
    ),
    look: named(
      "token_look",
      `select encode(digest, 'hex') as digest, tenant, may, name, kind from ${s}.tokens x
        where digest = any($1::bytea[]) and (expires_at is null or expires_at > clock_timestamp())
          and (kind = 'token' or ${lives("x.name")})
       union all
       select encode(digest, 'hex'), tenant, may, name, 'code' from ${s}.login_codes
        where digest = any($1::bytea[]) and expires_at > clock_timestamp()`,
    ),
    list: named(
      "token_list",
      `select tenant, may, name, kind, extract(epoch from created_at) * 1000 as created,
              extract(epoch from expires_at) * 1000 as expires
         from ${s}.tokens where expires_at is null or expires_at > now() order by name, created_at`,
    ),
    /** With the unused links of the token. */
    remove: named(
      "token_remove",
      `with c as (delete from ${s}.login_codes where name = $1)
       delete from ${s}.tokens where name = $1 returning 1`,
    ),
    addCode: named(
      "code_add",
      `with d as (delete from ${s}.login_codes where expires_at <= now())
       insert into ${s}.login_codes (digest, tenant, may, name, expires_at)
       values ($1, $2, $3, $4, now() + $5 * interval '1 ms')`,
    ),
    redeem: named(
      "code_redeem",
      `delete from ${s}.login_codes where digest = $1 and expires_at > clock_timestamp() returning tenant, may, name`,
    ),
  } as const;
}
