/**
 * Node's HTTP, not imported but asked for: an import makes Node 24 look at every export, and one of them loads the whole of
 * its `fetch`, which costs ten times what HTTP does and is not used here.
 *
 * @module
 */

export const nodeHttp = process.getBuiltinModule("node:http");
