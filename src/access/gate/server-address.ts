/** Where a server listens, and under which names it answers. */

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

import {
  codedError,
  codeOf,
  listenProblem,
  type OptionCheck,
  type ThroughlineError,
} from "../../base/support/index.ts";

/** Connections the system holds until we accept them. With Node's 511, a burst makes clients wait a second to retry. */
const BACKLOG = 4096;

/** On loopback, unless its caller names another address. Port 0 selects any free port. */
export async function listen(
  server: Server,
  options: { readonly host?: string | undefined; readonly port?: number | undefined },
  defaultPort: number,
): Promise<{ readonly host: string; readonly port: number }> {
  const { host = "127.0.0.1", port = defaultPort } = options;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenFailed(error, host, port)));
    server.listen({ host, port, backlog: BACKLOG }, resolve);
  });
  return { host, port: (server.address() as AddressInfo).port };
}

function listenFailed(error: unknown, host: string, port: number): ThroughlineError {
  if (codeOf(error) === "EADDRINUSE")
    return codedError(
      "port_in_use",
      `port ${port} is in use. Stop the program that listens there, or choose another with --port`,
      error,
    );
  return codedError(
    "listen_failed",
    `cannot listen on ${host}, port ${port}: ${listenProblem(error)}`,
    error,
  );
}

/** Exact values, no patterns: the names under which local browsers, and those it was opened to, reach this server. */
export function hostNames(address: string, port: number, further: readonly string[]): ReadonlySet<string> {
  const names = [address, "127.0.0.1", "localhost", ...(address.includes(":") ? ["::1"] : [])];
  const own = names.flatMap((name) => {
    const host = bracketed(name).toLowerCase();
    return port === 80 ? [host, `${host}:80`] : [`${host}:${port}`];
  });
  return new Set([...own, ...further.map((name) => name.toLowerCase())]);
}

export function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/** The address of a server as its links have it. */
export function serverUrl(host: string, port: number): string {
  return `http://${bracketed(host)}:${port}`;
}

/** An origin and nothing more: a path, a query or a password in it would be lost without a word. */
export const anOrigin: OptionCheck = (value) =>
  typeof value === "string" && originIn(value) !== undefined
    ? undefined
    : 'an address without a path, such as "https://agents.example"';

export function originIn(text: string | undefined): URL | undefined {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  return isWeb && [url.origin, `${url.origin}/`].includes(url.href.toLowerCase()) ? url : undefined;
}
