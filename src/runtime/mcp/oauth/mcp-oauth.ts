/**
 * The login at one MCP server. A connection asks it for the token of each request; it refreshes the token by itself and
 * never starts a login: only `login` does, and only a person makes a caller call it. Its messages hold no secrets, and
 * what servers say in them is inert.
 */

import type { AuthProvider, OAuthTokens } from "@modelcontextprotocol/client";

import {
  type Clock,
  codedError,
  inertLine,
  isThroughlineError,
  messageOf,
  objectOf,
  stringOf,
  systemClock,
  ThroughlineError,
} from "../../../base/support/index.ts";
import { createRedactor } from "../../log/index.ts";
import { discover, loadSdk, type OAuthClientOptions, revoke, type Sdk } from "./authorization-server.ts";
import { assertBearer, authorize, type Challenge, type LoginOptions } from "./authorize.ts";
import { type BoundedFetch, boundedFetch, type Fetch } from "./bounded-fetch.ts";
import type { StoredClient, StoredLogin, TokenFile } from "./token-file.ts";

export interface McpOAuthOptions {
  /** The name of the server in the settings: messages and advice contain it. */
  readonly name: string;
  readonly url: string;
  readonly tokens: TokenFile;
  readonly client?: OAuthClientOptions | undefined;
  readonly clock?: Clock | undefined;
  readonly fetch?: Fetch | undefined;
}

export interface LogoutResult {
  /** Whether there was a login. */
  readonly removed: boolean;
  /** Whether the authorization server agreed to end all of it. Often it offers no way to. */
  readonly revoked: boolean;
}

/** A token this close to its end is refreshed before it is used. */
const EARLY_MS = 30_000;
/** A token this new is not refreshed because of a refusal: the refused request had the one before it. */
const NEW_MS = 5_000;

export class McpOAuth implements AuthProvider {
  readonly #name: string;
  readonly #server: string;
  readonly #tokens: TokenFile;
  readonly #client: OAuthClientOptions;
  readonly #clock: Clock;
  readonly #fetch: Fetch;
  readonly #secrets = new Set<string>();
  #challenge: Challenge = {};
  #refreshing: Promise<StoredLogin> | undefined;

  constructor({ name, url, tokens, client = {}, clock = systemClock, fetch }: McpOAuthOptions) {
    const server = new URL(url);
    server.hash = "";
    this.#name = name;
    this.#server = server.href;
    this.#tokens = tokens;
    this.#client = client;
    this.#clock = clock;
    this.#fetch = fetch ?? ((address, init) => globalThis.fetch(address, init));
    this.#note(client.clientSecret);
  }

