/**
 * Defines a tool: a name, a schema and a function, validated on creation. `tool()` is typed for its author; `Tool` is
 * the runtime's view with the types erased, so that tools from any schema library fit into one list. Every existing
 * tool can be sent to every provider.
 */

import type { McpToolName } from "../../base/events/index.ts";
import {
  aFlag,
  anything,
  checkOptions,
  isObject,
  isSendableToolName,
  type JsonObject,
  type OptionChecks,
} from "../../base/support/index.ts";
import { markAccessByDefault } from "./access-by-default.ts";
import { type InputVerdict, toInputSchema, toolInvalid } from "./input-schema.ts";
import type { OutputOf, StandardSchema } from "./standard-schema.ts";
import { isStrictSchema } from "./strict-schema.ts";

/** What a call may do to the world. Permission modes consider nothing else. */
export type ToolAccess = "read" | "write" | "execute";

/** What `run` gets besides the input. */
export interface ToolContext {
  /** Aborted when the turn is cancelled or the tool times out. */
  readonly signal: AbortSignal;
  /** The provider's id of the call. */
  readonly callId: string;
  /** The same for every run of one call. Pass it to services that can reject duplicates. */
  readonly idempotencyKey: string;
  /** Shows live text to a person; never logged and never sent to the model. */
  readonly progress: (text: string) => void;
}

/** A tool as the runtime sees it. Made by `tool`, which also knows its name and the type of its input. */
export interface Tool<Name extends string = string, Input = unknown> {
  readonly name: Name;
  readonly description: string;
  readonly access: ToolAccess;
  /** Whether it may run again after a crash that left its outcome unknown. */
  readonly idempotent: boolean;
  /** If false, calls of this tool and of other such tools in one response run one at a time. Default: true. */
  readonly parallel?: boolean | undefined;
  /** The time limit of one call. Default: `TurnLimits.toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** The JSON Schema of the input, as sent to a provider. */
  readonly parameters: JsonObject;
  /** Whether the schema already satisfies OpenAI's strict mode. */
  readonly strict: boolean;
  /** For the compiler: the type of the validated input. Never set. */
  readonly types?: { readonly input: Input } | undefined;
  /** Set for a tool of an MCP server. Its calls run elsewhere: once stopped or lost, their outcome is not known. */
  readonly mcp?: McpToolName | undefined;
  /** The argument that the pattern of an allow rule is about. Only built-in tools have one. */
  readonly ruleOn?: "command" | "path" | undefined;
  /** Never rejects. The message gives the path and problem of each issue, for the model. */
  validate(input: unknown): Promise<InputVerdict>;
  /** Takes the value `validate` returned. May return any value or a promise, and may throw anything. */
  run(input: unknown, context: ToolContext): unknown;
}

/** The input `run` receives: the output type of a Standard Schema, or an untyped object for a JSON Schema. */
export type ToolInput<Schema> = Schema extends StandardSchema ? OutputOf<Schema> : JsonObject;

/** A call of one of these tools, discriminated by `name`. */
export type ToolCallOf<Of extends Tool> =
  Of extends Tool<infer Name, infer Input>
    ? {
        readonly name: Name;
        /** The provider's id of the call, as in the events. */
        readonly callId: string;
        /** The validated input, after the defaults and transforms of the tool's schema. */
        readonly input: Input;
      }
    : never;

/** Options of `tool`. */
export interface ToolOptions<Schema extends StandardSchema | JsonObject, Name extends string = string> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: Name;
  /** All that the model knows about the tool. */
  readonly description: string;
  /** A Standard Schema that describes itself as JSON Schema (zod, arktype), or a JSON Schema; an object at the top. */
  readonly input: Schema;
  /** What a call may do. A declaration that nothing enforces. Default: "execute". */
  readonly access?: ToolAccess | undefined;
  /** Whether a call may run again after a crash, with the same `idempotencyKey`. Default: false. */
  readonly idempotent?: boolean | undefined;
  /**
   * If false, the calls of a response to this tool and to other such tools run one at a time, in call order. Other tools
   * still run next to them. Default: true.
   */
  readonly parallel?: boolean | undefined;
  /** The time limit of one call. Default: `TurnLimits.toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** Gets the validated input. May return or throw anything; the model reads it as text. */
  readonly run: (input: ToolInput<Schema>, context: ToolContext) => unknown;
}

