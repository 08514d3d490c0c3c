/** `throughline/client`: the sessions of a server, with the same handles as local ones. Runs in a browser. */

export {
  type AgentHandle,
  type CompactOptions,
  type CompletedTurn,
  type Decision,
  type EventsOptions,
  type ExplainOptions,
  type FailedTurn,
  type FollowOptions,
  type ForkOptions,
  type HandleSendOptions,
  HTTP_API_VERSION,
  type HttpError,
  type IncompleteTurn,
  type Input,
  type ModelView,
  type OpenHandleOptions,
  type RebuiltRequest,
  type RequestPreview,
  type RequestSummary,
  type RetryOptions,
  type ServerInfo,
  type SessionHandle,
  type SessionListing,
  type SessionState,
  type SessionSummary,
  type StoppedTurn,
  type SwitchPreview,
  type Turn,
  type TurnOptions,
  type TurnResult,
  type TurnState,
} from "../../base/api/index.ts";
export type { ErrorInfo, InputPart, LoggedEvent, SessionEvent, Usage } from "../../base/events/index.ts";
export { type ErrorCode, isThroughlineError, ThroughlineError } from "../../base/support/index.ts";
export {
  connect,
  type ConnectOptions,
  type ListSessionsOptions,
  type RemoteAgent,
  type RemoteOpenOptions,
} from "./connect.ts";
