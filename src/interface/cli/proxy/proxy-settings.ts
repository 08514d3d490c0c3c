/** What a proxy is to do: flags, then the user's setting `proxy`, then defaults. A project has no say in it. */

import { accessSync, constants, mkdirSync } from "node:fs";
import { resolve } from "node:path";

import { originIn } from "../../../access/gate/index.ts";
import { addressProblem, codedError, readProblem } from "../../../base/support/index.ts";
import { type ProxyMode, type ProxyOptions, type Route, routeFrom } from "../../../proxy/relay/index.ts";
import {
  ledgerFolder,
  ownSetting,
  type ProxyConfig,
  readConfigFile,
  ROUTE_NAME,
  userConfigFile,
} from "../../config/index.ts";
import { byteSize, wholeNumber } from "../flag-numbers.ts";
import { inertLine } from "../inert-text.ts";
import { isLoopback } from "../loopback.ts";
import { userProviders } from "../user-providers.ts";
import {
  type AddressVariable,
  isSelf,
  type KnownRoutes,
  knownRoutes,
  type OwnAddress,
} from "./known-routes.ts";
import { proxyToken } from "./proxy-token.ts";
import { type TlsFlags, tlsFrom } from "./tls-files.ts";

export interface LedgerFlag {
  readonly ledger?: string;
}

export interface ProxyFlags extends LedgerFlag, TlsFlags {
  readonly port: string;
  readonly host: string;
  readonly expose?: boolean;
  readonly allowHost: readonly string[];
  readonly allowOrigin: readonly string[];
  readonly tokenFile?: string;
  readonly to?: string;
  readonly route: readonly string[];
  readonly observe?: boolean;
  readonly strict?: boolean;
  readonly days?: string;
  readonly maxBytes?: string;
  readonly headers: boolean;
  readonly quiet?: boolean;
}

export interface ProxySettings {
  readonly options: ProxyOptions & { readonly mode: ProxyMode; readonly ledger: string };
  readonly variables: readonly AddressVariable[];
  /** What a person should know before the first request. */
  readonly notes: readonly string[];
}

const USUAL_DAYS = 90;
const USUAL_BYTES = 4 * 1024 ** 3;
const DAYS = { least: 1, most: 36_500, use: "a whole number from 1 to 36500" };
const PORT = { least: 0, most: 65_535, use: "a whole number from 0 to 65535" };

/** `port`: replaces the usual one. */
export function proxySettings(flags: ProxyFlags, port?: number): ProxySettings {
  const config = ownSetting("proxy") ?? {};
  const address = { host: flags.host, port: port ?? wholeNumber("--port", flags.port, PORT) };
  const token = proxyToken(flags.tokenFile);
  assertReachable(flags, token);
  const known = knownHere(address);
  const to = upstreamOf("--to", flags.to ?? config.to, known.routes, address);
  const routes = routesOf(flags.route, config, known.routes, address);
  return {
    options: {
      ...address,
      to,
      routes,
      known: known.routes,
      mode: flags.observe === true ? "observe" : flags.strict === true ? "strict" : (config.mode ?? "repair"),
      ledger: ledgerToWrite(flags, config),
      limits: {
        days:
          flags.days === undefined ? (config.days ?? USUAL_DAYS) : wholeNumber("--days", flags.days, DAYS),
        maxBytes:
          flags.maxBytes === undefined
            ? (config.maxBytes ?? USUAL_BYTES)
            : byteSize("--max-bytes", flags.maxBytes),
      },
      allowHosts: flags.allowHost.map(hostFrom),
      allowOrigins: flags.allowOrigin.map(originFrom),
      token,
      tls: tlsFrom(flags),
      headers: flags.headers,
    },
    variables: known.variables,
    notes: to === undefined ? known.notes : [],
  };
}

/** The routes of a proxy that would be started without flags, for the doctor. */
export function settledRoutes(): { readonly asked: readonly Route[]; readonly known: readonly Route[] } {
  const config = ownSetting("proxy") ?? {};
  const nowhere = { host: "127.0.0.1", port: 0 };
  const { routes: known } = knownHere(nowhere);
  const to = upstreamOf("proxy.to", config.to, known, nowhere);
  const named = Object.entries(routesOf([], config, known, nowhere));
  const asked = [
    ...(to === undefined ? [] : [routeFrom("upstream", to, known)]),
    ...named.map(([name, text]) => routeFrom(name, text, known)),
  ];
  return { asked, known: to === undefined ? known : [] };
}

