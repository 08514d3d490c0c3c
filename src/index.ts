/**
 * Throughline: an agent runtime in which a model's reasoning is never lost and never breaks a request.
 *
 * @module
 */

export type {
  CanonicalEvent,
  Capabilities,
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
} from "./events/index.ts";
export { isEphemeral, parseLine, toLine } from "./events/index.ts";
export type { Action, Decision, Reason } from "./fold/index.ts";
export {
  type FileStoreOptions,
  fileStore,
  type Log,
  memoryStore,
  type Store,
  type StoredSession,
} from "./log/index.ts";
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
} from "./models/index.ts";
export { type Model, PROFILES } from "./providers/index.ts";
export * from "./session/index.ts";
export { isThroughlineError, ThroughlineError } from "./support/index.ts";
export type { Clock } from "./support/index.ts";
export { builtinTools, tool, type Tool, type ToolAccess, type ToolContext } from "./tools/index.ts";
export type {
  PermissionAsk,
  PermissionDecision,
  PermissionPolicy,
  TurnLimits,
  WireRecord,
} from "./turn/index.ts";
