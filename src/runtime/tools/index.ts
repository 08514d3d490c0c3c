/**
 * Tools: what they are, what they accept, what their results look like, and the built-in ones.
 * Running calls (permission flow, parallel execution, logging) is the turn loop's business.
 */

export { parseArguments } from "./arguments.ts";
export { builtinTools } from "./builtin/index.ts";
export { jsonSchemaValidator } from "./json-schema.ts";
export { renderToolOutput } from "./output.ts";
export { expandParallelCall } from "./parallel-call.ts";
export type { PermissionMode } from "../../base/events/index.ts";
export { permissionFor } from "./permission.ts";
export { createRegistry, type ToolRegistry } from "./registry.ts";
export { type StandardSchema } from "./standard-schema.ts";
export { isStrictSchema } from "./strict-schema.ts";
export { type Tool, tool, type ToolAccess, type ToolContext } from "./tool.ts";
