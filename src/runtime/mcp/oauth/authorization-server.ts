/**
 * What an authorization server says about itself, how this program becomes known to it, and the end of a login. The
 * requests are those of the official client package, through a bounded fetch.
 */

import type * as ClientPackage from "@modelcontextprotocol/client";
import type { AuthorizationServerMetadata } from "@modelcontextprotocol/client";

import { codedError } from "../../../base/support/index.ts";
import { type BoundedFetch, shownHost } from "./bounded-fetch.ts";
import type { StoredClient, StoredLogin } from "./token-file.ts";

export type Sdk = typeof ClientPackage;

/** Loaded when a login is used: whoever uses no MCP server loads nothing. */
export const loadSdk = (): Promise<Sdk> => import("@modelcontextprotocol/client");

/** How this program is known to an authorization server that knows it already. */
export interface OAuthClientOptions {
  /** The id of a client that was registered by hand. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** The https address of a client id metadata document. It is the id where the authorization server reads such. */
  readonly clientMetadataUrl?: string | undefined;
  /** If given, no other authorization server gets a login, an id or a secret. */
  readonly issuer?: string | undefined;
}

export interface AuthorizationServer {
  readonly url: string;
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** The identifier of the MCP server, as it must be sent. */
  readonly resource: string | undefined;
  /** What the MCP server offers. */
  readonly scopes: string | undefined;
}

/** Finds the authorization server of an MCP server. Always asks anew: it may have moved. */
export async function discover(
  sdk: Sdk,
  server: string,
  bounded: BoundedFetch,
  resourceMetadataUrl: URL | undefined,
): Promise<AuthorizationServer> {
  const found = await sdk.discoverOAuthServerInfo(server, {
    fetchFn: bounded.fetch,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  });
  // The SDK goes on without a document that could not be read. A limit that was hit is no missing document.
  const failed = bounded.problem();
  if (failed !== undefined) throw failed;
  const { authorizationServerUrl: url, authorizationServerMetadata: metadata, resourceMetadata } = found;
  if (metadata === undefined)
    throw refused(`${shownHost(new URL(url))} publishes no metadata of an authorization server`);
  const resource = resourceMetadata?.resource;
  if (
    resource !== undefined &&
    !sdk.checkResourceAllowed({
      requestedResource: sdk.resourceUrlFromServerUrl(server),
      configuredResource: resource,
    })
  )
    throw refused("the server names another server as the one to log in to");
  return {
    url,
    issuer: metadata.issuer,
    metadata,
    resource,
    scopes: resourceMetadata?.scopes_supported?.join(" ") || undefined,
  };
}

/** Without S256 a stolen code could be redeemed by whoever stole it. */
export function assertPkce({ metadata }: AuthorizationServer): void {
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true)
    throw refused("its authorization server does not support PKCE with S256, which is required");
}

export interface ClientQuestion {
  readonly sdk: Sdk;
  readonly at: AuthorizationServer;
  readonly options: OAuthClientOptions;
  readonly redirectUrl: string;
  readonly scope: string | undefined;
  readonly bounded: BoundedFetch;
}

/**
 * The client of this login. A registered client is not used for a second login: its redirect has the port of the first.
 */
export async function clientFor(question: ClientQuestion): Promise<StoredClient> {
  const { sdk, at, options, redirectUrl, scope, bounded } = question;
  if (options.issuer !== undefined && options.issuer !== at.issuer)
    throw refused("the server names another authorization server than the one that is set for it");
  if (options.clientId !== undefined)
    return {
      client_id: options.clientId,
      ...(options.clientSecret === undefined ? {} : { client_secret: options.clientSecret }),
    };
  if (options.clientMetadataUrl !== undefined && at.metadata.client_id_metadata_document_supported === true)
    return { client_id: options.clientMetadataUrl };
  if (at.metadata.registration_endpoint === undefined)
    throw refused(
      "its authorization server does not register clients by itself: register one there and set its clientId",
    );
  const { client_id, client_secret, token_endpoint_auth_method } = await sdk.registerClient(at.url, {
    metadata: at.metadata,
    clientMetadata: {
      client_name: "Throughline",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: wantedMethod(at.metadata),
      application_type: "native",
    },
    ...(scope === undefined ? {} : { scope }),
    fetchFn: bounded.fetch,
  });
  return {
    client_id,
    ...(client_secret === undefined ? {} : { client_secret }),
    ...(token_endpoint_auth_method === undefined ? {} : { token_endpoint_auth_method }),
  };
}

/** A program on a person's machine keeps no secret well, so it asks for none if it may. */
function wantedMethod(metadata: AuthorizationServerMetadata): string {
  const supported = metadata.token_endpoint_auth_methods_supported ?? ["none"];
  return (
    ["none", "client_secret_basic", "client_secret_post"].find((one) => supported.includes(one)) ?? "none"
  );
}

/** Tells the authorization server that the tokens are no longer used. Returns whether it agreed for all of them. */
export async function revoke(sdk: Sdk, login: StoredLogin, bounded: BoundedFetch): Promise<boolean> {
  const metadata = await sdk.discoverAuthorizationServerMetadata(login.issuer, { fetchFn: bounded.fetch });
  const endpoint =
    metadata !== undefined && "revocation_endpoint" in metadata && metadata.revocation_endpoint;
  if (metadata === undefined || typeof endpoint !== "string") return false;
  const answers: boolean[] = [];
  for (const [token, hint] of [
    [login.refreshToken, "refresh_token"],
    [login.accessToken, "access_token"],
  ] as const) {
    if (token === undefined) continue;
    const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
    const params = new URLSearchParams({ token, token_type_hint: hint });
    identify(sdk, login.client, metadata, headers, params);
    const { ok } = await bounded.fetch(endpoint, { method: "POST", headers, body: params });
    answers.push(ok);
  }
  return answers.every(Boolean);
}

/** As the SDK does at the token endpoint; it exports no function for other endpoints. */
function identify(
  sdk: Sdk,
  client: StoredClient,
  metadata: AuthorizationServerMetadata,
  headers: Headers,
  params: URLSearchParams,
): void {
  const supported = metadata.token_endpoint_auth_methods_supported ?? [];
  const { client_id, client_secret } = client;
  const method = sdk.selectClientAuthMethod(client, supported);
  if (method === "client_secret_basic" && client_secret !== undefined) {
    headers.set("authorization", `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`);
    return;
  }
  params.set("client_id", client_id);
  if (method === "client_secret_post" && client_secret !== undefined)
    params.set("client_secret", client_secret);
}

export const refused = (why: string): Error => codedError("mcp_login_failed", why);
