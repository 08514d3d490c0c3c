/** The context that routes get, and small helpers they share. */

import type { IncomingMessage, ServerResponse } from "node:http";

import type { Context, Hono } from "hono";

import type { ServerInfo } from "../../base/api/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { AccessKeys } from "./access-keys.ts";
import type { StreamCounters } from "./event-stream.ts";
import type { ExportSession } from "./exported.ts";
import type { HostedSession } from "./hosted-session.ts";
import type { ServerLimits } from "./limits.ts";
import type { PageFile } from "./page.ts";
import { type Fields, readBody } from "./read-body.ts";
import type { SessionHost } from "./session-host.ts";
import type { WrongKeys } from "./wrong-keys.ts";

export interface ServerParts {
  readonly host: SessionHost;
  readonly keys: AccessKeys;
  readonly cookieName: string;
  readonly info: () => ServerInfo;
  readonly page: ReadonlyMap<string, PageFile>;
  readonly counters: StreamCounters;
  readonly exportSession: ExportSession;
  /** Creates a link that works once. */
  readonly newLink: () => string;
  readonly wrongKeys: WrongKeys;
  readonly limits: ServerLimits;
}

export interface Bindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export type App = Hono<{ Bindings: Bindings }>;
export type RouteContext = Context<{ Bindings: Bindings }>;

export function hostedOf(parts: ServerParts, c: RouteContext): Promise<HostedSession> {
  return parts.host.get(c.req.param("id") ?? "");
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
