/**
 * Node's HTTP module, obtained without an import. An import makes Node 24 evaluate every export, and one of them loads
 * its whole `fetch`. That costs ten times as much as HTTP and is not used here.
 */

import type * as https from "node:https";

export const nodeHttp = process.getBuiltinModule("node:http");

/** Loaded by the first request that needs it: TLS takes longer to load than the rest of the wire code. */
export const nodeHttps = (): typeof https => process.getBuiltinModule("node:https");
