/**
 * Requests to authorization servers, whose addresses an MCP server chose. They are encrypted or stay on this machine,
 * and an answer has a limit in size and time. No redirect is followed here: the SDK follows those that stay within
 * their origin, one request each.
 */

import {
  type Clock,
  codedError,
  inertLine,
  onAbort,
  type ThroughlineError,
} from "../../../base/support/index.ts";

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface BoundedFetchOptions {
  /** Only a server on this machine may name other addresses on this machine. */
  readonly server: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

export interface BoundedFetch {
  readonly fetch: Fetch;
  /** The first request that failed or went over a limit. The SDK takes some of these for "no such document". */
  readonly problem: () => ThroughlineError | undefined;
}

export const MAX_ANSWER_BYTES = 1024 * 1024;
export const MAX_ANSWER_MS = 30_000;

export function boundedFetch({ server, fetch, clock, signal }: BoundedFetchOptions): BoundedFetch {
  let problem: ThroughlineError | undefined;
  const fail = (message: string, cause?: unknown): ThroughlineError => {
    const error = codedError("mcp_login_failed", message, cause);
    problem ??= error;
    return error;
  };
  return {
    problem: () => problem,
    async fetch(address, init) {
      const url = new URL(address);
      const refused = addressRefused(url, server);
      if (refused !== undefined) throw fail(refused);
      const cut = new AbortController();
      const done = new AbortController();
      const timedOut = fail.bind(
        undefined,
        `${shownHost(url)} did not answer within ${MAX_ANSWER_MS / 1000} s`,
      );
      clock.sleep(MAX_ANSWER_MS, done.signal).then(
        () => cut.abort("time"),
        () => undefined,
      );
      const forget = signal && onAbort(signal, () => cut.abort("stopped"));
      if (signal?.aborted === true) cut.abort("stopped");
      try {
        const response = await fetch(url, { ...init, redirect: "manual", signal: cut.signal });
        const body = await wholeBody(response, cut.signal);
        if (body === "too large")
          throw fail(`${shownHost(url)} answered with more than ${MAX_ANSWER_BYTES} bytes`);
        const { status, statusText, headers } = response;
        return new Response(hasBody(status) ? body : null, { status, statusText, headers: plain(headers) });
      } catch (error) {
        if (problem === error) throw error;
        if (cut.signal.aborted && cut.signal.reason === "time") throw timedOut();
        if (cut.signal.aborted) throw codedError("stopped", "stopped");
        throw fail(`${shownHost(url)} cannot be reached: ${reasonOf(error)}`, error);
      } finally {
        done.abort();
        forget?.();
      }
    },
  };
}

/** Why a request may not go to this address, if it may not. */
export function addressRefused(url: URL, server: string): string | undefined {
  const shown = shownHost(url);
  if (url.username !== "" || url.password !== "")
    return `the address of ${shown} holds a user name or password`;
  const local = isLoopback(url);
  if (local && !isLoopback(new URL(server)))
    return `the MCP server is elsewhere, and names an address on this machine (${shown})`;
  if (url.protocol === "https:" || (url.protocol === "http:" && local)) return undefined;
  return `${shown} is not an https address`;
}

export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

/** Scheme and host only: a path or a query may hold a secret. */
export function shownHost(url: URL): string {
  return inertLine(`${url.protocol}//${url.host}`, 120);
}

async function wholeBody(
  response: Response,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | "too large"> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) return Uint8Array.from(Buffer.concat(parts));
      size += value.length;
      if (size > MAX_ANSWER_BYTES) return "too large";
      parts.push(value);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304 && status >= 200;
}

/** The body was decoded, so its encoding and length are no longer those of the headers. */
function plain(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-encoding");
  copy.delete("content-length");
  return copy;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return inertLine(cause instanceof Error ? cause.message : String(cause), 200);
}
