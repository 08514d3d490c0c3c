/** Turns a connection problem into one coded error that says what to check. */

import { codedError, codeOf, messageOf, ThroughlineError } from "../../base/support/index.ts";

export function connectionFailure(error: unknown, url: string): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  if (isMistake(error)) return codedError("internal", messageOf(error), error);
  const host = hostOf(url);
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const errno = codeOf(cause) ?? codeOf(error) ?? "";
  if (errno === "ENOTFOUND" || errno === "EAI_AGAIN")
    return codedError("dns_failed", `cannot find the host ${host}: check the base URL`, error);
  if (errno === "ECONNREFUSED")
    return codedError("connect_refused", `${host} refused the connection: is a server running there?`, error);
  if (errno.startsWith("ERR_TLS") || errno.startsWith("ERR_SSL") || /CERT|SELF_SIGNED|EPROTO/.test(errno))
    return codedError("tls_failed", `no secure connection to ${host}: ${messageOf(cause)}`, error);
  return codedError("connection_lost", `the connection to ${host} was lost: ${messageOf(cause)}`, error);
}

/** A mistake in a program, for example in a custom `fetch`. The engines' own network errors are TypeErrors, too. */
function isMistake(error: unknown): boolean {
  if (error instanceof ReferenceError || error instanceof SyntaxError || error instanceof RangeError)
    return true;
  return error instanceof TypeError && error.cause === undefined && MISTAKE.test(error.message);
}

const MISTAKE =
  /\bis not (?:a function|a constructor|iterable|defined)\b|^Cannot (?:read|set|convert|destructure) /;

export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
