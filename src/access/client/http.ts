/**
 * Requests to a Throughline server. An unsuccessful answer becomes a `ThroughlineError` with the server's code and
 * message; so does a server that cannot be reached (`server_unreachable`).
 */

import {
  asErrorCode,
  type Clock,
  codedError,
  codeOf,
  messageOf,
  objectOf,
  stringOf,
  ThroughlineError,
  tryParseJson,
} from "../../base/support/index.ts";

export interface HttpParts {
  /** Without a trailing slash. */
  readonly url: string;
  /** Undefined in a browser, which uses its cookie. */
  readonly token: string | undefined;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

interface JsonRequest {
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
  readonly again?: boolean;
  /** Once it aborts, the request is not tried again. One that is under way is left alone: the server may have it. */
  readonly givenUp?: AbortSignal | undefined;
}

const TRIES = 5;
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 5000;

/** Waits longer after each failure, up to a limit. */
export function waitBefore(attempt: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), MAX_WAIT_MS);
}

/** Builds a query string from the defined values. */
export function queryOf(given: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

export class Http {
  readonly #parts: HttpParts;

  constructor(parts: HttpParts) {
    this.#parts = parts;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** Safe to repeat, so it is retried while no server answers. */
  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return (await this.#json("GET", path, { signal, again: true })) as T;
  }

  /** `again` allows a retry: the server recognizes the request by an id of ours. */
  async post<T>(
    path: string,
    body: object = {},
    options: Pick<JsonRequest, "again" | "givenUp"> = {},
  ): Promise<T> {
    return (await this.#json("POST", path, { ...options, body })) as T;
  }

  async delete(path: string): Promise<void> {
    await this.#json("DELETE", path, {});
  }

  /** The response itself, for streams and bytes. */
  async open(path: string, accept: string, signal?: AbortSignal): Promise<Response> {
    return this.#request("GET", path, { headers: { accept }, signal: signal ?? null });
  }

  async #json(method: string, path: string, request: JsonRequest): Promise<unknown> {
    const { body, signal, again, givenUp } = request;
    const init: RequestInit = {
      headers: method === "GET" ? {} : { "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return tryParseJson(await (await this.#request(method, path, init)).text());
      } catch (error) {
        if (!isAway(error) || again !== true || attempt >= TRIES || signal?.aborted === true) throw error;
        await this.clock.sleep(waitBefore(attempt), signal);
        if (givenUp?.aborted === true) throw error;
      }
    }
  }

  async #request(method: string, path: string, init: RequestInit): Promise<Response> {
    const { url, token } = this.#parts;
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    let response: Response;
    try {
      // A redirect could carry the token elsewhere; a Throughline server never sends one.
      response = await this.#parts.fetch(`${url}${path}`, { ...init, method, headers, redirect: "error" });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      const reason = reasonOf(error);
      throw reason === BAD_PORT
        ? codedError("server_url_invalid", `${url} ${BAD_PORT_HELP}`, error)
        : codedError("server_unreachable", `${url} does not answer: ${reason}`, error);
    }
    if (response.ok) return response;
    throw await errorFrom(response, url);
  }
}

/** Node's fetch says only "fetch failed"; the cause has the reason. */
function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const plain = PLAIN_REASONS[codeOf(cause) ?? ""];
  if (plain !== undefined) return plain;
  return cause instanceof Error && cause.message !== "" ? cause.message : messageOf(error);
}

const PLAIN_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "it refused the connection. Is a server running there? Start one with throughline serve",
  ENOTFOUND: "there is no host of this name",
  EAI_AGAIN: "the name of the host could not be looked up",
  ECONNRESET: "it closed the connection",
};

/** Ports of other services, which `fetch` refuses to use (https://fetch.spec.whatwg.org/#bad-port). */
const BAD_PORT = "bad port";
const BAD_PORT_HELP =
  "uses a port that is reserved for another service, so browsers and clients refuse to connect to it. Check the port; Throughline servers use 4319 by default";

async function errorFrom(response: Response, url: string): Promise<ThroughlineError> {
  const body = tryParseJson(await response.text().catch(() => ""));
  const error = objectOf(objectOf(body)["error"]);
  const { status } = response;
  const code = stringOf(error["code"]);
  return new ThroughlineError({
    code: asErrorCode(code, code === undefined ? "not_a_server" : "server_error"),
    message: stringOf(error["message"]) ?? `${url} answered ${status}, but not like a Throughline server`,
    details: { status, code },
  });
}

/** Nobody answers, or one node of several is stopping or has lost its database: the next may answer. */
export function isAway(error: unknown): boolean {
  return codeOf(error) === "server_unreachable" || AWAY.has(statusOf(error) ?? 0);
}

/** A balancer answers 502 and 504 for a node that is gone. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

export function statusOf(error: unknown): number | undefined {
  const status = error instanceof ThroughlineError ? error.details["status"] : undefined;
  return typeof status === "number" ? status : undefined;
}
