/** The server: one port, one store, one agent. Every request passes the gate first. */

import { createServer, type IncomingMessage } from "node:http";

import { getRequestListener } from "@hono/node-server";

import { HTTP_API_VERSION, type ServerInfo } from "../../base/api/index.ts";
import {
  checkArgument,
  checkOptions,
  type Clock,
  codeOf,
  type Given,
  messageOf,
  systemClock,
  withDefaults,
} from "../../base/support/index.ts";
import type { CostOf } from "../../runtime/facts/index.ts";
import type { Grant, Store } from "../../runtime/log/index.ts";
import type { Agent } from "../../runtime/session/index.ts";
import { bracketed, Connections, hostNames, listen, originIn, serverUrl } from "../gate/index.ts";
import { AccessKeys } from "./access-keys.ts";
import { createApp } from "./app.ts";
import { Claimer } from "./claimer.ts";
import type { ServerParts } from "./context.ts";
import type { StreamCounters } from "./event-stream.ts";
import { bundleExport, type ExportSession } from "./exported.ts";
import { openDoor } from "./front-door.ts";
import type { KnownKey } from "./gate.ts";
import type { OnNodeLoss } from "./hosted-inbox.ts";
import type { AgentFor } from "./hosted-parts.ts";
import { SERVER_LIMITS, type ServerLimits } from "./limits.ts";
import { linkWith } from "./new-link.ts";
import { OpenRequests } from "./open-requests.ts";
import { SERVER_OPTIONS } from "./option-checks.ts";
import { findPage } from "./page.ts";
import { PeerModels } from "./peer-models.ts";
import { LoopDelay, Readiness } from "./readiness.ts";
import { seldom } from "./seldom.ts";
import { serverMetrics } from "./server-metrics.ts";
import { SessionHost } from "./session-host.ts";
import { TenantHosts } from "./tenant-hosts.ts";
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
  /**
   * The address under which people reach it, if something stands in front of it: "https://agents.example". Requests may
   * come from exactly there, links lead there, and the cookie works on every node behind it.
   */
  readonly publicUrl?: string | undefined;
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
  /**
   * What happens to an open turn whose node is gone, on a store that several machines share: this node resumes it, closes
   * it as interrupted, or leaves it to a person. Default: "resume".
   */
  readonly onNodeLoss?: OnNodeLoss | undefined;
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
  newLink(): Promise<string>;
  /** Open and dropped event streams. */
  readonly counters: Readonly<StreamCounters>;
  /** The number of open connections. */
  readonly connections: number;
  /** Method and path of every route. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /**
   * Cancels running turns, waits until that is in the log, and ends every stream. On a store that several machines share,
   * turns go on for `drainMs` (default: 0) and are then left to another node.
   */
  close(options?: { readonly drainMs?: number | undefined }): Promise<void>;
}

const DEFAULT_PORT = 4319;
/** How many turns a node runs at once before it leaves those of dead nodes to others. */
const MOST_TURNS = 64;
const RELEASE_MS = 5000;
/** How often to check for connections that take too long. */
const LOOK_MS = 1000;
/**
 * Longer than a person's pause between two commands. A request sent while the server closes its connection is lost, and
 * not every request may be sent twice. Node's default of 5 s is just such a pause.
 */
