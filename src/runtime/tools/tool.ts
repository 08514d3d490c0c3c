/**
 * What a tool is: a name, a schema and a function, checked when it is made.
 * `tool()` is typed for its author; `Tool` is what the runtime sees, with the types erased, so that tools of
 * any schema library sit in one list. A tool that exists can be sent to every provider.
 */

import { isSendableToolName, type JsonObject } from "../../base/support/index.ts";
import { type InputVerdict, toInputSchema, toolInvalid } from "./input-schema.ts";
import type { OutputOf, StandardSchema } from "./standard-schema.ts";
import { isStrictSchema } from "./strict-schema.ts";

/** What a call may do to the world; the permission policy looks at nothing else. */
export type ToolAccess = "read" | "write" | "execute";

export interface ToolContext {
  /** Aborted when the turn is cancelled or the tool's time is up. */
  readonly signal: AbortSignal;
  readonly callId: string;
  /** The same for every run of one call: hand it to services that can refuse a repetition. */
  readonly idempotencyKey: string;
  /** Live text for a person; never logged and never sent to the model. */
  readonly progress: (text: string) => void;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly access: ToolAccess;
  /** May be run again after a crash that left its outcome unknown. */
  readonly idempotent: boolean;
  readonly timeoutMs?: number | undefined;
  /** The JSON Schema of the input, as sent to a provider. */
  readonly parameters: JsonObject;
  /** The schema satisfies OpenAI's strict mode as it is. */
  readonly strict: boolean;
  /** Never rejects. The message names path and problem per issue, for the model to read. */
  validate(input: unknown): Promise<InputVerdict>;
  /** Takes what `validate` returned. May return anything or a promise of it, may throw anything. */
  run(input: unknown, context: ToolContext): unknown;
}

/** What `run` receives: the output type of a Standard Schema, a record of unknowns for a JSON Schema. */
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
  // Options may come from JavaScript (a tools file), where no type was checked.
  const { name, description, timeoutMs, access = "execute" } = options;
  if (typeof name !== "string" || !isSendableToolName(name)) {
    throw toolInvalid(name, "a name has 1 to 64 letters, digits, underscores or hyphens");
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
