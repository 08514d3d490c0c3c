/**
 * Tools that the provider runs, as a caller names them: an object as the API takes it, or the type alone where nothing
 * else is needed. What the API would refuse is refused here, with the field that is missing.
 */

import type { Profile } from "../../base/events/index.ts";
import { codedError, isObject, type JsonObject, stringOf } from "../../base/support/index.ts";

/** `"web_search"`, `{ type: "web_search_20260318", name: "web_search", max_uses: 3 }`. */
export type ProviderTool = string | (JsonObject & { readonly type: string });

export function checkedProviderTools(
  given: readonly ProviderTool[],
  profile: Profile,
): readonly JsonObject[] {
  const [first] = given;
  if (first === undefined) return [];
  if (profile.dialect === "openai-chat")
    throw invalid(`${typeOf(first)}: chat completions have no tools that the provider runs`);
  return given.map((tool) => {
    const type = typeOf(tool);
    if (type === "") throw invalid("a hosted tool is the name of its type, or an object with a type");
    if (typeof tool === "string" && OF_THE_CLIENT.test(type) && profile.dialect === "anthropic-messages")
      throw invalid(`${type} is run by your own program, not by the provider: give it as a tool`);
    const secret = typeof tool === "string" ? undefined : SECRETS.find((field) => tool[field] !== undefined);
    if (secret !== undefined)
      throw invalid(
        `${type}.${secret} would stand in the log, where no key may be: use a server that needs none`,
      );
    const whole = { ...usualFields(type, profile), ...(typeof tool === "string" ? { type } : tool) };
    const missing = missingFields(type, whole);
    if (missing.length === 0) return whole;
    throw invalid(`${type} needs ${missing.join(", ")}: give it as an object, { type: "${type}", … }`);
  });
}

function typeOf(tool: ProviderTool): string {
  return typeof tool === "string" ? tool : ((isObject(tool) ? stringOf(tool["type"]) : undefined) ?? "");
}

/** What must be said and has only one usual value. */
function usualFields(type: string, { dialect, name }: Profile): JsonObject {
  // `name` is required on every tool of Claude's, and is the type without its date.
  if (dialect === "anthropic-messages" && type !== "mcp_toolset")
    return { type, name: type.replace(DATE, "") };
  const container = type === "code_interpreter" && name !== "xai"; // xAI's takes none
  return { type, ...(container ? { container: { type: "auto" } } : {}) };
}

/** Settings are logged, so that every request can be rebuilt: what holds a key cannot be one. */
const SECRETS: readonly string[] = ["authorization", "authorization_token", "headers"];

const DATE = /_\d{8}$/;

/** Claude asks for these with an ordinary call, which the program answers. */
const OF_THE_CLIENT = /^(?:bash|text_editor|memory|computer)_\d{8}$/;

/** Of the official types (openai 7.53.0, @anthropic-ai/sdk 1.8.0); `a|b`: one of them. A type that is not here needs none. */
const REQUIRED: readonly (readonly [type: RegExp, fields: readonly string[]])[] = [
  [/^file_search$/, ["vector_store_ids"]],
  [/^mcp$/, ["server_label", "server_url|connector_id"]],
  [/^computer_use_preview$/, ["display_width", "display_height", "environment"]],
  [/^(?:function|custom)$/, ["name"]],
  [/^advisor_\d{8}$/, ["model"]],
  [/^mcp_toolset$/, ["mcp_server_name"]],
];

function missingFields(type: string, tool: JsonObject): readonly string[] {
  const fields = REQUIRED.find(([pattern]) => pattern.test(type))?.[1] ?? [];
  return fields
    .filter((field) => field.split("|").every((one) => tool[one] === undefined))
    .map((field) => field.replace("|", " or "));
}

function invalid(message: string): Error {
  return codedError("provider_tools_invalid", message);
}
