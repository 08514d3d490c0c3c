/**
 * One login of a person: from the link that they open to the tokens. The answer of the browser must carry the state of
 * this login, and the issuer that was asked where the authorization server says that it adds it.
 */

import { randomBytes, timingSafeEqual } from "node:crypto";

import type { OAuthTokens } from "@modelcontextprotocol/client";

import { type Clock, codedError, inertLine, onAbort } from "../../../base/support/index.ts";
import {
  assertPkce,
  type AuthorizationServer,
  clientFor,
  discover,
  type OAuthClientOptions,
  refused,
  type Sdk,
} from "./authorization-server.ts";
import { addressRefused, type BoundedFetch } from "./bounded-fetch.ts";
import { listenForRedirect } from "./redirect-listener.ts";
import type { StoredClient } from "./token-file.ts";

export interface LoginOptions {
  /**
   * Shows or opens the link at which the person logs in. The address comes from the server: it is http or https, and
   * nothing else of it is checked.
   */
  readonly openLink: (url: string) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** What the MCP server said when it refused a request. */
export interface Challenge {
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: URL | undefined;
}

export interface Authorization {
  readonly sdk: Sdk;
  readonly server: string;
  readonly client: OAuthClientOptions;
  readonly challenge: Challenge;
  readonly bounded: BoundedFetch;
  readonly clock: Clock;
  /** Called with every secret before it is used. */
  readonly note: (...secrets: readonly (string | undefined)[]) => void;
}

export interface Authorized {
  readonly issuer: string;
  readonly client: StoredClient;
  readonly tokens: OAuthTokens;
  /** What was asked for. An answer that names no scope grants it. */
  readonly scope: string | undefined;
}

/** How long a person may take. */
export const LOGIN_MS = 5 * 60_000;

export async function authorize(order: Authorization, options: LoginOptions): Promise<Authorized> {
  const { sdk, server, bounded, challenge, note } = order;
  const state = randomBytes(32).toString("base64url");
  note(state);
  const at = await discover(sdk, server, bounded, challenge.resourceMetadataUrl);
  assertPkce(at);
  const scope = scopeToAsk(challenge.scope ?? at.scopes, at);
  const listener = await listenForRedirect((answer) => isSame(answer.get("state") ?? "", state));
  try {
    const redirectUrl = listener.url;
    const client = await clientFor({ sdk, at, options: order.client, redirectUrl, scope, bounded });
    note(client.client_secret);
    const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(at.url, {
      metadata: at.metadata,
      clientInformation: client,
      redirectUrl,
      state,
      ...(scope === undefined ? {} : { scope }),
      ...(at.resource === undefined ? {} : { resource: at.resource }),
    });
    note(codeVerifier);
    const notThere = addressRefused(authorizationUrl, server);
    if (notThere !== undefined) throw refused(notThere);
    const answer = await browserAnswer(order.clock, listener.answer, options, authorizationUrl.href);
    const code = codeIn(sdk, at, answer, state);
    note(code);
    const tokens = await sdk.exchangeAuthorization(at.url, {
      metadata: at.metadata,
      clientInformation: client,
      authorizationCode: code,
      codeVerifier,
      redirectUri: redirectUrl,
      ...issIn(answer),
      ...(at.resource === undefined ? {} : { resource: at.resource }),
      fetchFn: bounded.fetch,
    });
    note(tokens.access_token, tokens.refresh_token);
    assertBearer(tokens);
    return { issuer: at.issuer, client, tokens, scope };
  } finally {
    listener.close();
  }
}

/** Tokens of another type must be presented in another way. */
export function assertBearer({ token_type }: OAuthTokens): void {
  if (token_type.toLowerCase() !== "bearer")
    throw refused(`its tokens are of the type ${inertLine(token_type, 40)}, which is not supported`);
}

/** Where an authorization server knows `offline_access`, it gives no refresh token without it. */
function scopeToAsk(scope: string | undefined, { metadata }: AuthorizationServer): string | undefined {
  const words = scope?.split(/\s+/).filter((word) => word !== "") ?? [];
  if (words.length === 0) return undefined;
  const offline = metadata.scopes_supported?.includes("offline_access") === true;
  return [...new Set([...words, ...(offline ? ["offline_access"] : [])])].join(" ");
}

async function browserAnswer(
  clock: Clock,
  answer: Promise<URLSearchParams>,
  { openLink, signal }: LoginOptions,
  link: string,
): Promise<URLSearchParams> {
  const done = new AbortController();
  let forget: (() => void) | undefined;
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(codedError("stopped", "the login was stopped"));
    if (signal?.aborted === true) stop();
    else if (signal !== undefined) forget = onAbort(signal, stop);
  });
  const late = clock.sleep(LOGIN_MS, done.signal).then(() => {
    throw refused(`nobody finished it within ${LOGIN_MS / 60_000} minutes`);
  });
  // A caller's function may throw before it returns a promise.
  const opened = Promise.resolve()
    .then(() => openLink(link))
    .then(() => answer);
  try {
    return await Promise.race([answer, opened, stopped, late]);
  } finally {
    done.abort();
    forget?.();
  }
}

/** The issuer is checked before the error: an error of another server would be believed otherwise. */
function codeIn(sdk: Sdk, at: AuthorizationServer, answer: URLSearchParams, state: string): string {
  if (["state", "code", "iss", "error"].some((name) => answer.getAll(name).length > 1))
    throw refused("the browser came back with an answer that says things twice");
  if (!isSame(answer.get("state") ?? "", state))
    throw refused("the browser came back with an answer that does not belong to this login");
  sdk.validateAuthorizationResponseIssuer({
    iss: answer.get("iss") ?? undefined,
    expectedIssuer: at.issuer,
    issParameterSupported: at.metadata.authorization_response_iss_parameter_supported === true,
  });
  const error = answer.get("error");
  if (error !== null) {
    const said = inertLine([error, answer.get("error_description") ?? ""].join(" "), 300);
    throw refused(`the authorization server refused it: ${said}`);
  }
  const code = answer.get("code") ?? "";
  if (code === "") throw refused("the browser came back without a code");
  return code;
}

function issIn(answer: URLSearchParams): { readonly iss?: string } {
  const iss = answer.get("iss");
  return iss === null ? {} : { iss };
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
