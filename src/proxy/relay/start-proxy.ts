/** The proxy: one port, a table of upstreams, one ledger. Every request passes the gate first. */

import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Duplex } from "node:stream";

import {
  answerMalformedRequests,
  bracketed,
  type Denial,
  deny,
  headersNamed,
  hostDenial,
  hostNames,
  listen,
  originDenial,
  targetDenial,
} from "../../access/gate/index.ts";
import { checkOptions, type Clock, messageOf, systemClock } from "../../base/support/index.ts";
import { type ExchangeLine, Ledger, type LedgerLimits } from "../ledger/index.ts";
import { handleRequest, type HandlerParts } from "./handle-request.ts";
import { PROXY_OPTIONS } from "./option-checks.ts";
import { answerOwn } from "./own-answers.ts";
import { RequestReader } from "./reading.ts";
import { type Route, routeFrom } from "./routes.ts";
import { PROXY_MODES, type ProxyMode } from "./settings.ts";
import { Upstreams } from "./upstreams.ts";

/** Options of `startProxy`. */
export interface ProxyOptions {
  /** One upstream, at the root of the proxy: `URL[,profile=NAME]`. */
  readonly to?: string | undefined;
  /** Upstreams by name: `http://127.0.0.1:4321/NAME/…` goes to the address of NAME. */
  readonly routes?: Readonly<Record<string, string>> | undefined;
  /** Upstreams whose profile is known, by name. */
  readonly known?: readonly Route[] | undefined;
  /** Default: repair. */
  readonly mode?: ProxyMode | undefined;
  /** The folder of the ledger. Default: the proxy remembers in memory only. */
  readonly ledger?: string | undefined;
  /** How much the ledger remembers. Default: 90 days since the last use, and 4 GiB. */
  readonly limits?: LedgerLimits | undefined;
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined;
  /** Default: 4321. 0 selects any free port. */
  readonly port?: number | undefined;
  /** Further names under which clients reach it, as in a Host header. */
  readonly allowHosts?: readonly string[] | undefined;
  /** Origins of web pages that may use it. */
  readonly allowOrigins?: readonly string[] | undefined;
  /** Needed to use the proxy, in `x-throughline-token` or as `/t/TOKEN/…`. */
  readonly token?: string | undefined;
  /** Certificate and key as PEM texts. Default: no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Whether answers get `x-throughline` headers. Default: true. */
  readonly headers?: boolean | undefined;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Called after every exchange that was read. */
  readonly onExchange?: ((line: ExchangeLine) => void) | undefined;
  /** Called when something is wrong with the proxy itself; the same problem at most once a minute. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

/** A running proxy. */
export interface RunningProxy {
  /** http://HOST:PORT */
  readonly url: string;
  readonly port: number;
  readonly routes: readonly Route[];
  readonly health: "ok" | "degraded";
  /** Answers that are under way get a moment to end. */
  close(): Promise<void>;
}

const DEFAULT_PORT = 4321;
/** Never forwarded. */
const OWN_PATHS = "/__throughline";
const HEALTH_PATH = `${OWN_PATHS}/health`;
/** The same problem is told once in this time. */
const TELL_MS = 60_000;
const GRACE_MS = 2000;
const HEAD_MS = 30_000;
/** Clients send cookies, tokens and betas. */
const MOST_HEAD_BYTES = 64 * 1024;

/**
 * Starts a proxy between clients and their providers (docs/proxy.md).
 *
 * @example
 * ```ts
 * import { startEmulator } from "throughline/emulator";
 * import { startProxy } from "throughline/proxy";
 *
 * const provider = await startEmulator({ port: 0 });
 * const proxy = await startProxy({ to: provider.url, port: 0 });
 * console.log(`use ${proxy.url}/v1 as the base URL`);
 * await proxy.close();
 * await provider.close();
 * ```
 */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  checkOptions("startProxy", options, PROXY_OPTIONS);
  const { mode = "repair", clock = systemClock } = options;
  const known = options.known ?? [];
  const root = options.to === undefined ? undefined : routeFrom("upstream", options.to, known);
  const named = Object.entries(options.routes ?? {}).map(([name, text]) => routeFrom(name, text, known));
  const routes = new Map(
    [...(root === undefined ? known : []), ...named].map((route) => [route.name, route]),
  );
  const tell = seldom(options.onProblem ?? (() => undefined), clock);
  const limits = { headersTimeout: HEAD_MS, requestTimeout: 0, maxHeaderSize: MOST_HEAD_BYTES };
  const server =
    options.tls === undefined ? createServer(limits) : createTlsServer({ ...limits, ...options.tls });
  server.timeout = 0;
  answerMalformedRequests(server);
  const { host, port } = await listen(server, options, DEFAULT_PORT);
  const ledger = new Ledger({
    folder: options.ledger,
    limits: options.limits,
    now: clock.now(),
    onProblem: tell,
  });
  const parts: HandlerParts = {
    ledger,
    reader: new RequestReader(),
    mode,
    clock,
    problem: tell,
    onExchange: options.onExchange ?? (() => undefined),
    upstreams: new Upstreams(),
    headers: options.headers ?? true,
  };
  const rules = {
    hosts: hostNames(host, port, options.allowHosts ?? []),
    allowOrigins: new Set(options.allowOrigins ?? []),
    allowApps: true,
    publicOrigin: options.tls === undefined ? undefined : new URL(`https://${bracketed(host)}:${port}`),
  };
  const gate = (request: IncomingMessage): Denial | undefined =>
    targetDenial(request) ?? hostDenial(request, rules) ?? originDenial(request, rules);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const denial = gate(request);
    if (denial !== undefined) return answerOwn(response, denial.status, denial.code, denial.message);
    const entered = enter(request, options.token);
    if ("denial" in entered) return answerOwn(response, 401, entered.denial.code, entered.denial.message);
    const { path } = entered;
    if (path === HEALTH_PATH) return answerHealth(response, ledger, mode);
    if (path.startsWith(OWN_PATHS)) return answerUnknown(response, routes);
    const chosen = chooseRoute(path, root, routes);
    if (chosen === undefined) return answerUnknown(response, routes);
    void handleRequest(request, response, { ...chosen, mode: modeOf(request, mode), parts }).catch(
      (error: unknown) => {
        tell(messageOf(error));
        response.destroy();
      },
    );
  });
  server.on("upgrade", (_request: IncomingMessage, socket: Duplex) => refuseUpgrade(socket));
  return {
    url: `${options.tls === undefined ? "http" : "https"}://${bracketed(host)}:${port}`,
    port,
    routes: root === undefined ? [...routes.values()] : [root, ...routes.values()],
    get health() {
      return ledger.health;
    },
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
      await closed;
      clearTimeout(late);
      parts.upstreams.close();
      await ledger.close();
    },
  };
}

