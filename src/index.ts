/**
 * Throughline: an agent runtime in which a model's reasoning is never lost and never breaks a request.
 *
 * @module
 */

export type {
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
  ReplayPolicy,
  SessionEvent,
  TurnStatus,
  Usage,
} from "./base/events/index.ts";
export { isEphemeral, parseLine, toLine } from "./base/events/index.ts";
export {
  type FileStoreOptions,
  fileStore,
  type Log,
  memoryStore,
  type Store,
  type StoredSession,
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
export { type Model, PROFILES } from "./runtime/providers/index.ts";
export * from "./runtime/session/index.ts";
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
