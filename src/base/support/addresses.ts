/**
 * Base URLs hold no secrets: every log contains them as part of the origin. A key belongs in a header, from an option
 * or a variable. So an address that could hold one is refused and never repeated in a message.
 */

import { hexHash } from "./short-hash.ts";

/** A user name or a password before the host. One that a parser drops (`http://@host`) counts too. */
const USER = /^[a-z][a-z\d+.-]*:[/\\]*[^/\\?#]*@/i;

/** Returns what is wrong with a base URL, as the end of a sentence, or undefined. */
export function addressProblem(text: string): string | undefined {
  const url = parsed(text);
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    return hostProblem(text) ?? "is not an http or https URL";
  if (url.username !== "" || url.password !== "" || USER.test(text)) return "holds a user name or password";
  if (url.search !== "" || text.includes("?")) return "holds a query (the part from ? on)";
  if (url.hash !== "" || text.includes("#")) return "holds a fragment (the part from # on)";
  return undefined;
}

/** What is wrong with the host or the port of an http address that does not parse. Repeats nothing but a port. */
function hostProblem(text: string): string | undefined {
  const authority = /^https?:\/\/([^/\\?#@]+)(?=[/\\?#]|$)/i.exec(text)?.[1];
  if (authority === undefined) return undefined;
  const port = /:(\d{5,6})$/.exec(authority)?.[1];
  return port === undefined
    ? "has an invalid host or port"
    : `has the port ${port}, but the highest is 65535`;
}

/**
 * An address without possible secrets. Earlier versions accepted a key in a base URL and wrote it into the log.
 * Addresses that differed still differ, so items made at one are never sent to the other. The mark tells them apart and
 * is too short to recover a key from.
 */
export function publicAddress(text: string): string {
  const query = text.search(/[?#]/);
  const bare = query === -1 ? text : text.slice(0, query);
  const user = USER.exec(bare)?.[0];
  if (query === -1 && user === undefined) return text;
  const scheme = /^[a-z][a-z\d+.-]*:[/\\]*/i.exec(bare)?.[0] ?? "";
  const shown = user === undefined ? bare : scheme + bare.slice(user.length);
  return `${shown}?redacted-${hexHash(text, 4)}`;
}

/** The values in an address that may be secrets. */
export function secretsInAddress(text: string): readonly string[] {
  const url = parsed(text);
  if (url === undefined) return [];
  const query = Array.from(url.searchParams, ([name, value]) => (value === "" ? name : value));
  const values = [...query, url.username, url.password, url.hash.slice(1)];
  return [...new Set([...values, ...values.map(encodeURIComponent)])].filter((value) => value !== "");
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined; // URL.canParse is missing in some browsers.
  }
}
