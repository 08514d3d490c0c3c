/** `connect(url)`: gives access to the sessions of a server as if they were local. */

import {
  type AgentHandle,
  HTTP_API_VERSION,
  OPEN_OPTIONS,
  type OpenHandleOptions,
  type RequestSummary,
  type ServerInfo,
  type SessionHandle,
  type SessionListing,
  type SessionPage,
  type SessionState,
} from "../../base/api/index.ts";
import {
  aClock,
  aCount,
  addressProblem,
  aFunction,
  anObject,
  aText,
  checkArgument,
  checkOptions,
  type Clock,
  codedError,
  codeOf,
  type OptionChecks,
  systemClock,
} from "../../base/support/index.ts";
import { Http, queryOf } from "./http.ts";
import { RemoteSession } from "./remote-session.ts";

/** Options of `connect`. */
export interface ConnectOptions {
  /** The server's token. Not needed in the server's own page, nor with an unused link. */
  readonly token?: string | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Options of `RemoteAgent.list`. */
export interface ListSessionsOptions {
  /** How many sessions to list. Default: 50; at most 1000. */
  readonly limit?: number | undefined;
  /** Only sessions after this one: the last session of the previous page. */
  readonly before?: Pick<SessionListing, "id" | "modifiedAt"> | undefined;
  /** Case-insensitive; matches the title, id or folder. */
  readonly search?: string | undefined;
}

/** Options of `RemoteAgent.open`. */
export interface RemoteOpenOptions extends OpenHandleOptions {
  /** The model of a new session. */
  readonly model?: string | undefined;
}

/** A connection to a server: opens, lists and removes its sessions. */
export interface RemoteAgent extends AgentHandle {
  readonly server: ServerInfo;
  open(options?: RemoteOpenOptions): Promise<SessionHandle>;
  /** All sessions, newest first. */
  sessions(): AsyncIterable<SessionListing>;
  /** One page of sessions, newest first. */
  list(options?: ListSessionsOptions): Promise<readonly SessionListing[]>;
  /** The same with the number of all sessions that match. A server of an earlier version counts only this page. */
  page(options?: ListSessionsOptions): Promise<SessionPage>;
  /** The requests that a session has sent, oldest first. */
  requests(id: string): Promise<readonly RequestSummary[]>;
  /** Removes a session and everything that belongs to it. */
  remove(id: string): Promise<void>;
  /** Creates a link that grants access to one more browser. */
  newLink(): Promise<string>;
}

/**
 * Connects to a server. `address` is the server's URL or the link it printed; a link works only once.
 *
 * @example
 * ```ts
 * import { createAgent, emulator, memoryStore } from "throughline";
 * import { connect } from "throughline/client";
 * import { startServer } from "throughline/server";
 *
 * const agent = createAgent({ model: emulator() });
 * const server = await startServer({ agent, store: memoryStore(), port: 0 });
 * const remote = await connect(server.url, { token: server.token });
 * const session = await remote.open();
 * console.log(await session.send("Hello").text());
 * await session.close();
 * await server.close();
 * ```
 */
export async function connect(address: string, options: ConnectOptions = {}): Promise<RemoteAgent> {
  checkArgument("connect", "address", address, aText);
  checkOptions("connect", options, CONNECT_OPTIONS);
  const { url, code } = readAddress(address);
  const parts = {
    url,
    // Bound: a browser's fetch refuses to be called as a method of something else.
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    clock: options.clock ?? systemClock,
  };
  // A given link must work: an invalid one is an error even if there is a valid token.
  const token =
    code === undefined ? options.token : await redeem(new Http({ ...parts, token: undefined }), code);
  const http = new Http({ ...parts, token });
  const server = await http.get<ServerInfo>("/api/server");
  if (server.name !== "throughline" || server.api !== HTTP_API_VERSION) {
    throw codedError(
      "server_version",
      `${url} speaks another version of the API (${String(server.api)} instead of ${HTTP_API_VERSION}). Use the same version of Throughline on both sides`,
    );
  }
  return new Remote(http, server);
}

const CONNECT_OPTIONS = {
  token: aText,
  fetch: aFunction,
  clock: aClock,
} satisfies OptionChecks<ConnectOptions>;

const REMOTE_OPEN_OPTIONS = { ...OPEN_OPTIONS, model: aText } satisfies OptionChecks<RemoteOpenOptions>;

const LIST_OPTIONS = {
  limit: aCount(1),
  before: anObject,
  search: aText,
} satisfies OptionChecks<ListSessionsOptions>;

class Remote implements RemoteAgent {
  readonly server: ServerInfo;
  readonly #http: Http;

