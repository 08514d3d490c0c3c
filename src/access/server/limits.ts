/**
 * How much of the server a client, or a stranger without a key, may use. All limits are options of the server, so that
 * tests reach them with a few sockets and milliseconds. Those of its connections are declared in access/gate.
 */

import { CONNECTION_LIMITS, type ConnectionLimits } from "../gate/index.ts";

/** How much of the server a client may use. Times are in milliseconds; docs/api.md lists the defaults. */
export interface ServerLimits extends ConnectionLimits {
  /** How long the header of a request may take to arrive, and how long a silent connection may last. */
  readonly headMs: number;
  /** How long a whole request may take to arrive. Streams are answers: they last as long as their client. */
  readonly requestMs: number;
  /** The largest header of a request. */
  readonly headBytes: number;
  /** The largest body of a login: a code, with room for whitespace around it. */
  readonly strangerBytes: number;
  /** How much of a refused body is read and dropped, so that its sender can read the refusal. */
  readonly lingerBytes: number;
  /** How long such a body is read. */
  readonly lingerMs: number;
  /** Wrong tokens, cookies and codes per minute, from all clients together. */
  readonly wrongKeys: number;
  /** How long a client may read nothing of a download. */
  readonly stuckMs: number;
  /** How often the key of an open stream is checked again, on a store that has a table of tokens. */
  readonly recheckMs: number;
  /** Requests and streams of one tenant that this server answers at once, on a store that has a table of tokens. */
  readonly tenantRequests: number;
  /** Sessions of one tenant that have a turn on this server at once. */
  readonly tenantTurns: number;
  /** Sessions of one tenant. */
  readonly tenantSessions: number;
  /** Bytes of all logs of one tenant. */
  readonly tenantBytes: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headMs: 10_000,
  requestMs: 30_000,
  headBytes: 16 * 1024,
  ...CONNECTION_LIMITS,
  strangerBytes: 4096,
  lingerBytes: 64 * 1024 * 1024,
  lingerMs: 20_000,
  wrongKeys: 60,
  stuckMs: 30_000,
  recheckMs: 5000,
  tenantRequests: 1000,
  tenantTurns: 256,
  tenantSessions: Infinity,
  tenantBytes: Infinity,
};
