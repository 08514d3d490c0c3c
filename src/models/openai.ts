/**
 * `openai(model, options)`: a model on the OpenAI Responses API or on anything that speaks it.
 *
 * @module
 */

import { type ApiKey, createModel, type Model } from "../providers/index.ts";
import { type JsonObject, ThroughlineError } from "../support/index.ts";

export interface OpenAiOptions {
  /** Default: the environment's OPENAI_API_KEY. */
  readonly apiKey?: ApiKey;
  /** With `/v1`. Default: the environment's OPENAI_BASE_URL, else the public API. */
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly effort?: string;
  readonly summary?: "auto" | "concise" | "detailed" | "none";
  readonly reasoningContext?: "auto" | "current_turn" | "all_turns";
  /** How the endpoint departs from OpenAI's: `openai`, `open-responses`, `no-item-ids`, `prefix-bound`. */
  readonly profile?: string;
  /** Tools the provider runs: `web_search` … */
  readonly hosted?: readonly string[];
  readonly maxOutputTokens?: number;
  /** Sent as they are: temperature, top_p, tool_choice, metadata … */
  readonly parameters?: JsonObject;
}

const PUBLIC_API = "https://api.openai.com/v1";

export function openai(model: string, options: OpenAiOptions = {}): Model {
  if (model === "")
    throw new ThroughlineError({ code: "model_invalid", message: "the model's name is empty" });
  // An empty variable is as good as none.
  const baseUrl = checkedUrl(options.baseUrl ?? (process.env["OPENAI_BASE_URL"] || PUBLIC_API));
  const { apiKey, baseUrl: _baseUrl, profile, ...rest } = options;
  return createModel({
    ...rest,
    provider: "openai",
    model,
    profile: profile ?? "openai",
    endpointName: baseUrl,
    baseUrl: async () => baseUrl,
    apiKey: apiKey ?? process.env["OPENAI_API_KEY"],
    keyName: "OPENAI_API_KEY",
  });
}

function checkedUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw badUrl(text);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") throw badUrl(text);
  // It would stand in the log as part of every origin, and is not sent: the key is.
  if (url.username !== "" || url.password !== "") {
    throw new ThroughlineError({
      code: "base_url_invalid",
      message: `the base URL of ${url.host} holds a user name or password; only an API key is sent, so leave them out`,
    });
  }
  return text.replace(/\/+$/, "");
}

function badUrl(text: string): ThroughlineError {
  return new ThroughlineError({
    code: "base_url_invalid",
    message: `"${text}" is not a base URL: it should look like ${PUBLIC_API}`,
  });
}
