/**
 * The logins at MCP servers, in one file of mode 0600. It is written as a whole or not at all, and each change reads it
 * again under a lock, so processes do not lose each other's logins. A file that others could read or have planted is
 * refused, and a damaged one is reported: neither is ever replaced.
 */

import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

import { replaceFile, writeProblem } from "../../../base/files/index.ts";
import {
  arrayOf,
  type Clock,
  codedError,
  codeOf,
  hexHash,
  isObject,
  isThroughlineError,
  messageOf,
  systemClock,
  type ThroughlineError,
  tryParseJson,
} from "../../../base/support/index.ts";
import { acquireLock, lockWithin } from "../../log/index.ts";

/** What the authorization server knows this program as. */
export interface StoredClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method?: string;
}

/** The login at one MCP server, made by one authorization server. */
export interface StoredLogin {
  /** The address of the MCP server. */
  readonly server: string;
  readonly issuer: string;
  readonly client: StoredClient;
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** What was granted. */
  readonly scope?: string;
  /** What the MCP server asked for since then: the next login asks for it too. */
  readonly wantedScope?: string;
  /** Milliseconds since 1970. */
  readonly savedAt: number;
  readonly expiresAt?: number;
}

const VERSION = 1;
const MAX_BYTES = 4 * 1024 * 1024;
/** A refresh takes 30 s at most, a change of the file a few milliseconds. */
const LOCK_WAIT_MS = 90_000;

export class TokenFile {
  readonly path: string;
  readonly #clock: Clock;

  constructor(path: string, clock: Clock = systemClock) {
    this.path = path;
    this.#clock = clock;
  }

  /** All logins, those saved last at the end. Throws `mcp_tokens_unusable` or `mcp_tokens_damaged`. */
  logins(): readonly StoredLogin[] {
    const text = this.#read();
    return text === undefined ? [] : this.#parse(text);
  }

  /** The newest login at a server, or the one that this authorization server made. */
  loginAt(server: string, issuer?: string): StoredLogin | undefined {
    return this.logins().findLast(
      (login) => login.server === server && (issuer === undefined || login.issuer === issuer),
    );
  }

  /** Replaces the login of the same server and issuer. */
  save(login: StoredLogin): Promise<void> {
    return this.#change((all) => [...all.filter((one) => !isSame(one, login)), login]);
  }

