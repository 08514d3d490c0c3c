/** The server: one port, one store, one agent. Every request passes the gate first. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { getRequestListener } from "@hono/node-server";

import { HTTP_API_VERSION, type ServerInfo } from "../../base/api/index.ts";
import {
  checkArgument,
  checkOptions,
  type Clock,
  codedError,
  codeOf,
  type Given,
  listenProblem,
  messageOf,
  systemClock,
  type ThroughlineError,
  withDefaults,
} from "../../base/support/index.ts";
import type { CostOf } from "../../runtime/facts/index.ts";
import type { Store } from "../../runtime/log/index.ts";
import type { Agent } from "../../runtime/session/index.ts";
import { AccessKeys } from "./access-keys.ts";
import { answerEarly } from "./answer-early.ts";
import { createApp } from "./app.ts";
import { Connections } from "./connections.ts";
import type { ServerParts } from "./context.ts";
import type { StreamCounters } from "./event-stream.ts";
import { bundleExport, type ExportSession } from "./exported.ts";
import { type Denial, denialOf, isLogin, LOGIN_PATH, TOO_MANY_WRONG_KEYS } from "./gate.ts";
import type { AgentFor } from "./hosted-session.ts";
import { SERVER_LIMITS, type ServerLimits } from "./limits.ts";
import { SERVER_OPTIONS } from "./option-checks.ts";
import { findPage, LOGIN_NEEDED } from "./page.ts";
import { awaitContinue } from "./read-body.ts";
import { setSecurityHeaders } from "./security-headers.ts";
import { SessionHost } from "./session-host.ts";
import { WrongKeys } from "./wrong-keys.ts";

/** Options of `startServer`. */
export interface ServerOptions {
  /** The sessions to serve. */
  readonly store: Store;
  /** One agent for all sessions, or a function that chooses one by the session's folder and last settings. */
  readonly agent: Agent | AgentFor;
  /** Default: 127.0.0.1. Other people can reach any other address; read SECURITY.md first. */
  readonly host?: string | undefined;
  /** Default: 4319. 0 selects any free port. */
  readonly port?: number | undefined;
  /** Further names under which clients reach it, as in a Host header: "laptop.lan:4319". */
  readonly allowHosts?: readonly string[] | undefined;
  /** At least 32 characters. Default: 256 random bits. */
  readonly token?: string | undefined;
  /** The folder of the built page. */
  readonly page?: string | undefined;
  /** What `GET /api/server` returns. */
  readonly info?: Partial<Pick<ServerInfo, "model" | "models" | "cwd">> | undefined;
  /** The formats in which a session can be downloaded. Default: only the complete session, as jsonl. */
  readonly exportSession?: ExportSession | undefined;
  /** What tokens cost, or undefined if the price is not known. Default: no prices are known. */
  readonly costOf?: CostOf | undefined;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** How long after its last use a session stays open for writing. Default: 5 s. */
  readonly releaseMs?: number | undefined;
  /** How much of the server a client may use. */
  readonly limits?: Given<ServerLimits> | undefined;
  /** Called with internal errors. The client only learns that something failed. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

/** A running server. */
export interface RunningServer {
  /** http://HOST:PORT */
  readonly url: string;
  readonly port: number;
  /** The key that clients send. */
  readonly token: string;
  /** Creates a link that opens the page in one browser, once. */
  newLink(): string;
  /** Open and dropped event streams. */
  readonly counters: Readonly<StreamCounters>;
  /** The number of open connections. */
  readonly connections: number;
  /** Method and path of every route. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** Cancels running turns, waits until that is in the log, and ends every stream. */
  close(): Promise<void>;
}

const DEFAULT_PORT = 4319;
const RELEASE_MS = 5000;
/** How often to check for connections that take too long. */
const LOOK_MS = 1000;
/**
 * Longer than a person's pause between two commands. A request sent while the server closes its connection is lost, and
 * not every request may be sent twice. Node's default of 5 s is just such a pause.
 */
const KEEP_ALIVE_MS = 60_000;
/** Connections the system holds until we accept them. With Node's 511, a burst makes clients wait a second to retry. */
const BACKLOG = 4096;
/** How long streams may take to finish when the server stops. */
const GRACE_MS = 2000;

/**
 * Serves the sessions of a store over HTTP, with live events (docs/http-api.md).
 *
 * @example
 * ```ts
 * import { createAgent, emulator, fileStore } from "throughline";
 * import { startServer } from "throughline/server";
 *
 * const agent = createAgent({ model: emulator() });
 * const server = await startServer({ agent, store: fileStore("sessions"), port: 0 });
 * console.log(`${server.url} with the token ${server.token}`);
 * await server.close();
 * ```
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  checkOptions("startServer", options, SERVER_OPTIONS);
  checkArgument("startServer", "store", options.store, SERVER_OPTIONS.store);
  checkArgument("startServer", "agent", options.agent, SERVER_OPTIONS.agent);
  const keys = new AccessKeys(options.token);
  const problem = options.onProblem ?? (() => undefined);
  const page = findPage(options.page);
  const limits = withDefaults(SERVER_LIMITS, options.limits);
  const clock = options.clock ?? systemClock;
  const server = createServer({
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    maxHeaderSize: limits.headBytes,
    connectionsCheckingInterval: Math.min(LOOK_MS, limits.headMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  const connections = new Connections(server, limits);
  const { host: address, port } = await listen(server, options);

  const { agent } = options;
  const host = new SessionHost({
    store: options.store,
    agentFor: typeof agent === "function" ? agent : () => agent,
    clock,
    releaseMs: options.releaseMs ?? RELEASE_MS,
    costOf: options.costOf ?? (() => undefined),
    problem,
  });
  const counters: StreamCounters = { open: 0, dropped: 0 };
  const url = `http://${bracketed(address)}:${port}`;
  const newLink = (): string => `${url}${LOGIN_PATH}?code=${keys.newCode()}`;
  const parts: ServerParts = {
    host,
    keys,
    // Cookies ignore ports: two servers on one machine must not overwrite each other's.
    cookieName: `throughline_${port}`,
    info: () => ({ name: "throughline", api: HTTP_API_VERSION, model: "", models: [], ...options.info }),
    page,
    counters,
    exportSession: options.exportSession ?? bundleExport(options.store),
    newLink,
    wrongKeys: new WrongKeys(clock, limits.wrongKeys, problem),
    limits,
  };
  const app = createApp(parts, (error) => problem(messageOf(error)));
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    autoCleanupIncoming: false, // it would cut off a sender after half a second; see answer-early.ts
    hostname: bracketed(address),
    errorHandler: (error) => {
      problem(messageOf(error));
      return new Response(null, { status: 400 });
    },
  });
  const rules = {
    hosts: hostNames(address, port, options.allowHosts ?? []),
    keys,
    cookieName: parts.cookieName,
  };
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    connections.begin(request, response);
    setSecurityHeaders(response);
    const refusal = denialOf(request, rules);
    if (refusal === undefined && !isLogin(request)) connections.admit(request, response);
    else connections.limit(request, response);
    if (refusal === undefined) void listener(request, response);
    else refuse(request, response, refusal, parts);
  };
  server.on("request", take);
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    awaitContinue(request, response); // continued only when a route reads the body
    take(request, response);
  });
  server.on("clientError", (error, socket) => {
    // Not left half open: a client that sends malformed requests would not close its half either.
    if (socket.writable) socket.end(answerTo(error), () => socket.destroy());
    else socket.destroy();
  });

  host.recover().catch((error: unknown) => problem(messageOf(error)));
  return {
    url,
    port,
    token: keys.token,
    newLink,
    counters,
    get connections() {
      return connections.count;
    },
    // ALL: the check of query parameters, which runs before a route.
    routes: app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => ({ method, path })),
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      await host.stop();
      connections.closeWhenIdle();
      const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
      await closed;
      clearTimeout(late);
    },
  };
}

async function listen(
  server: Server,
  { host = "127.0.0.1", port = DEFAULT_PORT }: ServerOptions,
): Promise<{ readonly host: string; readonly port: number }> {
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
function hostNames(address: string, port: number, further: readonly string[]): ReadonlySet<string> {
  const names = [address, "127.0.0.1", "localhost", ...(address.includes(":") ? ["::1"] : [])];
  const own = names.flatMap((name) => {
    const host = bracketed(name).toLowerCase();
    return port === 80 ? [host, `${host}:80`] : [`${host}:${port}`];
  });
  return new Set([...own, ...further.map((name) => name.toLowerCase())]);
}

function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

const NOT_REQUESTS: ReadonlyMap<string | undefined, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

/** Answers malformed requests, requests that never end, and oversized headers. */
function answerTo(error: Error): string {
  const line = NOT_REQUESTS.get(codeOf(error)) ?? "400 Bad Request";
  return `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Denial,
  { wrongKeys, limits }: ServerParts,
): void {
  const wait = refusal.wrongKey === true ? wrongKeys.add() : undefined;
  const { status, code, message } = wait === undefined ? refusal : TOO_MANY_WRONG_KEYS;
  if (wait !== undefined) response.setHeader("retry-after", wait);
  const forPeople = status === 401 && (request.headers.accept ?? "").includes("text/html");
  const headers = {
    "content-type": forPeople ? "text/html; charset=utf-8" : "application/json",
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
  };
  const text = forPeople ? LOGIN_NEEDED : JSON.stringify({ error: { code, message } });
  answerEarly(request, response, { status, headers, text }, limits);
}
