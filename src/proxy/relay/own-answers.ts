/** The few answers that are the proxy's own. They say so, and what to do. */

import type { ServerResponse } from "node:http";

import { codeOf, type ErrorCode, messageOf } from "../../base/support/index.ts";
import type { Route } from "./routes.ts";

export function answerError(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "application/json", "x-throughline-error": "1" });
  response.end(text);
}

export function answerOwn(
  response: ServerResponse,
  status: number,
  code: ErrorCode | "throughline_strict",
  message: string,
): void {
  answerError(response, status, JSON.stringify({ error: { type: "throughline_proxy", code, message } }));
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host cannot be resolved now",
  ECONNRESET: "the server closed the connection without an answer",
  ETIMEDOUT: "the server does not answer",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
};

/** The provider cannot be reached, so there is no answer of its own to pass on. */
export function upstreamFailed(
  response: ServerResponse,
  { name, url }: Pick<Route, "name" | "url">,
  error: unknown,
): void {
  const code = codeOf(error) ?? "";
  const isTls = /CERT|TLS|SSL|EPROTO|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
  const why = isTls
    ? `its certificate was not accepted (${code}). If the certificate is your own, set NODE_EXTRA_CA_CERTS`
    : (WORDS[code] ?? messageOf(error));
  answerOwn(response, 502, "upstream_unreachable", `cannot reach ${name} (${url.origin}): ${why}`);
}