  /** Changes a login in place if it still has this access token: another process may have replaced it. */
  amend(login: StoredLogin, change: (login: StoredLogin) => StoredLogin): Promise<void> {
    return this.#change((all) =>
      all.map((one) => (isSame(one, login) && one.accessToken === login.accessToken ? change(one) : one)),
    );
  }

  /** Removes a login, if it still has this access token. */
  forget(login: StoredLogin): Promise<void> {
    return this.#change((all) =>
      all.filter((one) => !isSame(one, login) || one.accessToken !== login.accessToken),
    );
  }

  /** Removes every login at a server, and returns them. */
  async remove(server: string): Promise<readonly StoredLogin[]> {
    let removed: readonly StoredLogin[] = [];
    await this.#change((all) => {
      removed = all.filter((one) => one.server === server);
      return all.filter((one) => one.server !== server);
    });
    return removed;
  }

  /** One process at a time refreshes the login at a server: a refresh token often works only once. */
  oneAtATime<Value>(server: string, work: () => Promise<Value>): Promise<Value> {
    return this.#locked(`${this.path}.${hexHash(server, 16)}.lock`, work);
  }

  /** Throws if a login could not be saved: a person should not log in for nothing. */
  assertUsable(): void {
    this.logins();
    this.#prepareFolder();
    this.#assertWritable();
  }

  async #change(edit: (all: readonly StoredLogin[]) => readonly StoredLogin[]): Promise<void> {
    this.#prepareFolder();
    await this.#locked(`${this.path}.lock`, async () => {
      const before = this.logins();
      const logins = edit(before);
      if (logins.length === 0 && before.length === 0) return;
      this.#assertWritable();
      try {
        replaceFile(this.path, `${JSON.stringify({ version: VERSION, logins }, undefined, 2)}\n`);
      } catch (error) {
        throw this.#unusable(`cannot be written: ${writeProblem(error, this.path)}`, "", error);
      }
    });
  }

  async #locked<Value>(lock: string, work: () => Promise<Value>): Promise<Value> {
    this.#prepareFolder();
    let attempt;
    try {
      attempt = await lockWithin(LOCK_WAIT_MS, this.#clock, () => acquireLock(lock));
    } catch (error) {
      throw this.#unusable(`cannot be locked: ${messageOf(error)}`, "", error);
    }
    if (!attempt.held)
      throw this.#unusable(`is in use by ${attempt.holder}`, "Try again, or end that process");
    try {
      return await work();
    } finally {
      await attempt.release();
    }
  }

  #prepareFolder(): void {
    const folder = dirname(this.path);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw this.#unusable(`cannot be made: ${messageOf(error)}`, "", error);
    }
    const uid = process.getuid?.();
    if (uid === undefined) return;
    const found = lstatSync(folder);
    // A link to a folder of this user is a common way to move a home; whoever may write to the target decides.
    if (found.isSymbolicLink()) return;
    if (found.uid !== uid && found.uid !== 0)
      throw this.#unusable("is in a folder of another user", `Make ${folder} a folder of your own`);
    if ((found.mode & 0o022) !== 0)
      throw this.#unusable("is in a folder that others may write to", `Run: chmod go-w ${folder}`);
  }

  #read(): string | undefined {
    let file: number;
    try {
      file = openSync(this.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      if (codeOf(error) === "ELOOP") throw this.#unusable("is a link", "Put the file itself there");
      throw this.#unusable(`cannot be read: ${messageOf(error)}`, "", error);
    }
    try {
      const found = fstatSync(file);
      if (!found.isFile()) throw this.#unusable("is not a file", "Move it away and log in again");
      const uid = process.getuid?.();
      if (uid !== undefined) {
        if (found.uid !== uid)
          throw this.#unusable("belongs to another user", "Move it away and log in again");
        if (found.nlink > 1) throw this.#unusable("has a second name", "Move it away and log in again");
        if ((found.mode & 0o077) !== 0)
          throw this.#unusable(
            "can be read or written by others",
            `Log out of its servers if they may have read it, then run: chmod 600 ${this.path}`,
          );
      }
      if (found.size > MAX_BYTES) throw this.#damaged(`is larger than ${MAX_BYTES} bytes`);
      return readFileSync(file).toString("utf8");
    } catch (error) {
      if (isThroughlineError(error)) throw error;
      throw this.#unusable(`cannot be read: ${messageOf(error)}`, "", error);
    } finally {
      closeSync(file);
    }
  }

  #assertWritable(): void {
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    if (found !== undefined && (found.mode & 0o200) === 0)
      throw this.#unusable("is read-only", `Run: chmod 600 ${this.path}`);
  }

  #parse(text: string): readonly StoredLogin[] {
    const content = tryParseJson(text);
    if (!isObject(content)) throw this.#damaged("is not a JSON object");
    const { version, logins } = content;
    if (typeof version === "number" && version > VERSION)
      throw this.#damaged("was written by a later version of this program");
    if (version !== VERSION || !Array.isArray(logins) || !arrayOf(logins).every(isLogin))
      throw this.#damaged("does not have the expected form");
    return logins as readonly StoredLogin[];
  }

  #unusable(what: string, todo: string, cause?: unknown): ThroughlineError {
    const advice = todo === "" ? "" : `. ${todo}`;
    return codedError("mcp_tokens_unusable", `the file of MCP logins ${this.path} ${what}${advice}`, cause);
  }

  #damaged(what: string): ThroughlineError {
    return codedError(
      "mcp_tokens_damaged",
      `the file of MCP logins ${this.path} ${what}. It is left as it is: mend it, or move it away and log in again`,
    );
  }
}

function isSame(one: StoredLogin, other: StoredLogin): boolean {
  return one.server === other.server && one.issuer === other.issuer;
}

function isLogin(value: unknown): boolean {
  if (!isObject(value) || !isObject(value["client"])) return false;
  const { server, issuer, client, accessToken, refreshToken, scope, wantedScope, savedAt, expiresAt } = value;
  const texts = [server, issuer, accessToken, client["client_id"]];
  const optional = [
    refreshToken,
    scope,
    wantedScope,
    client["client_secret"],
    client["token_endpoint_auth_method"],
  ];
  return (
    texts.every((text) => typeof text === "string" && text !== "") &&
    optional.every((text) => text === undefined || typeof text === "string") &&
    typeof savedAt === "number" &&
    (expiresAt === undefined || typeof expiresAt === "number")
  );
}
