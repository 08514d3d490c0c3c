/**
 * The headers whose values may be recorded. It is an allow-list, because an unknown header may contain a key. Of all other
 * headers only the names are kept.
 */

const REQUEST: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "anthropic-beta",
  "anthropic-version",
  "content-length",
  "content-type",
  "openai-beta",
  "user-agent",
]);

const RESPONSE: ReadonlySet<string> = new Set([
  "cf-ray",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "location",
  "openai-processing-ms",
  "openai-version",
  "request-id",
  "retry-after",
  "retry-after-ms",
  "server",
  "x-request-id",
  "x-should-retry",
]);

const RATE_LIMIT = /^(?:x|anthropic)-ratelimit-[a-z-]+$/;

/** Their values describe a protocol version and are never a credential. */
const QUERY: ReadonlySet<string> = new Set(["api-version", "beta"]);

export function publicRequestHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return only(headers, (name) => REQUEST.has(name));
}

export function publicResponseHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return only(headers, (name) => RESPONSE.has(name) || RATE_LIMIT.test(name));
}

function only(
  headers: Readonly<Record<string, string>>,
  allowed: (name: string) => boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const lower = name.toLowerCase();
      return [lower, allowed(lower) ? value : "[redacted]"];
    }),
  );
}

/** Removes user name and password. Parameters keep their names, and their values only if these are known to be public. */
export function publicUrl(text: string): URL {
  const url = new URL(text);
  url.username = "";
  url.password = "";
  url.hash = "";
  for (const name of new Set(url.searchParams.keys())) {
    if (!QUERY.has(name)) url.searchParams.set(name, "redacted");
  }
  return url;
}
