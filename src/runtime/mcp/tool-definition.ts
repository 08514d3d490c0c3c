/**
 * Reads the tools that a server lists. Whatever a server says is untrusted: texts are made inert and bounded, schemas are
 * bounded and checked, and a tool that no provider would take is left out by name instead of failing every request. The
 * same tool always gives the same bytes: members are sorted.
 */

import {
  codedError,
  inert,
  inertLine,
  isObject,
  type JsonObject,
  messageOf,
  stringOf,
} from "../../base/support/index.ts";
import { toInputSchema } from "../tools/index.ts";
import { headerProblem } from "./mirrored-headers.ts";

/** A tool of a server, as it is declared to models. */
export interface McpToolDefinition {
  /** The server's own name for it. */
  readonly tool: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly parameters: JsonObject;
  /** The server's schema is no plain object: it is declared as the member `input`. */
  readonly wrapped: boolean;
  readonly outputSchema: JsonObject | undefined;
  readonly hints: { readonly readOnly: boolean; readonly idempotent: boolean };
  /** As the server sent it, for the headers that mirror arguments. */
  readonly raw: JsonObject;
}

export interface ReadTools {
  /** Sorted by name. */
  readonly tools: readonly McpToolDefinition[];
  /** Tools that are left out: which, and why. */
  readonly problems: readonly string[];
}

const MOST = { tools: 512, schemaBytes: 128 * 1024, depth: 64, description: 8 * 1024, name: 256 };
/** How many problems are named; the rest is counted. */
const NAMED = 5;

/** `mirrors`: arguments may be mirrored in HTTP headers, so what the schemas say of that counts. */
export function readTools(listed: readonly unknown[], only?: readonly string[], mirrors = false): ReadTools {
  const wanted = only && new Set(only);
  const tools = new Map<string, McpToolDefinition>();
  const problems: string[] = [];
  for (const raw of listed) {
    const name = isObject(raw) ? stringOf(raw["name"]) : undefined;
    if (name === undefined || name === "" || !isObject(raw)) {
      problems.push("a tool without a name");
      continue;
    }
    if (wanted !== undefined && !wanted.has(name)) continue;
    const shown = `"${inertLine(name, 80)}"`;
    if (name.length > MOST.name) problems.push(`${shown}: its name is too long`);
    else if (tools.has(name)) problems.push(`${shown}: the server lists it twice`);
    else if (tools.size >= MOST.tools)
      problems.push(`${shown}: the server lists more than ${MOST.tools} tools`);
    else {
      const read = readTool(name, raw, mirrors);
      if (typeof read === "string") problems.push(`${shown}: ${read}`);
      else tools.set(name, read);
    }
  }
  const missing = [...(wanted ?? [])].filter(
    (name) => !tools.has(name) && !listed.some((one) => isObject(one) && one["name"] === name),
  );
  problems.push(
    ...missing.map((name) => `"${inertLine(name, 80)}": the entry names it, but the server does not list it`),
  );
  const inOrder = [...tools.values()].toSorted((a, b) => (a.tool < b.tool ? -1 : 1));
  return { tools: inOrder, problems: shortened(problems) };
}

function shortened(problems: readonly string[]): readonly string[] {
  if (problems.length <= NAMED) return problems;
  return [...problems.slice(0, NAMED), `and ${problems.length - NAMED} more`];
}

/** Returns the tool, or why it cannot be declared. */
function readTool(name: string, raw: JsonObject, mirrors: boolean): McpToolDefinition | string {
  const { inputSchema, outputSchema, annotations } = raw;
  const text = serverText(stringOf(raw["description"]) ?? "", MOST.description);
  const title =
    stringOf(raw["title"]) ?? (isObject(annotations) ? stringOf(annotations["title"]) : undefined);
  const schema = isObject(inputSchema) && !Array.isArray(inputSchema) ? inputSchema : {};
  const refused = sizeProblem(schema) ?? (mirrors ? headerProblem(schema) : undefined);
  if (refused !== undefined) return refused;
  const own = sorted(typed(schema)) as JsonObject;
  const wrapped = own["type"] !== "object" || REFUSED_AT_TOP.some((keyword) => keyword in own);
  const declared = wrapped ? wrappedSchema(own) : own;
  try {
    const { parameters } = toInputSchema(declared, (problem) => codedError("schema_invalid", problem));
    return {
      tool: name,
      title: title === undefined ? undefined : inertLine(title, 200),
      description: text === "" ? inertLine(title ?? name, 200) : text,
      parameters,
      wrapped,
      outputSchema:
        isObject(outputSchema) && sizeProblem(outputSchema) === undefined ? outputSchema : undefined,
      hints: {
        readOnly: isObject(annotations) && annotations["readOnlyHint"] === true,
        idempotent: isObject(annotations) && annotations["idempotentHint"] === true,
      },
      raw,
    };
  } catch (error) {
    return `its schema cannot be used: ${inertLine(messageOf(error), 200)}`;
  }
}

/** Text of a server for the model and for people: nothing in it is obeyed by a terminal or hides from a reader. */
export function serverText(text: string, most: number): string {
  const shown = inert(text.slice(0, most * 2)).trim();
  return shown.length <= most ? shown : `${shown.slice(0, most)} […]`;
}

/** Keywords that providers refuse at the top of a tool's schema. */
const REFUSED_AT_TOP = ["anyOf", "oneOf", "allOf", "not", "enum"];

/** A schema without a type, as some servers send for a tool without arguments, describes an object too. */
function typed(schema: JsonObject): JsonObject {
  const saysNothing = ["type", "$ref", "const", ...REFUSED_AT_TOP].every((keyword) => !(keyword in schema));
  return saysNothing ? { ...schema, type: "object" } : schema;
}

/** Definitions stay at the top, where references look for them. */
function wrappedSchema({ $defs, definitions, $schema: _schema, ...input }: JsonObject): JsonObject {
  return {
    type: "object",
    properties: { input },
    required: ["input"],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

function sizeProblem(schema: JsonObject): string | undefined {
  if (depthOf(schema) > MOST.depth) return `its schema nests deeper than ${MOST.depth} levels`;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  return bytes > MOST.schemaBytes ? `its schema is larger than ${MOST.schemaBytes} bytes` : undefined;
}

/** Stops as soon as the limit is passed, so that a hostile schema cannot exhaust the stack. */
function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== "object" || value === null || depth > MOST.depth) return depth;
  let most = depth;
  for (const member of Object.values(value)) most = Math.max(most, depthOf(member, depth + 1));
  return most;
}

/** Members sorted by name, whatever order the server writes them in. What is only text for the model is made inert. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => sorted(one));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([name, member]) => [
      name,
      PROSE.has(name) && typeof member === "string" ? inert(member) : sorted(member),
    ]),
  );
}

const PROSE: ReadonlySet<string> = new Set(["description", "title", "$comment"]);
