/**
 * Tools that the provider runs, as a caller specifies them: an object as the API expects it, or just the type if
 * nothing else is needed. A tool that the API would refuse is refused here, with an error that names the missing field.
 */

import type { Profile } from "../../base/events/index.ts";
import { codedError, isObject, type JsonObject, stringOf } from "../../base/support/index.ts";

/**
 * A tool that the provider runs: its type, or the object that the API takes, such as `{ type: "web_search_20260318",
 * max_uses: 3 }`.
 */
export type ProviderTool = string | (JsonObject & { readonly type: string });

export function checkedProviderTools(
  given: readonly ProviderTool[],
  profile: Profile,
): readonly JsonObject[] {
  const [first] = given;
  if (first === undefined) return [];
  if (profile.dialect === "openai-chat")
    throw invalid(`${typeOf(first)}: the chat-completions dialect has no provider-run tools`);
  return given.map((tool) => {
    const type = typeOf(tool);
    if (type === "") throw invalid("a provider tool must be the name of its type or an object with a type");
    if (typeof tool === "string" && CLIENT_TOOLS.test(type) && profile.dialect === "anthropic-messages")
      throw invalid(`your own program runs ${type}, not the provider: pass it as a tool`);
    const secret = typeof tool === "string" ? undefined : SECRETS.find((field) => tool[field] !== undefined);
    if (secret !== undefined)
      throw invalid(`${type}.${secret} would put a key into the log: use a server that needs no key`);
    const whole = { ...defaultFields(type, profile), ...(typeof tool === "string" ? { type } : tool) };
    const missing = missingFields(type, whole);
    if (missing.length === 0) return whole;
    throw invalid(`${type} needs ${missing.join(", ")}: pass it as an object, { type: "${type}", … }`);
  });
}

function typeOf(tool: ProviderTool): string {
  return typeof tool === "string" ? tool : ((isObject(tool) ? stringOf(tool["type"]) : undefined) ?? "");
}

/** Fields that are required but have only one usual value. */
function defaultFields(type: string, { dialect, name }: Profile): JsonObject {
  // Claude requires `name` on every tool; it is the type without its date.
  if (dialect === "anthropic-messages" && type !== "mcp_toolset")
    return { type, name: type.replace(DATE, "") };
  const container = type === "code_interpreter" && name !== "xai"; // xAI takes none
  return { type, ...(container ? { container: { type: "auto" } } : {}) };
}

/** Settings are logged so that every request can be rebuilt, so a field that holds a key cannot be a setting. */
const SECRETS: readonly string[] = ["authorization", "authorization_token", "headers"];

const DATE = /_\d{8}$/;

/** Claude requests these with an ordinary call, and the client answers it. */
const CLIENT_TOOLS = /^(?:bash|text_editor|memory|computer)_\d{8}$/;

/**
 * Required fields, from the official types (openai 7.53.0, @anthropic-ai/sdk 1.8.0). `a|b` means one of the two. Types
 * not listed here have none.
 */
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
