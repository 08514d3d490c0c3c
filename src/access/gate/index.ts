/** What every HTTP server of ours does first: how it listens, whom it answers, and which connections it keeps. */

export { CONNECTION_LIMITS, type ConnectionLimits, Connections } from "./connections.ts";
export { type Denial, deny } from "./denial.ts";
export { answerMalformedRequests } from "./malformed-requests.ts";
export {
  headersNamed,
  hostDenial,
  type HostRules,
  originDenial,
  type OriginRules,
  targetDenial,
} from "./request-checks.ts";
export { anOrigin, bracketed, hostNames, listen, originIn, serverUrl } from "./server-address.ts";
