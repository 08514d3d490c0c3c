/**
 * The local handle on a session.
 *
 * @module
 */

export { createAgent } from "./agent.ts";
export type {
  Agent,
  AgentOptions,
  ExplainOptions,
  Input,
  OpenSessionOptions,
  OutputSchema,
  PreviewItem,
  RequestPreview,
  SendOptions,
  Session,
  SessionSummary,
  SwitchPreview,
  Turn,
  TurnResult,
} from "./types.ts";
