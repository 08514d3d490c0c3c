/**
 * Node's HTTP, not imported but asked for: an import makes Node 24 look at every export, and one of them loads the whole of
 * its `fetch`, which costs ten times what HTTP does and is not used here.
 */

import type * as https from "node:https";

export const nodeHttp = process.getBuiltinModule("node:http");

/** Loaded by the first request that needs it: TLS takes longer to load than all of the wire. */
export const nodeHttps = (): typeof https => process.getBuiltinModule("node:https");
