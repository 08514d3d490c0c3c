/**
 * The checks every request passes before a route sees it. A web page in the user's browser, a rebound DNS name and
 * another local user can all reach a port on loopback (SECURITY.md); none of them gets past this file.
 */

import type { IncomingMessage } from "node:http";

import type { ErrorCode } from "../../base/support/index.ts";
import type { Grant } from "../../runtime/log/index.ts";
import type { AccessKeys } from "./access-keys.ts";

export interface Denial {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** The request carried a key, and it was wrong. */
  readonly wrongKey?: true;
}

/** What becomes of a request. Without a denial it may pass, and with a grant its sender is known. */
export interface Verdict {
  readonly denial?: Denial | undefined;
  readonly key?: KnownKey | undefined;
}

/** The key that a request carried, and what it opens. */
export interface KnownKey {
  readonly given: string;
  readonly as: "token" | "cookie";
  readonly grant: Grant;
}

/** Replaces the refusal of a wrong key when there were too many. */
export const TOO_MANY_WRONG_KEYS: Denial = {
  status: 429,
  code: "too_many_wrong_keys",
  message: "too many wrong keys. Open the link the server printed, or use the right token",
};

/** One tenant must not use up what all of them share. */
export const TOO_MANY_REQUESTS: Denial = {
  status: 429,
  code: "too_many_requests",
  message: "this tenant has too many open requests and streams on this server. Close some of them",
};

/** The key is of a table that cannot be read right now. */
export const STORE_AWAY: Denial = {
  status: 503,
  code: "store_unreachable",
  message:
    "the server cannot reach its database right now, so it cannot check the token. Try again in a moment",
};

export interface GateRules {
  /** Exact values of the Host header: name and port. */
  readonly hosts: ReadonlySet<string>;
  /** The origin under which people reach the server, if something stands in front of it. */
  readonly publicOrigin: URL | undefined;
  readonly keys: AccessKeys;
  readonly cookieName: string;
}

/** Addresses that need no token: they accept a code that works once. */
export const LOGIN_PATH = "/login";
export const LOGIN_API_PATH = "/api/login";
/** Addresses that need no token: they show nothing. A balancer asks them under any name. */
export const HEALTH_PATH = "/healthz";
export const READY_PATH = "/readyz";

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "DELETE"]);
const MAX_URL_LENGTH = 8192;

