/**
 * The checks every request passes before a route sees it. A web page in the user's browser, a rebound DNS name and
 * another local user can all reach a port on loopback (SECURITY.md); none of them gets past this file. Every server of
 * ours checks target, Host and Origin (access/gate); methods, keys and content are checked here.
 */

import type { IncomingMessage } from "node:http";

import type { Grant } from "../../runtime/log/index.ts";
import {
  type Denial,
  deny,
  headersNamed,
  hostDenial,
  type HostRules,
  originDenial,
  targetDenial,
} from "../gate/index.ts";
import type { AccessKeys } from "./access-keys.ts";

export interface KeyDenial extends Denial {
  /** The request carried a key, and it was wrong. */
  readonly wrongKey?: true;
}

/** What becomes of a request. Without a denial it may pass, and with a grant its sender is known. */
export interface Verdict {
  readonly denial?: KeyDenial | undefined;
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
  message:
    "too many wrong keys. Open a new link (throughline serve --link prints one), or use the right token",
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

export interface GateRules extends HostRules {
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

/** A promise only if the key has to be looked up. It rejects if the look-up fails. */
export function judge(request: IncomingMessage, rules: GateRules): Verdict | Promise<Verdict> {
  const { publicOrigin } = rules;
  const denial =
    methodDenial(request) ??
    targetDenial(request) ??
    (isProbe(request) ? undefined : hostDenial(request, rules)) ??
    // A link clicked in a terminal that is itself a web page is a cross-site navigation; its code is the proof.
    originDenial(request, { publicOrigin, allowLinks: isLogin(request) });
  if (denial !== undefined) return { denial };
  if (isOpen(request)) return { denial: contentDenial(request) };
  const [authorization, ...more] = headersNamed(request, "authorization");
  if (authorization === undefined) return judgeCookie(request, rules);
  const bearer = more.length === 0 ? /^Bearer ([^\s]+)$/i.exec(authorization)?.[1] : undefined;
  return bearer === undefined
    ? { denial: WRONG_KEY }
    : judgeKey(request, rules, { given: bearer, as: "token" });
}

function methodDenial({ method = "" }: IncomingMessage): Denial | undefined {
  return METHODS.has(method) ? undefined : deny(405, "method_not_allowed", "use GET, POST or DELETE");
}

const NO_KEY: Denial = deny(
  401,
  "unauthorized",
  "you are not logged in to this server, or no longer. In a browser, open a new link: throughline serve --link prints one. A program sends the server's token",
);
const WRONG_KEY: KeyDenial = { ...NO_KEY, wrongKey: true };

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
    ? deny(403, "right_missing", "this token may only read. Use one that may write")
    : undefined;
}

/** A browser sends its cookie automatically, so a request that changes something must also name its origin. */
function cookieDenial(request: IncomingMessage, as: KnownKey["as"]): Denial | undefined {
  return as === "cookie" && isWrite(request) && headersNamed(request, "origin").length !== 1
    ? deny(403, "origin_refused", "a request that changes something must name its origin")
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
    return hasBody ? deny(400, "body_unexpected", "a GET request must not have a body") : undefined;
  }
  const types = headersNamed(request, "content-type");
  const [type = ""] = types;
  if (types.length !== 1 || !/^application\/json\s*(?:;\s*charset=utf-8\s*)?$/i.test(type))
    return deny(415, "content_type", "send application/json");
  if (headersNamed(request, "content-encoding").some((encoding) => encoding !== "identity"))
    return deny(415, "content_encoding", "send the body uncompressed");
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

function cookiesNamed(request: IncomingMessage, name: string): readonly string[] {
  return headersNamed(request, "cookie")
    .flatMap((header) => header.split(";"))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
