/**
 * The checks every request passes before a route sees it. A web page in the user's browser, a rebound DNS name and
 * another local user can all reach a port on loopback (SECURITY.md); none of them gets past this file.
 */

import type { IncomingMessage } from "node:http";

import type { ErrorCode } from "../../base/support/index.ts";
import type { AccessKeys } from "./access-keys.ts";

export interface Denial {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** The request carried a key, and it was wrong. */
  readonly wrongKey?: true;
}

/** Replaces the refusal of a wrong key when there were too many. */
export const TOO_MANY_WRONG_KEYS: Denial = {
  status: 429,
  code: "too_many_wrong_keys",
  message: "too many wrong keys. Open the link the server printed, or use the right token",
};

export interface GateRules {
  /** Exact values of the Host header: name and port. */
  readonly hosts: ReadonlySet<string>;
  readonly keys: AccessKeys;
  readonly cookieName: string;
}

/** The only addresses that need no token: they accept a code that works once. */
export const LOGIN_PATH = "/login";
export const LOGIN_API_PATH = "/api/login";

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "DELETE"]);
const MAX_URL_LENGTH = 8192;

export function denialOf(request: IncomingMessage, rules: GateRules): Denial | undefined {
  return (
    targetDenial(request) ??
    hostDenial(request, rules) ??
    originDenial(request) ??
    authDenial(request, rules) ??
    contentDenial(request)
  );
}

function targetDenial({ method = "", url = "" }: IncomingMessage): Denial | undefined {
  if (!METHODS.has(method)) return refuse(405, "method_not_allowed", "use GET, POST or DELETE");
  // An absolute target names its own host, apart from the header that is checked.
  if (!url.startsWith("/") || url.startsWith("//"))
    return refuse(400, "url_invalid", "the target must be a path");
  if (url.length > MAX_URL_LENGTH) return refuse(414, "url_too_long", "the address is too long");
  return undefined;
}

/**
 * There must be exactly one Host, and it must be ours: a page that points its own name at 127.0.0.1 sends that name
 * (CVE-2025-66414).
 */
function hostDenial(request: IncomingMessage, { hosts }: GateRules): Denial | undefined {
  const [host, ...more] = headersNamed(request, "host");
  if (host !== undefined && more.length === 0 && hosts.has(host.toLowerCase())) return undefined;
  return refuse(
    421,
    "host_refused",
    "this server does not answer under that name. Open it at the address it printed",
  );
}

/**
 * SameSite does not help between ports: http://localhost:3000 is the same site as http://localhost:4319
 * (CVE-2026-22812). The origin must be exactly ours, and if the browser says who sends the request, it must be our own
 * page or the person.
 */
function originDenial(request: IncomingMessage): Denial | undefined {
  const refused = refuse(403, "origin_refused", "requests from other pages are refused");
  const origins = headersNamed(request, "origin");
  if (origins.some((origin) => origin !== `http://${request.headers.host ?? ""}`)) return refused;
  const sites = headersNamed(request, "sec-fetch-site");
  const foreign = sites.some((site) => site !== "same-origin" && site !== "none");
  // A link clicked in a terminal that is itself a web page is a cross-site navigation; its code is the proof.
  if (foreign && !(isLogin(request) && request.headers["sec-fetch-mode"] === "navigate")) return refused;
  return undefined;
}

function authDenial(request: IncomingMessage, { keys, cookieName }: GateRules): Denial | undefined {
  if (isLogin(request)) return undefined;
  const refused = refuse(
    401,
    "unauthorized",
    "a token is required. Open the link the server printed, or send authorization: Bearer TOKEN",
  );
  const [authorization, ...more] = headersNamed(request, "authorization");
  if (authorization !== undefined) {
    const bearer = more.length === 0 ? /^Bearer ([^\s]+)$/i.exec(authorization)?.[1] : undefined;
    return bearer !== undefined && keys.isToken(bearer) ? undefined : { ...refused, wrongKey: true };
  }
  if (!hasCookie(request, keys, cookieName))
    return cookiesNamed(request, cookieName).length === 0 ? refused : { ...refused, wrongKey: true };
  // A browser sends its cookie automatically, so a request that changes something must also name its origin.
  if (isWrite(request) && headersNamed(request, "origin").length !== 1)
    return refuse(403, "origin_refused", "a request that changes something must name its origin");
  return undefined;
}

/** Whether the browser already has access. */
export function hasCookie(request: IncomingMessage, keys: AccessKeys, name: string): boolean {
  const cookies = cookiesNamed(request, name);
  return cookies.length === 1 && cookies.every((cookie) => keys.isCookie(cookie));
}

/** Refuses anything a plain form can send: a form needs no permission from the browser to reach other sites. */
function contentDenial(request: IncomingMessage): Denial | undefined {
  if (!isWrite(request)) {
    const hasBody =
      request.headers["transfer-encoding"] !== undefined ||
      Number(request.headers["content-length"] ?? 0) > 0;
    return hasBody ? refuse(400, "body_unexpected", "a GET request must not have a body") : undefined;
  }
  const types = headersNamed(request, "content-type");
  const [type = ""] = types;
  if (types.length !== 1 || !/^application\/json\s*(?:;\s*charset=utf-8\s*)?$/i.test(type))
    return refuse(415, "content_type", "send application/json");
  if (headersNamed(request, "content-encoding").some((encoding) => encoding !== "identity"))
    return refuse(415, "content_encoding", "send the body uncompressed");
  return undefined;
}

function isWrite({ method }: IncomingMessage): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** Requests that need no key: they bring a code that is checked later. */
export function isLogin({ method, url = "" }: IncomingMessage): boolean {
  const path = url.split("?", 1)[0];
  return (method === "GET" && path === LOGIN_PATH) || (method === "POST" && path === LOGIN_API_PATH);
}

/** Returns all of them. Node keeps one of several headers and joins others, and a check must not depend on which. */
function headersNamed({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) found.push(rawHeaders[at + 1] ?? "");
  }
  return found;
}

function cookiesNamed(request: IncomingMessage, name: string): readonly string[] {
  return headersNamed(request, "cookie")
    .flatMap((header) => header.split(";"))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

function refuse(status: number, code: ErrorCode, message: string): Denial {
  return { status, code, message };
}