  constructor(http: Http, server: ServerInfo) {
    this.#http = http;
    this.server = server;
  }

  async open(options: RemoteOpenOptions = {}): Promise<SessionHandle> {
    checkOptions("open", options, REMOTE_OPEN_OPTIONS);
    const { id, model, mode } = options;
    const known = id === undefined ? undefined : await this.#state(id, mode);
    return new RemoteSession(this.#http, known ?? (await this.#create(id, model)));
  }

  async #create(id: string | undefined, model: string | undefined): Promise<SessionState> {
    try {
      return await this.#http.post<SessionState>("/api/sessions", { id, model });
    } catch (error) {
      // Another client created it first, so open that one.
      const known =
        id !== undefined && codeOf(error) === "session_exists" ? await this.#state(id, "write") : undefined;
      if (known === undefined) throw error;
      return known;
    }
  }

  async *sessions(): AsyncGenerator<SessionListing> {
    let before: SessionListing | undefined;
    for (;;) {
      const page = await this.list({ limit: PAGE, before });
      yield* page;
      if (page.length < PAGE) return;
      before = page.at(-1);
    }
  }

  async list(options: ListSessionsOptions = {}): Promise<readonly SessionListing[]> {
    checkOptions("list", options, LIST_OPTIONS);
    return (await this.page(options)).sessions;
  }

  async page(options: ListSessionsOptions = {}): Promise<SessionPage> {
    checkOptions("page", options, LIST_OPTIONS);
    const { limit, before, search } = options;
    const behind = before === undefined ? undefined : `${before.modifiedAt},${before.id}`;
    const path = `/api/sessions${queryOf({ limit, before: behind, search })}`;
    const found = await this.#http.get<Pick<SessionPage, "sessions"> & Partial<SessionPage>>(path);
    return { sessions: found.sessions, total: found.total ?? found.sessions.length };
  }

  async requests(id: string): Promise<readonly RequestSummary[]> {
    const path = `/api/sessions/${encodeURIComponent(id)}/requests`;
    return (await this.#http.get<{ readonly requests: readonly RequestSummary[] }>(path)).requests;
  }

  remove(id: string): Promise<void> {
    return this.#http.delete(`/api/sessions/${encodeURIComponent(id)}`);
  }

  async newLink(): Promise<string> {
    return (await this.#http.post<{ readonly link: string }>("/api/links")).link;
  }

  /** As with a local agent, a missing session is created unless it is opened to read. */
  async #state(id: string, mode: "write" | "read" | undefined): Promise<SessionState | undefined> {
    try {
      return await this.#http.get<SessionState>(`/api/sessions/${encodeURIComponent(id)}`);
    } catch (error) {
      if (codeOf(error) === "session_not_found" && mode !== "read") return undefined;
      throw error;
    }
  }
}

const PAGE = 200;

function readAddress(address: string): { readonly url: string; readonly code: string | undefined } {
  let url: URL | undefined;
  try {
    url = new URL(address);
  } catch {
    // Reported below. URL.canParse is missing in some browsers.
  }
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw codedError(
      "server_url_invalid",
      "that is not the address of a server. It should look like http://127.0.0.1:4319",
    );
  }
  const code = url.pathname === "/login" ? url.searchParams.get("code") : null;
  // The link that the server prints has its code in the query, and nothing else.
  const problem = addressProblem(code === null ? address : `${url.origin}/login`);
  if (problem !== undefined || url.username !== "" || url.password !== "" || url.hash !== "") {
    throw codedError(
      "server_url_invalid",
      `the address of the server ${problem ?? "has more parts than a server's link"}. Give only its URL or the link it printed, and the token in THROUGHLINE_TOKEN or as \`token\``,
    );
  }
  return { url: url.origin, code: code ?? undefined };
}

async function redeem(http: Http, code: string): Promise<string> {
  return (await http.post<{ readonly token: string }>("/api/login", { code })).token;
}
