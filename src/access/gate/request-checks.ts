/**
 * Whom a request is for, and which page sent it. A web page in the user's browser and a rebound DNS name can reach any
 * port on loopback (SECURITY.md). Each check looks at the request and its rules alone, and returns why it is refused, if
 * it is.
 */

import type { IncomingMessage } from "node:http";

import { deny, type Denial } from "./denial.ts";

export interface HostRules {
  /** Exact values of the Host header: name and port, in lower case. */
  readonly hosts: ReadonlySet<string>;
  /** The origin under which people reach the server, if something stands in front of it. */
  readonly publicOrigin?: URL | undefined;
}

export interface OriginRules {
  /** As in `HostRules`. */
  readonly publicOrigin?: URL | undefined;
  /** Other origins whose pages may use the server. Exact values, as browsers send them: "http://localhost:3000". */
  readonly allowOrigins?: ReadonlySet<string> | undefined;
  /**
   * Whether an origin that no website can have may pass: that of an app or an extension, with its own scheme. Default:
   * false.
   */
  readonly allowApps?: boolean | undefined;
  /** Whether a link on any page may lead to this address. Default: false. */
  readonly allowLinks?: boolean | undefined;
}

const MAX_URL_LENGTH = 8192;

export function targetDenial({ url = "" }: IncomingMessage): Denial | undefined {
  // An absolute target names its own host, apart from the header that is checked.
  if (!url.startsWith("/") || url.startsWith("//"))
    return deny(400, "url_invalid", "the target must be a path");
  if (url.length > MAX_URL_LENGTH) return deny(414, "url_too_long", "the address is too long");
  return undefined;
}

/**
 * There must be exactly one Host, and it must be ours: a page that points its own name at 127.0.0.1 sends that name
 * (CVE-2025-66414).
 */
export function hostDenial(request: IncomingMessage, { hosts, publicOrigin }: HostRules): Denial | undefined {
  const [given, ...more] = headersNamed(request, "host");
  const host = given?.toLowerCase();
  const isOurs = host !== undefined && (hosts.has(host) || host === publicOrigin?.host);
  if (isOurs && more.length === 0) return undefined;
  return deny(
    421,
    "host_refused",
    "this server does not answer under that name. Open it at the address it printed",
  );
}

/**
 * SameSite does not help between ports: http://localhost:3000 is the same site as http://localhost:4319
 * (CVE-2026-22812). The origin must be exactly ours or one that the rules allow, and if the browser says who sends the
 * request, it must be our own page, the person, or a page of an allowed origin. What stands in front of the server may
 * keep the public name as the Host, or replace it by ours. The Host must be checked too: our origin is derived from it.
 *
 * `sec-fetch-mode: cors` alone means nothing: Node's fetch sends it, without a site and without an origin.
 */
export function originDenial(
  request: IncomingMessage,
  { publicOrigin, allowOrigins, allowApps = false, allowLinks = false }: OriginRules,
): Denial | undefined {
  const refused = deny(403, "origin_refused", "requests from other pages are refused");
  const host = request.headers.host ?? "";
  const own = host.toLowerCase() === publicOrigin?.host ? undefined : `http://${host}`;
  const isOurs = (origin: string): boolean => origin === own || origin === publicOrigin?.origin;
  const isAllowed = (origin: string): boolean => allowOrigins?.has(origin) === true;
  const mayPass = (origin: string): boolean =>
    isOurs(origin) || isAllowed(origin) || (allowApps && isApp(origin));
  const origins = headersNamed(request, "origin");
  if (!origins.every(mayPass)) return refused;
  // An allowed page is on another site, and no page can choose the origin that its browser sends.
  if (origins.length > 0 && origins.every(isAllowed)) return undefined;
  const sites = headersNamed(request, "sec-fetch-site");
  const foreign = sites.some((site) => site !== "same-origin" && site !== "none");
  if (foreign && !(allowLinks && request.headers["sec-fetch-mode"] === "navigate")) return refused;
  return undefined;
}

/** Not "null": a page of any website gets that origin in a sandboxed frame. */
function isApp(origin: string): boolean {
  return /^(?!https?:)[a-z][a-z\d+.-]*:\/\/[^\s,]*$/i.test(origin);
}

/** Returns all of them. Node keeps one of several headers and joins others, and a check must not depend on which. */
export function headersNamed({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) found.push(rawHeaders[at + 1] ?? "");
  }
  return found;
}
