/** Throughline: an agent runtime in which a model's reasoning is never lost and never breaks a request. */

export type {
  ApproveOptions,
  CompactOptions,
  CompletedTurn,
  EditOptions,
  EventsOptions,
  ExplainOptions,
  FailedTurn,
  FollowOptions,
  ForkOptions,
  IncompleteReason,
  IncompleteTurn,
  Input,
  McpServerView,
  PreviewItem,
  QueuedTurn,
  RebuiltRequest,
  RequestPreview,
  ResumeOptions,
  RetryOptions,
  RuleView,
  SessionHandle,
  SessionSummary,
  StoppedTurn,
  SwitchPreview,
  Turn,
  TurnOptions,
  TurnResponseOptions,
  TurnResult,
} from "./base/api/index.ts";
export type {
  Capabilities,
  Decision,
  Effort,
  Elicitation,
  ElicitationAnswer,
  ElicitationField,
  EphemeralEvent,
  ErrorClass,
  ErrorInfo,
  InputPart,
  LoggedEvent,
  Origin,
  Profile,
  ReplayPolicy,
  SessionEvent,
  TurnStatus,
  Usage,
} from "./base/events/index.ts";
export { isEphemeral } from "./base/events/index.ts";
export { type McpServerConfig, mcpTools, type McpToolsOptions } from "./runtime/mcp/index.ts";
export { type Clock, type ErrorCode, isThroughlineError, ThroughlineError } from "./base/support/index.ts";
export { fileStore, type FileStoreOptions, memoryStore, type Store } from "./runtime/log/index.ts";
export { postgresStore, type PostgresStoreOptions } from "./runtime/postgres/index.ts";
export {
  anthropic,
  type AnthropicOptions,
  emulator,
  type EmulatorModelOptions,
  type GivenPrice,
  modelFrom,
  type ModelFromOptions,
  type ModelOptions,
  openai,
  openaiChat,
  type OpenAiOptions,
  type Provider,
  PROVIDERS,
} from "./runtime/models/index.ts";
export { type Model, type ProfileName, PROFILES, type ProviderTool } from "./runtime/providers/index.ts";
export {
  type Agent,
  type AgentOptions,
  agentTool,
  type AgentToolOptions,
  createAgent,
  type InferOutput,
  type OpenSessionOptions,
  type OutputSchema,
  type SendOptions,
  type Session,
} from "./runtime/session/index.ts";
export {
  builtinTools,
  type McpTools,
  tool,
  type Tool,
  type ToolAccess,
  type ToolCallOf,
  toolCalls,
  type ToolContext,
  type ToolOptions,
} from "./runtime/tools/index.ts";
export type {
  ArgumentsToRepair,
  PermissionAsk,
  PermissionDecision,
  PermissionPolicy,
  RepairArguments,
  TurnLimits,
  WireRecord,
} from "./runtime/turn/index.ts";
