/**
 * Tools: what they are, what they accept, what their results look like, and the built-in ones.
 * Running calls (permission flow, parallel execution, logging) is the turn loop's business.
 *
 * @module
 */

export { parseArguments, type ParseArgumentsOptions, type ParsedArguments } from "./arguments.ts";
export { builtinTools, type BuiltinToolsOptions } from "./builtin/index.ts";
export type { InputVerdict } from "./input-schema.ts";
export { jsonSchemaValidator, type SchemaVerdict } from "./json-schema.ts";
export { type RenderedOutput, type RenderOptions, renderToolOutput } from "./output.ts";
export { expandParallelCall, type ExpandedCall } from "./parallel-call.ts";
export type { PermissionMode } from "../../base/events/index.ts";
export { type Permission, permissionFor } from "./permission.ts";
export { createRegistry, type ToolRegistry } from "./registry.ts";
export { type OutputOf, type StandardSchema } from "./standard-schema.ts";
export { isStrictSchema } from "./strict-schema.ts";
export {
  type Tool,
  tool,
  type ToolAccess,
  type ToolContext,
  type ToolInput,
  type ToolOptions,
} from "./tool.ts";
