/** Local session handles. */

export type { RebuiltRequest, RequestPreview, Turn, TurnResult } from "../../base/api/index.ts";
export { agentTool, type AgentToolOptions } from "./agent-tool.ts";
export { createAgent } from "./agent.ts";
export { assertInput } from "./agent-options.ts";
export { messageJoined, noMessage, turnBegun, turnOver } from "./not-waiting.ts";
export { toContent } from "./input.ts";
export { type RuleRepair, type RepairPlan, planRepair } from "./repair-log.ts";
export { createOutputFormat } from "./output-schema.ts";
export { previewFromLog } from "./previews.ts";
export { describeSession } from "./describe-session.ts";
export { readFacts } from "./read-facts.ts";
export { rebuildRequest } from "./rebuild.ts";
export { aModel, aStore } from "./option-checks.ts";
export { settingsFor } from "./settings.ts";
export { titleOf } from "./title.ts";
export type {
  Agent,
  AgentOptions,
  InferOutput,
  OpenSessionOptions,
  OutputSchema,
  SendOptions,
  Session,
} from "./types.ts";
export { type TreeTurn, buildTree } from "./session-tree.ts";