/** A promise only if the key has to be looked up. It rejects if the look-up fails. */
export function judge(request: IncomingMessage, rules: GateRules): Verdict | Promise<Verdict> {
  const denial =
    targetDenial(request) ??
    (isProbe(request) ? undefined : hostDenial(request, rules)) ??
    originDenial(request, rules);
  if (denial !== undefined) return { denial };
  if (isOpen(request)) return { denial: contentDenial(request) };
  const [authorization, ...more] = headersNamed(request, "authorization");
  if (authorization === undefined) return judgeCookie(request, rules);
  const bearer = more.length === 0 ? /^Bearer ([^\s]+)$/i.exec(authorization)?.[1] : undefined;
  return bearer === undefined
    ? { denial: WRONG_KEY }
    : judgeKey(request, rules, { given: bearer, as: "token" });
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
function hostDenial(request: IncomingMessage, { hosts, publicOrigin }: GateRules): Denial | undefined {
  const [given, ...more] = headersNamed(request, "host");
  const host = given?.toLowerCase();
  const isOurs = host !== undefined && (hosts.has(host) || host === publicOrigin?.host);
  if (isOurs && more.length === 0) return undefined;
  return refuse(
    421,
    "host_refused",
    "this server does not answer under that name. Open it at the address it printed",
  );
}

/**
 * SameSite does not help between ports: http://localhost:3000 is the same site as http://localhost:4319
 * (CVE-2026-22812). The origin must be exactly ours, and if the browser says who sends the request, it must be our own
 * page or the person. What stands in front of the server may keep the public name as the Host, or replace it by ours.
 */
function originDenial(request: IncomingMessage, { publicOrigin }: GateRules): Denial | undefined {
  const refused = refuse(403, "origin_refused", "requests from other pages are refused");
  const host = request.headers.host ?? "";
  const own = host.toLowerCase() === publicOrigin?.host ? undefined : `http://${host}`;
  const isOurs = (origin: string): boolean => origin === own || origin === publicOrigin?.origin;
  if (!headersNamed(request, "origin").every(isOurs)) return refused;
  const sites = headersNamed(request, "sec-fetch-site");
  const foreign = sites.some((site) => site !== "same-origin" && site !== "none");
  // A link clicked in a terminal that is itself a web page is a cross-site navigation; its code is the proof.
  if (foreign && !(isLogin(request) && request.headers["sec-fetch-mode"] === "navigate")) return refused;
  return undefined;
}

const NO_KEY: Denial = refuse(
  401,
  "unauthorized",
  "a token is required. Open the link the server printed, or send authorization: Bearer TOKEN",
);
const WRONG_KEY: Denial = { ...NO_KEY, wrongKey: true };

function judgeCookie(request: IncomingMessage, rules: GateRules): Verdict | Promise<Verdict> {
  const [given, ...more] = cookiesNamed(request, rules.cookieName);
  if (given === undefined) return { denial: NO_KEY };
  return more.length > 0 ? { denial: WRONG_KEY } : judgeKey(request, rules, { given, as: "cookie" });
}

function judgeKey(
  request: IncomingMessage,
  { keys }: GateRules,
  { given, as }: Pick<KnownKey, "given" | "as">,
): Verdict | Promise<Verdict> {
  const verdict = (grant: Grant | undefined): Verdict =>
    grant === undefined
      ? { denial: WRONG_KEY }
      : {
          denial: rightDenial(request, grant) ?? cookieDenial(request, as) ?? contentDenial(request),
          key: { given, as, grant },
        };
  const found = as === "token" ? keys.ofToken(given) : keys.ofCookie(given);
  return found instanceof Promise ? found.then(verdict) : verdict(found);
}

/** By the method alone: the router may read a path in another way than this file. Routes ask for `admin` themselves. */
function rightDenial(request: IncomingMessage, { may }: Grant): Denial | undefined {
  return may === "read" && isWrite(request)
    ? refuse(403, "right_missing", "this token may only read. Use one that may write")
    : undefined;
}

/** A browser sends its cookie automatically, so a request that changes something must also name its origin. */
function cookieDenial(request: IncomingMessage, as: KnownKey["as"]): Denial | undefined {
  return as === "cookie" && isWrite(request) && headersNamed(request, "origin").length !== 1
    ? refuse(403, "origin_refused", "a request that changes something must name its origin")
    : undefined;
}

/** Whether the browser already has access. */
export async function hasCookie(request: IncomingMessage, keys: AccessKeys, name: string): Promise<boolean> {
  const [given, ...more] = cookiesNamed(request, name);
  return given !== undefined && more.length === 0 && (await keys.ofCookie(given)) !== undefined;
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

/** Requests that bring a code, which is checked later. */
function isLogin(request: IncomingMessage): boolean {
  const { method } = request;
  const path = pathOf(request);
  return (method === "GET" && path === LOGIN_PATH) || (method === "POST" && path === LOGIN_API_PATH);
}

function isProbe(request: IncomingMessage): boolean {
  const path = pathOf(request);
  return !isWrite(request) && (path === HEALTH_PATH || path === READY_PATH);
}

/** Requests that need no key. */
export function isOpen(request: IncomingMessage): boolean {
  return isLogin(request) || isProbe(request);
}

/** As it was sent: an address that only means an open one once it is decoded needs a key. */
function pathOf({ url = "" }: IncomingMessage): string | undefined {
  return url.split("?", 1)[0];
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