/** The token stands in a header, or in front of the path for clients that can set only an address. */
function enter(
  request: IncomingMessage,
  token: string | undefined,
): { readonly path: string } | { readonly denial: Denial } {
  const path = request.url ?? "/";
  if (token === undefined || path === HEALTH_PATH) return { path };
  const [, inPath, rest] = /^\/t\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  const [given = inPath ?? ""] = headersNamed(request, "x-throughline-token");
  if (isSame(given, token)) return { path: inPath === undefined ? path : (rest ?? "/") };
  return {
    denial: deny(
      401,
      "unauthorized",
      "a token is required: send it in x-throughline-token, or put /t/TOKEN in front of the path",
    ),
  };
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function chooseRoute(
  path: string,
  root: Route | undefined,
  routes: ReadonlyMap<string, Route>,
): { readonly route: Route; readonly rest: string } | undefined {
  const [, name = "", rest = ""] = /^\/([^/?]+)(.*)$/s.exec(path) ?? [];
  const route = routes.get(name);
  if (route !== undefined) return { route, rest };
  return root === undefined ? undefined : { route: root, rest: path };
}

function modeOf(request: IncomingMessage, mode: ProxyMode): ProxyMode {
  const [asked] = headersNamed(request, "x-throughline-mode");
  return PROXY_MODES.find((one) => one === asked) ?? mode;
}

function answerHealth(response: ServerResponse, { health }: Ledger, mode: ProxyMode): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ status: health, mode }));
}

function answerUnknown(response: ServerResponse, routes: ReadonlyMap<string, Route>): void {
  const names = [...routes.keys()].map((name) => `/${name}`);
  answerOwn(
    response,
    404,
    "route_not_found",
    `this address leads nowhere. Put one of these names in front of the path: ${names.join(", ")}`,
  );
}

/** Clients that can also speak HTTP go on with it (Codex does on exactly this status). */
function refuseUpgrade(socket: Duplex): void {
  const text = JSON.stringify({
    error: {
      type: "throughline_proxy",
      code: "upgrade_required",
      message:
        "the proxy speaks HTTP only. Switch WebSockets off in the client (Codex: supports_websockets = false)",
    },
  });
  socket.on("error", () => undefined);
  socket.end(
    `HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    () => socket.destroy(),
  );
}

function seldom(tell: (message: string) => void, clock: Clock): (message: string) => void {
  const told = new Map<string, number>();
  return (message) => {
    const now = clock.monotonic();
    if (now - (told.get(message) ?? Number.NEGATIVE_INFINITY) < TELL_MS) return;
    if (told.size > 100) told.clear();
    told.set(message, now);
    tell(message);
  };
}
