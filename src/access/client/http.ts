/**
 * Requests to a server of ours. An answer that is not a success is a `ThroughlineError` with the server's code and words;
 * a server that cannot be reached is one too (`server_unreachable`).
 */

import {
  type Clock,
  isObject,
  messageOf,
  objectOf,
  stringOf,
  ThroughlineError,
  tryParseJson,
  codedError,
} from "../../base/support/index.ts";

export interface HttpParts {
  /** Without a slash at the end. */
  readonly url: string;
  /** None in a browser: its cookie says who it is. */
  readonly token: string | undefined;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

const TRIES = 5;
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 5000;

/** Waits longer after each failure, within a bound. */
export function waitBefore(attempt: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), MAX_WAIT_MS);
}

export class Http {
  readonly #parts: HttpParts;

  constructor(parts: HttpParts) {
    this.#parts = parts;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** Asking twice changes nothing, so a lost connection is tried again. */
  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return (await this.#json("GET", path, undefined, signal, true)) as T;
  }

  /** `again`: the request may be sent twice, because the server knows it by an id of ours. */
  async post<T>(path: string, body: object = {}, options: { readonly again?: boolean } = {}): Promise<T> {
    return (await this.#json("POST", path, body, undefined, options.again === true)) as T;
  }

  async delete(path: string): Promise<void> {
    await this.#json("DELETE", path, undefined, undefined, false);
  }

  /** The response itself, for streams and bytes. */
  async open(
    path: string,
    options: { readonly accept: string; readonly signal?: AbortSignal | undefined },
  ): Promise<Response> {
    const { accept, signal } = options;
    return this.#request("GET", path, { headers: { accept }, signal: signal ?? null });
  }

  async #json(
    method: string,
    path: string,
    body: object | undefined,
    signal: AbortSignal | undefined,
    again: boolean,
  ): Promise<unknown> {
    const init: RequestInit = {
      ...(method === "GET" ? {} : { headers: { "content-type": "application/json" } }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return tryParseJson(await (await this.#request(method, path, init)).text());
      } catch (error) {
        const lost = error instanceof ThroughlineError && error.code === "server_unreachable";
        if (!lost || !again || attempt >= TRIES || signal?.aborted === true) throw error;
        await this.clock.sleep(waitBefore(attempt), signal);
      }
    }
  }

  async #request(method: string, path: string, init: RequestInit): Promise<Response> {
    const { url, token } = this.#parts;
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    let response: Response;
    try {
      // A redirect could carry the token elsewhere; ours never sends one.
      response = await this.#parts.fetch(`${url}${path}`, { ...init, method, headers, redirect: "error" });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      if (reasonOf(error) === BAD_PORT) throw forbiddenPort(url, error);
      throw codedError("server_unreachable", `${url} does not answer: ${reasonOf(error)}`, error);
    }
    if (response.ok) return response;
    throw await errorFrom(response, url);
  }
}

/** Node's fetch says only "fetch failed"; what happened is in the cause. */
function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message !== "" ? cause.message : messageOf(error);
}

/** Ports of other services, which `fetch` asks nobody at (https://fetch.spec.whatwg.org/#bad-port). */
const BAD_PORT = "bad port";

function forbiddenPort(url: string, cause: unknown): ThroughlineError {
  return codedError(
    "server_url_invalid",
    `${url} has a port that is kept for another service, and no browser or client asks there: is it mistyped? Servers of Throughline use 4319 unless told otherwise`,
    cause,
  );
}

async function errorFrom(response: Response, url: string): Promise<ThroughlineError> {
  const body = tryParseJson(await response.text().catch(() => ""));
  const error = objectOf(isObject(body) ? body["error"] : undefined);
  const { status } = response;
  return new ThroughlineError({
    code: stringOf(error["code"]) ?? "not_a_server",
    message: stringOf(error["message"]) ?? `${url} answered ${status}, and not as a Throughline server does`,
    details: { status },
  });
}

export function statusOf(error: unknown): number | undefined {
  const status = error instanceof ThroughlineError ? error.details["status"] : undefined;
  return typeof status === "number" ? status : undefined;
}