/** Returns whether a value has every member that the runtime uses. A tool made by hand may lack some. */
export function isTool(value: unknown): value is Tool {
  return toolProblem(value) === undefined;
}

/** Returns what a value lacks to be a tool, for a message. */
export function toolProblem(value: unknown): string | undefined {
  if (!isObject(value)) return "it is not an object";
  const { name, description, parameters, access, validate, run } = value;
  if (typeof name !== "string" || typeof description !== "string") return "it has no name or no description";
  if (!ACCESSES.includes(access)) return `the access of ${name} must be read, write or execute`;
  if (typeof validate !== "function" || !isObject(parameters))
    return `${name} has no schema, or not in the form of the runtime`;
  return typeof run === "function" ? undefined : `${name} has no function run`;
}

const ACCESSES: readonly unknown[] = ["read", "write", "execute"] satisfies readonly ToolAccess[];

/** The members that `tool` itself checks have messages that name the tool. */
const TOOL_OPTIONS = {
  name: anything,
  description: anything,
  input: anything,
  access: anything,
  idempotent: aFlag,
  parallel: aFlag,
  timeoutMs: anything,
  run: anything,
} satisfies OptionChecks<ToolOptions<JsonObject>>;

/**
 * Defines a tool. Its schema types the input of `run` and is what the model sees. Throws `tool_invalid`.
 *
 * @example
 * ```ts
 * import { createAgent, emulator, tool } from "throughline";
 * import { z } from "zod";
 *
 * const weather = tool({
 *   name: "get_weather",
 *   description: "The weather of a city",
 *   input: z.object({ city: z.string() }),
 *   access: "read",
 *   run: ({ city }) => `21 °C and sunny in ${city}`,
 * });
 * const session = await createAgent({ model: emulator(), tools: [weather] }).open();
 * console.log(await session.send("What is the weather in Paris?").text());
 * await session.close();
 * ```
 */
export function tool<Schema extends StandardSchema | JsonObject, const Name extends string = string>(
  options: ToolOptions<Schema, Name>,
): Tool<Name, ToolInput<Schema>> {
  // Options may come from JavaScript (a tools file), where no types were checked.
  checkOptions("tool", options, TOOL_OPTIONS, "tool_invalid");
  const { name, description, timeoutMs, access = "execute" } = options;
  if (typeof name !== "string" || !isSendableToolName(name)) {
    throw toolInvalid(name, "a name must have 1 to 64 letters, digits, underscores or hyphens");
  }
  if (typeof description !== "string" || description.trim() === "") {
    throw toolInvalid(name, "a description is required: it is all the model knows about the tool");
  }
  if (typeof options.run !== "function") throw toolInvalid(name, "run must be a function");
  if (!ACCESSES.includes(access)) throw toolInvalid(name, "access must be read, write or execute");
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0))
    throw toolInvalid(name, "timeoutMs must be greater than 0");
  const { parameters, validate } = toInputSchema(options.input, (problem, cause) =>
    toolInvalid(name, problem, cause),
  );
  const made: Tool<Name, ToolInput<Schema>> = {
    name,
    description,
    access,
    idempotent: options.idempotent ?? false,
    parallel: options.parallel ?? true,
    timeoutMs,
    parameters,
    strict: isStrictSchema(parameters),
    validate,
    run: (input, context) => options.run(input as ToolInput<Schema>, context),
  };
  return options.access === undefined ? markAccessByDefault(made) : made;
}