  /** Everything that must not be shown, as far as it is known by now. */
  secrets(): readonly string[] {
    return [...this.#secrets];
  }

  /** For the SDK, before each request. Whoever needs no login must not fail because of a file that is not needed. */
  async token(): Promise<string | undefined> {
    let login: StoredLogin | undefined;
    try {
      login = this.#stored();
    } catch {
      return undefined; // Reported as soon as the server asks for a login.
    }
    if (login === undefined) return undefined;
    const { expiresAt, savedAt, refreshToken } = login;
    if (expiresAt === undefined || refreshToken === undefined) return login.accessToken;
    const early = Math.min(EARLY_MS, (expiresAt - savedAt) / 10);
    if (this.#clock.now() < expiresAt - early) return login.accessToken;
    return (await this.#refreshed(login)).accessToken;
  }

  /** For the SDK, when the server answered 401. It sends the request once more if this returns. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const { extractWWWAuthenticateParams } = await loadSdk();
    const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    this.#challenge = { scope, resourceMetadataUrl };
    const login = this.#stored();
    if (login === undefined) throw this.#needed("needs a login");
    const age = this.#clock.now() - login.savedAt;
    if (age >= 0 && age < NEW_MS) return;
    await this.#refreshed(login);
  }

  /**
   * What an error of the SDK means for the login: a coded error, or undefined if it is about something else. Remembers
   * which rights the server asked for, for the next login. Never rejects.
   */
  async failure(error: unknown): Promise<ThroughlineError | undefined> {
    if (isThroughlineError(error)) return error.code.startsWith("mcp_") ? error : undefined;
    if (!(error instanceof Error)) return undefined;
    if (error.name === "InsufficientScopeError") return this.#lacksScope(error).catch(asFailure);
    const refused = error.name === "UnauthorizedError" || ("status" in error && error.status === 401);
    return refused ? this.#needed("does not accept the login") : undefined;
  }

  /** Waits until a person has logged in, and saves the tokens. Fails with `mcp_login_failed` or `stopped`. */
  async login(options: LoginOptions): Promise<void> {
    this.#tokens.assertUsable();
    const before = this.#stored();
    const bounded = this.#bounded(options.signal);
    try {
      const sdk = await loadSdk();
      const { issuer, client, tokens, scope } = await authorize(
        {
          sdk,
          server: this.#server,
          client: this.#client,
          challenge: this.#wanted(sdk, before),
          bounded,
          clock: this.#clock,
          note: this.#note.bind(this),
        },
        options,
      );
      await this.#save({ issuer, client }, tokens, scope);
      this.#challenge = {};
    } catch (error) {
      throw this.#explained("mcp_login_failed", "the login failed", error, bounded);
    }
  }

  /** Removes the login from this machine, then asks the authorization server to end it too. */
  async logout({ signal }: { readonly signal?: AbortSignal } = {}): Promise<LogoutResult> {
    const logins = await this.#tokens.remove(this.#server);
    if (logins.length === 0) return { removed: false, revoked: false };
    const sdk = await loadSdk();
    const ended: boolean[] = [];
    for (const login of logins) {
      this.#noteLogin(login);
      try {
        ended.push(await revoke(sdk, login, this.#bounded(signal)));
      } catch {
        ended.push(false); // The login is gone from here. The caller says that it may live on there.
      }
    }
    return { removed: true, revoked: ended.every(Boolean) };
  }

  #stored(): StoredLogin | undefined {
    const login = this.#tokens.loginAt(this.#server);
    if (login !== undefined) this.#noteLogin(login);
    return login;
  }

  #refreshed(login: StoredLogin): Promise<StoredLogin> {
    if (login.refreshToken === undefined) throw this.#needed("needs a new login: the last one has expired");
    this.#refreshing ??= this.#tokens
      .oneAtATime(this.#server, () => this.#refresh(login))
      .finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  async #refresh({ issuer, accessToken }: StoredLogin): Promise<StoredLogin> {
    const login = this.#tokens.loginAt(this.#server, issuer);
    if (login?.refreshToken === undefined) throw this.#needed("needs a login");
    this.#noteLogin(login);
    if (login.accessToken !== accessToken) return login; // Another process was faster.
    const sdk = await loadSdk();
    const bounded = this.#bounded();
    try {
      const at = await discover(sdk, this.#server, bounded, this.#challenge.resourceMetadataUrl);
      if (at.issuer !== issuer)
        throw this.#needed("needs a new login: it has another authorization server now");
      const tokens = await sdk.refreshAuthorization(at.url, {
        metadata: at.metadata,
        clientInformation: login.client,
        refreshToken: login.refreshToken,
        ...(at.resource === undefined ? {} : { resource: at.resource }),
        fetchFn: bounded.fetch,
      });
      this.#note(tokens.access_token, tokens.refresh_token);
      assertBearer(tokens);
      return await this.#save(login, tokens, login.scope, login.wantedScope);
    } catch (error) {
      if (error instanceof sdk.OAuthError && ENDED.has(error.code)) {
        await this.#tokens.forget(login);
        throw this.#needed("needs a new login: the last one has ended");
      }
      throw this.#explained("mcp_refresh_failed", "the login could not be renewed", error, bounded);
    }
  }

  async #save(
    { issuer, client }: { readonly issuer: string; readonly client: StoredClient },
    tokens: OAuthTokens,
    asked: string | undefined,
    wantedScope?: string,
  ): Promise<StoredLogin> {
    const savedAt = this.#clock.now();
    const scope = tokens.scope ?? asked;
    const login: StoredLogin = {
      server: this.#server,
      issuer,
      client,
      accessToken: tokens.access_token,
      ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
      ...(scope === undefined ? {} : { scope }),
      ...(wantedScope === undefined ? {} : { wantedScope }),
      savedAt,
      ...(tokens.expires_in !== undefined && tokens.expires_in > 0
        ? { expiresAt: savedAt + 1000 * tokens.expires_in }
        : {}),
    };
    await this.#tokens.save(login);
    return login;
  }

  /** A step up asks for what was granted too: a login replaces the one before it. */
  #wanted(sdk: Sdk, before: StoredLogin | undefined): Challenge {
    const { scope, resourceMetadataUrl } = this.#challenge;
    const more = before?.wantedScope;
    return {
      scope: sdk.computeScopeUnion(scope, ...(more === undefined ? [] : [before?.scope, more])),
      resourceMetadataUrl,
    };
  }

  async #lacksScope(error: Error): Promise<ThroughlineError> {
    const sdk = await loadSdk();
    const { requiredScope, resourceMetadataUrl } = objectOf(error);
    const scope = stringOf(requiredScope);
    const login = this.#stored();
    if (resourceMetadataUrl instanceof URL) this.#challenge = { ...this.#challenge, resourceMetadataUrl };
    if (login === undefined) return this.#needed("needs a login");
    const shown = scope === undefined ? "" : `: ${inertLine(scope, 200)}`;
    if (!sdk.isStrictScopeSuperset(scope, login.scope))
      return codedError(
        "mcp_login_failed",
        `${this.#who()} refuses the request although the login has the rights that it asks for${shown}. Ask whoever runs the server`,
      );
    const wantedScope = sdk.computeScopeUnion(login.wantedScope, scope) ?? "";
    await this.#tokens.amend(login, (one) => ({ ...one, wantedScope }));
    return this.#needed(`asks for more rights than the login has${shown}`);
  }

  /** `details.why` is the message without the advice, for whoever gives it in other words. */
  #needed(what: string): ThroughlineError {
    const name = /^[\w.@/-]+$/.test(this.#name) ? this.#name : JSON.stringify(this.#name);
    const why = `${this.#who()} ${this.#clean(what)}`;
    return new ThroughlineError({
      code: "mcp_login_needed",
      message: `${why}. Run: throughline mcp login ${inertLine(name, 80)}`,
      details: { why },
    });
  }

  #explained(
    code: "mcp_login_failed" | "mcp_refresh_failed",
    what: string,
    error: unknown,
    bounded: BoundedFetch,
  ): ThroughlineError {
    const cause = bounded.problem() ?? error;
    if (isThroughlineError(cause) && cause.code !== "mcp_login_failed") return cause;
    const why = UNREADABLE.has(cause instanceof Error ? cause.name : "")
      ? "the authorization server answered in an unexpected form"
      : messageOf(cause);
    return codedError(code, `${this.#who()}: ${what}: ${inertLine(this.#clean(why), 400)}`);
  }

  #who(): string {
    return `MCP server ${inertLine(this.#name, 80)}`;
  }

  /** A server may repeat what it was sent. */
  #clean(text: string): string {
    return createRedactor(() => this.secrets())(text);
  }

  #bounded(signal?: AbortSignal): BoundedFetch {
    return boundedFetch({ server: this.#server, fetch: this.#fetch, clock: this.#clock, signal });
  }

  #note(...secrets: readonly (string | undefined)[]): void {
    for (const secret of secrets) if (secret !== undefined && secret !== "") this.#secrets.add(secret);
  }

  #noteLogin({ accessToken, refreshToken, client }: StoredLogin): void {
    this.#note(accessToken, refreshToken, client.client_secret);
  }
}

function asFailure(error: unknown): ThroughlineError {
  return isThroughlineError(error) ? error : codedError("mcp_login_failed", messageOf(error));
}

/** The authorization server no longer knows the login or the client. */
const ENDED: ReadonlySet<string> = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);
/** Errors of the SDK about the form of an answer. Their messages are written for developers. */
const UNREADABLE: ReadonlySet<string> = new Set(["ZodError", "$ZodError", "SyntaxError"]);
