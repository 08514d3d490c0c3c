/** The vocabulary of events. Pure, runs anywhere. */

export { attachedText, shownParts, typedText } from "./attached-text.ts";
export * from "./canonical.ts";
export type { Action, Decision, Reason } from "./decision.ts";
export {
  type ChoiceField,
  type ChoicesField,
  type Elicitation,
  type ElicitationAnswer,
  type ElicitationContent,
  type ElicitationField,
  type TextFormat,
  type ElicitationOption,
  type ElicitationValue,
  fieldTitle,
} from "./elicitation.ts";
export { type ElicitationAnswerEvent, elicitationOf, type ElicitationRequest } from "./elicitation-events.ts";
export { ELICITATION_LIMITS, hostOfAddress, plainAddress, readElicitation } from "./elicitation-limits.ts";
export { asksForSecret } from "./elicitation-secrets.ts";
export {
  checkElicitationValue,
  checkElicitationValues,
  readElicitationAnswer,
  typedElicitationValue,
} from "./elicitation-values.ts";
export { type ContextUse, type EphemeralEvent, isEphemeral, type SessionEvent } from "./ephemeral.ts";
export { type ErrorClass, type ErrorInfo, errorInfoOf } from "./error-info.ts";
export { asRead, formatVersionOf, parseCheckedLine, parseLine, toLine, toOpenLine } from "./line.ts";
export { type Dialect, type Origin, originDifference, sameOrigin } from "./origin.ts";
export type { PermissionDecisionEvent, PermissionRequest, PermissionRuleEvent } from "./permission-events.ts";
export { readPartTitle } from "./reasoning-title.ts";
export {
  type Effort,
  asEffort,
  EFFORTS,
  isEffort,
  isPermissionMode,
  PERMISSION_MODES,
  type PermissionMode,
  SHOW_REASONING,
  type ShowReasoning,
} from "./setting-choices.ts";
export {
  type Capabilities,
  type ChatProfile,
  type McpToolName,
  type Profile,
  type ReasoningField,
  type ReplayPolicy,
  type RequestField,
  type ResponseForm,
  responseFormOf,
  type ServerInstructions,
  type Settings,
  type ToolSpec,
} from "./settings.ts";
export { ItemSketch, originOf, ResultSketch, sketchOfItem, sketchOfResult, usageOf } from "./sketch.ts";
export type { LineBytes } from "./line-bytes.ts";
export { LineHead } from "./line-head.ts";
export {
  decodedWhenRead,
  type EventHead,
  eventOf,
  eventsWhere,
  headOf,
  headsOf,
  isQuiet,
  type LineSource,
  StoredEvent,
} from "./stored-event.ts";
export type { SessionParent, SubAgentSpent } from "./sub-agent.ts";
export { typedEvent } from "./validate-event.ts";
export { addUsage, NO_USAGE, type Usage } from "./usage.ts";
