/** Throughline: an agent runtime in which a model's reasoning is never lost and never breaks a request. */

export type {
  AgentHandle,
  CompactOptions,
  EventsOptions,
  ExplainOptions,
  FollowOptions,
  ForkOptions,
  HandleSendOptions,
  Input,
  ModelView,
  OpenHandleOptions,
  PreviewItem,
  RebuiltRequest,
  RequestPreview,
  SessionHandle,
  SessionSummary,
  SwitchPreview,
  Turn,
  TurnOptions,
  TurnResult,
} from "./base/api/index.ts";
export type {
  Action,
  CanonicalEvent,
  Capabilities,
  Decision,
  EphemeralEvent,
  ErrorClass,
  ErrorInfo,
  InputPart,
  LoggedEvent,
  Origin,
  Profile,
  Reason,
  ReplayPolicy,
  SessionEvent,
  TurnStatus,
  Usage,
} from "./base/events/index.ts";
export { isEphemeral, parseLine, toLine } from "./base/events/index.ts";
export type { StoredSummary } from "./runtime/facts/index.ts";
export {
  type AppendOptions,
  type FileStoreOptions,
  fileStore,
  type ListOptions,
  type Log,
  type LogChange,
  memoryStore,
  type Store,
  type StoredSession,
  type Waiting,
  type WaitingTurn,
} from "./runtime/log/index.ts";
export {
  anthropic,
  type AnthropicOptions,
  emulator,
  type EmulatorModelOptions,
  modelFrom,
  type ModelFromOptions,
  type ModelOptions,
  openai,
  openaiChat,
  type OpenAiOptions,
  type Provider,
  PROVIDERS,
} from "./runtime/models/index.ts";
export { type ProviderTool, type Model, PROFILES } from "./runtime/providers/index.ts";
export {
  type Agent,
  type AgentOptions,
  type InferOutput,
  createAgent,
  type OpenSessionOptions,
  type OutputSchema,
  type RepairPlan,
  previewFromLog,
  rebuildRequest,
  planRepair,
  type RuleRepair,
  type SendOptions,
  type Session,
  type TreeTurn,
  buildTree,
} from "./runtime/session/index.ts";
export { isThroughlineError, ThroughlineError } from "./base/support/index.ts";
export type { Clock } from "./base/support/index.ts";
export { builtinTools, tool, type Tool, type ToolAccess, type ToolContext } from "./runtime/tools/index.ts";
export type {
  PermissionAsk,
  PermissionDecision,
  PermissionPolicy,
  TurnLimits,
  WireRecord,
} from "./runtime/turn/index.ts";
