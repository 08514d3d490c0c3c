/**
 * The local handle on a session.
 *
 * @module
 */

export { createAgent } from "./agent.ts";
export { previewFromLog } from "./previews.ts";
export { rebuildRequest, type RebuiltRequest } from "./rebuild.ts";
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
