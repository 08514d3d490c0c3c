/**
 * A question of an MCP server, as the session asks it. The form is read field by field: what is not flat and primitive
 * cannot be asked, so the question is declined. The answer has the server's own names.
 */

import type {
  Elicitation,
  ElicitationField,
  ElicitationOption,
  TextFormat,
} from "../../base/events/index.ts";
import { arrayOf, isObject, type JsonObject, numberOf, stringOf } from "../../base/support/index.ts";
import { elicitFrom, type ToolContext } from "../tools/index.ts";

/** Answers in the form of the protocol. `context` is that of a call which runs now; without one nobody is asked. */
export async function elicit(
  server: string,
  params: JsonObject,
  context: ToolContext | undefined,
): Promise<JsonObject> {
  const ask = context && elicitFrom(context);
  const request = readElicitation(server, params);
  if (ask === undefined || request === undefined) return { action: "decline" };
  const answer = await ask(request);
  if (answer.action !== "accept") return { action: answer.action };
  return request.mode === "url" ? { action: "accept" } : { action: "accept", content: answer.content };
}

/** Undefined if it cannot be asked. */
export function readElicitation(server: string, params: JsonObject): Elicitation | undefined {
  const message = stringOf(params["message"]) ?? "";
  if (params["mode"] === "url") {
    const url = stringOf(params["url"]);
    return url === undefined ? undefined : { server, message, mode: "url", url };
  }
  const schema = params["requestedSchema"];
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(schema) || !isObject(properties)) return undefined;
  const required = new Set(arrayOf(schema["required"]));
  const fields = Object.entries(properties).map(([name, field]) =>
    readField(name, field, required.has(name)),
  );
  return fields.includes(undefined)
    ? undefined
    : { server, message, mode: "form", fields: fields.filter((field) => field !== undefined) };
}

const FORMATS: readonly unknown[] = ["email", "uri", "date", "date-time"] satisfies readonly TextFormat[];

function readField(name: string, field: unknown, required: boolean): ElicitationField | undefined {
  if (!isObject(field)) return undefined;
  const { type, format } = field;
  const title = stringOf(field["title"]);
  const description = stringOf(field["description"]);
  const base = {
    name,
    required,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
  const options = optionsOf(field);
  if (type === "string" && options !== undefined)
    return { ...base, type: "choice", options, ...given({ default: stringOf(field["default"]) }) };
  if (type === "string") {
    return {
      ...base,
      type: "string",
      ...given({
        minLength: numberOf(field["minLength"]),
        maxLength: numberOf(field["maxLength"]),
        format: FORMATS.includes(format) ? (format as TextFormat) : undefined,
        default: stringOf(field["default"]),
      }),
    };
  }
  if (type === "number" || type === "integer") {
    return {
      ...base,
      type,
      ...given({
        minimum: numberOf(field["minimum"]),
        maximum: numberOf(field["maximum"]),
        default: numberOf(field["default"]),
      }),
    };
  }
  if (type === "boolean") {
    const usual = field["default"];
    return { ...base, type, ...given({ default: typeof usual === "boolean" ? usual : undefined }) };
  }
  const several = type === "array" && isObject(field["items"]) ? optionsOf(field["items"]) : undefined;
  if (several === undefined) return undefined;
  const usual = field["default"];
  return {
    ...base,
    type: "choices",
    options: several,
    ...given({
      minItems: numberOf(field["minItems"]),
      maxItems: numberOf(field["maxItems"]),
      default: Array.isArray(usual) ? usual.filter((one) => typeof one === "string") : undefined,
    }),
  };
}

/** Without the members that are undefined: the question is logged. */
function given<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: Exclude<Members[Name], undefined>;
  };
}

/** The three ways in which the protocol lists options: `oneOf` or `anyOf` with titles, `enum` with `enumNames`, `enum`. */
function optionsOf(schema: JsonObject): readonly ElicitationOption[] | undefined {
  const titled = [...arrayOf(schema["oneOf"]), ...arrayOf(schema["anyOf"])];
  if (titled.length > 0) {
    return titled.flatMap((one) => {
      const value = isObject(one) ? stringOf(one["const"]) : undefined;
      return isObject(one) && value !== undefined ? [{ value, title: stringOf(one["title"]) ?? value }] : [];
    });
  }
  const values = arrayOf(schema["enum"]).filter((one): one is string => typeof one === "string");
  const names = arrayOf(schema["enumNames"]);
  if (!Array.isArray(schema["enum"])) return undefined;
  return values.map((value, index) => ({ value, title: stringOf(names[index]) ?? value }));
}
