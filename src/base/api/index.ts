/**
 * The port between a session and anything that shows it: a terminal, a page, a script on another machine. Pure,
 * and the same for a session in this process (`throughline`) and one behind HTTP (`throughline/client`).
 */

export type { Decision } from "../events/index.ts";
export type { AgentHandle, OpenHandleOptions, SessionSummary } from "./agent-handle.ts";
export { eventFrame } from "./event-frame.ts";
export {
  HTTP_API_VERSION,
  type HttpError,
  type RequestSummary,
  type ServerInfo,
  type SessionListing,
  type SessionPage,
  type SessionState,
  type TurnState,
} from "./http.ts";
export { mcpServerLine, type McpServerWords, mcpServerWords } from "./mcp-words.ts";
export type { McpPrompt, McpPromptMessage, McpServerView } from "./mcp.ts";
export { checkAnswer, checkHandleOptions, HANDLE_OPTIONS, OPEN_OPTIONS } from "./option-checks.ts";
export { type QueuedTurn, queuedTurn } from "./queued-turn.ts";
export { diffRequests, type RequestDiff } from "./request-diff.ts";
export type {
  ExplainOptions,
  PreviewItem,
  RebuiltRequest,
  RequestPreview,
  SwitchPreview,
} from "./request-views.ts";
export type {
  ApproveOptions,
  CompactOptions,
  EditOptions,
  EventsOptions,
  FollowOptions,
  ForkOptions,
  HandleSendOptions,
  Input,
  ModelView,
  ResumeOptions,
  RetryOptions,
  RuleView,
  SessionHandle,
  TurnOptions,
} from "./session-handle.ts";
export {
  completedText,
  type CompletedTurn,
  type FailedTurn,
  type IncompleteReason,
  type IncompleteTurn,
  type StoppedTurn,
  type Turn,
  isLimit,
  turnEnding,
  type TurnEnding,
  type TurnResponseOptions,
  type TurnResult,
  turnResult,
} from "./turn.ts";
export { textOf, turnResponse } from "./turn-streams.ts";
