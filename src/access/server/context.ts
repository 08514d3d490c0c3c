/** The context that routes get, and small helpers they share. */

import type { IncomingMessage, ServerResponse } from "node:http";

import type { Context, Hono } from "hono";

import type { ServerInfo } from "../../base/api/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { Grant, Metric, Right, Store } from "../../runtime/log/index.ts";
import { RIGHTS } from "../../runtime/log/index.ts";
import type { AccessKeys } from "./access-keys.ts";
import type { StreamCounters } from "./event-stream.ts";
import type { ExportSession } from "./exported.ts";
import type { HostedSession } from "./hosted-session.ts";
import type { ServerLimits } from "./limits.ts";
import type { PageFile } from "./page.ts";
import { type Fields, readBody } from "./read-body.ts";
import type { Readiness } from "./readiness.ts";
import type { SessionHost } from "./session-host.ts";
import type { TenantHosts } from "./tenant-hosts.ts";
import type { WrongKeys } from "./wrong-keys.ts";

export interface ServerParts {
  readonly hosts: TenantHosts;
  readonly keys: AccessKeys;
  readonly cookieName: string;
  /** The attributes of the cookie. */
  readonly cookieRules: string;
  readonly info: () => ServerInfo;
  readonly page: ReadonlyMap<string, PageFile>;
  readonly counters: StreamCounters;
  readonly exportSession: ExportSession;
  /** Creates a link that works once. */
  readonly newLink: (grant: Grant) => Promise<string>;
  /** What the key of a request opens. */
  readonly grantOf: (request: IncomingMessage) => Grant;
  readonly readiness: Readiness;
  readonly metrics: () => Promise<readonly Metric[]>;
  readonly wrongKeys: WrongKeys;
  readonly limits: ServerLimits;
}

export interface Bindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export type App = Hono<{ Bindings: Bindings }>;
export type RouteContext = Context<{ Bindings: Bindings }>;

/** The sessions of the tenant whose key came with the request. */
export function hostOf({ hosts, grantOf }: ServerParts, c: RouteContext): SessionHost {
  return hosts.of(grantOf(c.env.incoming).tenant);
}

export function storeOf({ hosts, grantOf }: ServerParts, c: RouteContext): Store {
  return hosts.storeOf(grantOf(c.env.incoming).tenant);
}

export function hostedOf(parts: ServerParts, c: RouteContext): Promise<HostedSession> {
  return hostOf(parts, c).get(c.req.param("id") ?? "");
}

/** The gate knows only whether a request writes. A route that needs more asks for it here. */
export function assertMay({ grantOf }: ServerParts, c: RouteContext, needed: Right): Grant {
  const grant = grantOf(c.env.incoming);
  if (RIGHTS.indexOf(grant.may) >= RIGHTS.indexOf(needed)) return grant;
  throw codedError("right_missing", `this token may not do that: it needs the right ${needed}`);
}

/**
 * Refuses a missing session before reading the body. Looks it up again afterwards, because it may be released during a
 * slow upload.
 */
export async function withBody(
  parts: ServerParts,
  c: RouteContext,
): Promise<{ readonly hosted: HostedSession; readonly body: Fields }> {
  await hostedOf(parts, c);
  const body = await readBody(c.env.incoming);
  return { body, hosted: await hostedOf(parts, c) };
}

/** A whole number in the query, or undefined if absent. */
export function numberIn(c: RouteContext, name: string, least = 0): number | undefined {
  const text = c.req.query(name);
  return text === undefined ? undefined : wholeNumber(name, text, least);
}

export function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (/^-?\d{1,15}$/.test(text) && value >= least) return value;
  throw codedError("parameter_invalid", `${name} must be a whole number, ${least} or more`);
}

/** True or false in the query. */
export function flagIn(c: RouteContext, name: string, absent: boolean): boolean {
  const text = c.req.query(name);
  if (text === undefined) return absent;
  if (text === "true" || text === "false") return text === "true";
  throw codedError("parameter_invalid", `${name} must be true or false`);
}

export function textIn(c: RouteContext, name: string): string | undefined {
  const text = c.req.query(name);
  return text === undefined || text === "" ? undefined : text;
}
