/**
 * The upstreams that the proxy knows by name: one for each provider's host, and the user's own providers. A route leads to
 * an origin, so that a person can write the proxy's address in place of `https://HOST` and leave the rest as it is.
 */

import { addressProblem } from "../../../base/support/index.ts";
import type { Route } from "../../../proxy/relay/index.ts";
import { type Provider, PROVIDERS } from "../../../runtime/models/index.ts";
import { PROFILES } from "../../../runtime/providers/index.ts";
import { isLoopback } from "../loopback.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Profile = (typeof PROFILES)[string];

/** Where the proxy itself listens. Port 0 is not known yet and matches nothing. */
export interface OwnAddress {
  readonly host: string;
  readonly port: number;
}

/** A variable in which clients look for a provider's address. */
export interface AddressVariable {
  readonly variable: string;
  /** The name of the provider's route. */
  readonly route: string;
  /** What follows the host in the provider's address. */
  readonly path: string;
  readonly dialect: Profile["dialect"];
}

export interface KnownRoutes {
  readonly routes: readonly Route[];
  readonly variables: readonly AddressVariable[];
  /** Variables that were set and are not followed, for the user. */
  readonly notes: readonly string[];
}

interface Endpoint {
  readonly name: string;
  /** Endpoints with the same one share a route. */
  readonly host: string;
  readonly url: URL;
  readonly profile: Profile;
  readonly variable: string | undefined;
}

/** The address that Codex uses with a ChatGPT login. */
const CHATGPT: Provider = { name: "chatgpt", profile: "openai", baseUrl: "https://chatgpt.com" };

export function knownRoutes(
  own: Readonly<Record<string, Provider>>,
  address: OwnAddress,
  env: Environment = process.env,
): KnownRoutes {
  const notes = new Set<string>();
  const all = Object.values({ ...PROVIDERS, chatgpt: CHATGPT, ...own });
  const endpoints = all.flatMap((provider): readonly Endpoint[] => {
    const variable = Object.hasOwn(own, provider.name) ? undefined : variableOf(provider);
    const url = addressOf(provider, variable, { env, address, notes });
    if (url === undefined) return [];
    const profile = typeof provider.profile === "string" ? PROFILES[provider.profile] : provider.profile;
    if (profile === undefined) return [];
    const host = Object.hasOwn(own, provider.name)
      ? provider.name
      : (originOf(provider.baseUrl) ?? url.origin);
    return [{ name: provider.name, host, url, profile, variable }];
  });
  const firsts = firstOfEach(endpoints, ({ host }) => host);
  const routes = firsts.map(({ name, host, url }): Route => {
    const here = endpoints.filter((one) => one.url.origin === url.origin);
    const ordered = [...here.filter((one) => one.host === host), ...here.filter((one) => one.host !== host)];
    return {
      name,
      url: new URL(url.origin),
      profiles: firstOfEach(
        ordered.map((one) => one.profile),
        (one) => one.dialect,
      ),
    };
  });
  const nameOf = new Map(firsts.map(({ host, name }) => [host, name]));
  const variables = firstOfEach(endpoints, ({ variable }) => variable).flatMap(
    ({ variable, host, url, profile: { dialect } }): readonly AddressVariable[] =>
      variable === undefined
        ? []
        : [{ variable, route: nameOf.get(host) ?? "", path: url.pathname.replace(/\/$/, ""), dialect }],
  );
  return { routes, variables, notes: [...notes] };
}

/** Some have no variable of ours, but clients look for one that is named like the variable of the key. */
function variableOf({ baseUrlVariable, keyVariable }: Provider): string | undefined {
  return baseUrlVariable ?? keyVariable?.replace(/_API_KEY$/, "_BASE_URL");
}

/** The address that the environment gives it, unless that is a proxy: a client may already be pointed at this one. */
function addressOf(
  { name, baseUrl }: Provider,
  variable: string | undefined,
  given: { readonly env: Environment; readonly address: OwnAddress; readonly notes: Set<string> },
): URL | undefined {
  const usual = baseUrl === undefined ? undefined : new URL(baseUrl);
  const text = variable === undefined ? undefined : given.env[variable] || undefined;
  if (text === undefined) return usual;
  const problem =
    addressProblem(text) ??
    (isProxy(new URL(text), name, given.address) ? "is the address of a proxy" : undefined);
  if (problem === undefined) return new URL(text);
  const instead = usual === undefined ? "there is no route for it" : `the route leads to ${usual.origin}`;
  given.notes.add(`${variable} ${problem}, so ${instead}`);
  return usual;
}

function isProxy(url: URL, name: string, address: OwnAddress): boolean {
  if (isSelf(url, address)) return true;
  const [, first = ""] = url.pathname.split("/");
  return isLoopback(bare(url.hostname)) && (first === name || first === "t");
}

/** Whether a request to this address would come back to the proxy for ever. */
export function isSelf(url: URL, { host, port }: OwnAddress): boolean {
  const theirs = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
  const name = bare(url.hostname);
  return theirs === port && (isLoopback(name) || name === host || name === "0.0.0.0" || name === "::");
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function originOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : new URL(text).origin;
}

function firstOfEach<T>(list: readonly T[], key: (one: T) => unknown): readonly T[] {
  const seen = new Set<unknown>();
  return list.filter((one) => !seen.has(key(one)) && seen.add(key(one)) !== undefined);
}
