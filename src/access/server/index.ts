/** `throughline/server`: sessions over HTTP, with live events. docs/http-api.md is its contract. */

export type { Exported, ExportOptions, ExportSession } from "./exported.ts";
export type { StreamCounters } from "./event-stream.ts";
export type { AgentFor, StoredFacts as SessionFacts } from "./hosted-parts.ts";
export type { ServerLimits } from "./limits.ts";
export { forgetLinksOf, newLinkTo, type ServerAddress } from "./new-link.ts";
export { type RunningServer, type ServerOptions, startServer } from "./start-server.ts";