const KEEP_ALIVE_MS = 60_000;
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
  const { agent, store } = options;
  const { shared } = store;
  let address = "";
  const keys = new AccessKeys({
    token: options.token,
    tenant: shared?.tenant,
    table: shared?.tokens,
    address: () => address,
  });
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
  const { host, port } = await listen(server, options, DEFAULT_PORT);

  const hosts = new TenantHosts(
    store,
    (ofTenant) =>
      new SessionHost({
        store: ofTenant,
        agentFor: typeof agent === "function" ? agent : () => agent,
        clock,
        releaseMs: options.releaseMs ?? RELEASE_MS,
        costOf: options.costOf ?? (() => undefined),
        problem,
        onNodeLoss: options.onNodeLoss ?? "resume",
      }),
  );
  const counters: StreamCounters = { open: 0, dropped: 0 };
  const url = serverUrl(host, port);
  const publicOrigin = originIn(options.publicUrl);
  address = publicOrigin?.origin ?? url;
  const newLink = async (grant: Grant): Promise<string> => linkWith(address, await keys.newCode(grant));
  const loop = new LoopDelay();
  const readiness = new Readiness(shared, loop);
  const known = new WeakMap<IncomingMessage, KnownKey>();
  const parts: ServerParts = {
    hosts,
    keys,
    // Cookies ignore ports: two servers on one machine must not overwrite each other's. Behind one name there is one.
    cookieName: publicOrigin === undefined ? `throughline_${port}` : "throughline",
    cookieRules: `Path=/; HttpOnly; SameSite=Strict${publicOrigin?.protocol === "https:" ? "; Secure" : ""}`,
    info: () => ({ name: "throughline", api: HTTP_API_VERSION, model: "", models: [], ...options.info }),
    page,
    counters,
    exportSession: options.exportSession ?? bundleExport,
    newLink,
    grantOf: (request) => {
      const grant = known.get(request)?.grant;
      if (grant === undefined) throw new TypeError("a route asks for the key of a request that needs none");
      return grant;
    },
    readiness,
    metrics: async () => [
      ...serverMetrics({ hosts, counters, connections: connections.count, loopDelayMs: loop.ms }),
      ...((await shared?.metrics()) ?? []),
    ],
    wrongKeys: new WrongKeys(clock, limits.wrongKeys, problem),
    limits,
  };
  const problemOfStore = seldom(problem, clock);
  const tell = (error: unknown): void => {
    const code = codeOf(error) ?? "";
    if (code.startsWith("store_")) problemOfStore(code, messageOf(error));
    else problem(messageOf(error));
  };
  const app = createApp(parts, tell);
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    autoCleanupIncoming: false, // it would cut off a sender after half a second; see answer-early.ts
    hostname: bracketed(host),
    errorHandler: (error) => {
      problem(messageOf(error));
      return new Response(null, { status: 400 });
    },
  });
  const rules = {
    hosts: hostNames(host, port, options.allowHosts ?? []),
    publicOrigin,
    keys,
    cookieName: parts.cookieName,
  };
  const open = new OpenRequests(keys, limits.recheckMs);
  openDoor(server, {
    connections,
    rules,
    parts,
    // The server's own token and links are never shut out by other tokens of their tenant.
    isFull: ({ grant }) => !keys.isOwn(grant) && open.of(grant.tenant) >= limits.tenantRequests,
    admitted: (request, response, key) => {
      known.set(request, key);
      open.add(response, key);
    },
    listener: (request, response) => void listener(request, response),
  });
  hosts
    .of(keys.owner.tenant)
    .recover()
    .catch((error: unknown) => tell(error));
  const claimer =
    shared?.pool === undefined
      ? undefined
      : new Claimer({
          shared,
          hostFor: (tenant) => hosts.of(tenant),
          hosts: () => hosts.all(),
          problem,
          mostTurns: MOST_TURNS,
        });
  const peers = shared && new PeerModels(shared, problem);
  return {
    url,
    port,
    token: keys.token,
    newLink: () => newLink(keys.owner),
    counters,
    get connections() {
      return connections.count;
    },
    // ALL: the checks of query parameters and limits, which run before a route.
    routes: app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => ({ method, path })),
    async close({ drainMs = 0 } = {}) {
      for (const one of [claimer, peers]) one?.stop();
      if (shared !== undefined) await Promise.all([hosts.drain(drainMs), shared.drain()]);
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      await hosts.stop();
      connections.closeWhenIdle();
      const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
      await closed;
      clearTimeout(late);
      for (const one of [open, loop]) one.stop();
    },
  };
}
