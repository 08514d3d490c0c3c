/**
 * Tools: their definition, their input, the form of their results, and the built-in ones. The turn loop runs the calls
 * (permissions, parallel execution, logging).
 */

export { deniedByDefaultAdvice, isAccessByDefault, TOOL_DENIED_BY_DEFAULT } from "./access-by-default.ts";
export { type AllowRule, covers, parseRule, ruleOfCall } from "./allow-rules.ts";
export { parseArguments } from "./arguments.ts";
export { childEnvironment } from "./builtin/child-environment.ts";
export { builtinTools } from "./builtin/index.ts";
export { endGroup, isGroupAlive, trackGroup } from "./builtin/process-group.ts";
export { type ReadableSkill, SKILL_TOOL, skillTool } from "./builtin/read-skill.ts";
export { type Elicit, elicitFrom, withElicit } from "./elicit.ts";
export { type InputVerdict, toInputSchema } from "./input-schema.ts";
export { jsonSchemaValidator } from "./json-schema.ts";
export { isToolOutcome, type OutcomeImage, type ToolOutcome, toolOutcome } from "./outcome.ts";
export { renderToolOutput } from "./output.ts";
export { expandParallelCall } from "./parallel-call.ts";
export type { PermissionMode } from "../../base/events/index.ts";
export { permissionFor } from "./permission.ts";
export { createRegistry, type ToolRegistry } from "./registry.ts";
export type { OutputOf, StandardSchema } from "./standard-schema.ts";
export { isStrictSchema } from "./strict-schema.ts";
export {
  isTool,
  type Tool,
  tool,
  type ToolAccess,
  type ToolCallOf,
  type ToolContext,
  type ToolInput,
  type ToolOptions,
  toolProblem,
} from "./tool.ts";
export { toolCalls } from "./tool-calls.ts";
export {
  type DeclaredTools,
  isToolSource,
  specOf,
  type McpTools,
  type SourcedTools,
  TOOL_SOURCE,
  type ToolSource,
} from "./tool-source.ts";