/** The user's own providers alone: a project's file must not choose where requests go. */
function knownHere(address: OwnAddress): KnownRoutes {
  return knownRoutes(userProviders(readConfigFile(userConfigFile())?.values ?? {}), address);
}

/** The folder of the ledger: flag, setting, default. */
export function chosenLedger(
  { ledger }: LedgerFlag,
  config: ProxyConfig = ownSetting("proxy") ?? {},
): string {
  if (ledger === "") throw codedError("usage", "--ledger is empty: name a folder");
  return ledger === undefined ? (config.ledger ?? ledgerFolder()) : resolve(ledger);
}

/** A folder that a person names must work. Without the usual one, the proxy runs and says that it forgets. */
function ledgerToWrite(flags: LedgerFlag, config: ProxyConfig): string {
  const folder = chosenLedger(flags, config);
  if (flags.ledger === undefined && config.ledger === undefined) return folder;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw codedError(
      "file_unwritable",
      `the ledger cannot be written to ${inertLine(folder, 300)}: ${readProblem(error)}. Name another folder with --ledger`,
      error,
    );
  }
  return folder;
}

function assertReachable({ host, expose, tlsCert }: ProxyFlags, token: string | undefined): void {
  if (isLoopback(host)) return;
  if (expose !== true)
    throw codedError(
      "host_not_loopback",
      `--host ${host} can be reached from other machines${tlsCert === undefined ? ", and the traffic is not encrypted" : ""}. Add --expose and a token if you want this`,
    );
  if (token === undefined)
    throw codedError(
      "usage",
      `--host ${host} needs a token, or anyone who can reach it may use it: set THROUGHLINE_PROXY_TOKEN, or name a file with --token-file (openssl rand -hex 32 makes one)`,
    );
}

/** A trailing /v1 belongs to the address that the client has, as with the routes that are known by name. */
function upstreamOf(
  flag: string,
  text: string | undefined,
  known: readonly Route[],
  own: OwnAddress,
): string | undefined {
  if (text === undefined) return undefined;
  const [address = "", ...options] = text.split(",");
  const problem =
    addressProblem(address) ?? (isSelf(new URL(address), own) ? "is the proxy's own" : undefined);
  if (problem !== undefined)
    throw codedError(
      "base_url_invalid",
      `${flag}: the address ${problem}. Use one like https://api.example.com, or https://api.example.com,profile=NAME`,
    );
  const bare = [address.replace(/\/v1\/*$/, ""), ...options].join(",");
  routeFrom(flag, bare, known); // throws for an unknown profile
  return bare;
}

function routesOf(
  flags: readonly string[],
  config: ProxyConfig,
  known: readonly Route[],
  own: OwnAddress,
): Readonly<Record<string, string>> {
  const named = flags.map((text) => {
    const [, name = "", address = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    if (ROUTE_NAME.test(name)) return [name, address, `--route ${name}`] as const;
    throw codedError(
      "usage",
      `--route ${inertLine(text, 60)}: write NAME=URL. A name has letters, digits and . _ -, and is not t`,
    );
  });
  const settled = Object.entries(config.routes ?? {}).map(
    ([name, address]) => [name, address, `proxy.routes.${name}`] as const,
  );
  return Object.fromEntries(
    [...settled, ...named].map(([name, address, where]) => [
      name,
      upstreamOf(where, address, known, own) ?? "",
    ]),
  );
}

function hostFrom(text: string): string {
  if (/^[^\s/@?#]+$/.test(text)) return text;
  throw codedError(
    "usage",
    `--allow-host ${inertLine(text, 60)}: use a name and a port, such as proxy.example:4321`,
  );
}

function originFrom(text: string): string {
  const url = originIn(text);
  if (url !== undefined) return url.origin;
  throw codedError(
    "usage",
    `--allow-origin ${inertLine(text, 60)}: use the address of a page without its path, such as http://localhost:3000`,
  );
}
