/**
 * Defines a tool: a name, a schema and a function, validated on creation. `tool()` is typed for its author; `Tool` is
 * the runtime's view with the types erased, so that tools from any schema library fit into one list. Every existing
 * tool can be sent to every provider.
 */

import { isSendableToolName, type JsonObject } from "../../base/support/index.ts";
import { type InputVerdict, toInputSchema, toolInvalid } from "./input-schema.ts";
import type { OutputOf, StandardSchema } from "./standard-schema.ts";
import { isStrictSchema } from "./strict-schema.ts";

/** What a call may do to the world; the permission policy considers nothing else. */
export type ToolAccess = "read" | "write" | "execute";

export interface ToolContext {
  /** Aborted when the turn is cancelled or the tool times out. */
  readonly signal: AbortSignal;
  readonly callId: string;
  /** The same for every run of one call. Pass it to services that can reject duplicates. */
  readonly idempotencyKey: string;
  /** Shows live text to a person; never logged and never sent to the model. */
  readonly progress: (text: string) => void;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly access: ToolAccess;
  /** Whether it may run again after a crash that left its outcome unknown. */
  readonly idempotent: boolean;
  readonly timeoutMs?: number | undefined;
  /** The JSON Schema of the input, as sent to a provider. */
  readonly parameters: JsonObject;
  /** Whether the schema already satisfies OpenAI's strict mode. */
  readonly strict: boolean;
  /** Never rejects. The message gives the path and problem of each issue, for the model. */
  validate(input: unknown): Promise<InputVerdict>;
  /** Takes the value `validate` returned. May return any value or a promise, and may throw anything. */
  run(input: unknown, context: ToolContext): unknown;
}

/** The input `run` receives: the output type of a Standard Schema, or an untyped object for a JSON Schema. */
export type ToolInput<Schema> = Schema extends StandardSchema ? OutputOf<Schema> : JsonObject;

export interface ToolOptions<Schema extends StandardSchema | JsonObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  readonly access?: ToolAccess;
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  readonly run: (input: ToolInput<Schema>, context: ToolContext) => unknown;
}

const ACCESSES: readonly unknown[] = ["read", "write", "execute"] satisfies readonly ToolAccess[];

export function tool<Schema extends StandardSchema | JsonObject>(options: ToolOptions<Schema>): Tool {
  // Options may come from JavaScript (a tools file), where no types were checked.
  const { name, description, timeoutMs, access = "execute" } = options;
  if (typeof name !== "string" || !isSendableToolName(name)) {
    throw toolInvalid(name, "a name must have 1 to 64 letters, digits, underscores or hyphens");
  }
  if (typeof description !== "string" || description.trim() === "") {
    throw toolInvalid(name, "a description is required: it is all the model knows about the tool");
  }
  if (typeof options.run !== "function") throw toolInvalid(name, "run must be a function");
  if (!ACCESSES.includes(access)) throw toolInvalid(name, "access must be read, write or execute");
  if (timeoutMs !== undefined && !(timeoutMs > 0))
    throw toolInvalid(name, "timeoutMs must be greater than 0");
  const { parameters, validate } = toInputSchema(name, options.input);
  return {
    name,
    description,
    access,
    idempotent: options.idempotent ?? false,
    timeoutMs,
    parameters,
    strict: isStrictSchema(parameters),
    validate,
    run: (input, context) => options.run(input as ToolInput<Schema>, context),
  };
}
