/** A model on a named endpoint. Options override the environment, and the environment overrides the table. */

import type { Effort } from "../../base/events/index.ts";
import {
  addressProblem,
  aText,
  checkArgument,
  codedError,
  type JsonObject,
} from "../../base/support/index.ts";
import {
  type ApiKey,
  type Capabilities,
  createModel,
  type CreateModelOptions,
  type Model,
  type Profile,
  type ProfileName,
} from "../providers/index.ts";
import { givenPrice, type GivenPrice, priced } from "./prices.ts";
import { type Provider, urlFromEnvironment } from "./providers.ts";

/** Options that every model on an endpoint takes. */
export interface ModelOptions {
  /** A string, or a function called before each request. Default: the provider's environment variable. */
  readonly apiKey?: ApiKey | undefined;
  /** With `/v1` for OpenAI's dialects, without for Anthropic's. Default: the provider's variable or address. */
  readonly baseUrl?: string | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How hard the model thinks. Default: the provider's choice. */
  readonly effort?: Effort | undefined;
  /** How the endpoint departs from its dialect: a name in `PROFILES`, or a custom profile. */
  readonly profile?: ProfileName | (string & {}) | Profile | undefined;
  /** Overrides the table of models: context size, vision … */
  readonly capabilities?: Partial<Capabilities> | undefined;
  /** The limit of one answer, in tokens. Default: not sent; Claude: 32,000. */
  readonly maxOutputTokens?: number | undefined;
  /** Sent unchanged: temperature, top_p, tool_choice, metadata … */
  readonly parameters?: JsonObject | undefined;
  /** What the model costs, for the limits of cost. Default: the table of prices, on the provider's own endpoint. */
  readonly price?: GivenPrice | undefined;
}

type Rest = Pick<CreateModelOptions, "summary" | "reasoningContext" | "providerTools">;

export function endpointModel(provider: Provider, model: string, options: ModelOptions & Rest): Model {
  checkArgument(provider.name, "model", model, aText);
  if (model === "") {
    throw codedError("model_invalid", "the model's name is empty");
  }
  const baseUrl = baseUrlOf(provider, options.baseUrl);
  const { apiKey, baseUrl: _baseUrl, profile, headers, price, ...rest } = options;
  const { keyVariable, keyHeader } = provider;
  const fallback = provider.keyOptional === true ? "not-needed" : undefined;
  return priced(
    createModel({
      ...rest,
      provider: provider.name,
      model,
      profile: profile ?? provider.profile,
      endpointName: baseUrl,
      baseUrl: async () => baseUrl,
      apiKey: apiKey ?? ((keyVariable === undefined ? undefined : process.env[keyVariable]) || fallback),
      keyName: keyVariable ?? "an API key",
      keyHeader,
      headers: { ...provider.headers, ...headers },
    }),
    price && givenPrice(price),
  );
}

function baseUrlOf(provider: Provider, given: string | undefined): string {
  const { baseUrlVariable } = provider;
  const text = given ?? urlFromEnvironment(provider) ?? provider.baseUrl;
  if (text === undefined) {
    throw codedError(
      "base_url_missing",
      `${provider.name} has no default address. Set ${baseUrlVariable ?? "baseUrl"} to the base URL of your endpoint`,
    );
  }
  const source =
    given !== undefined
      ? "baseUrl"
      : text === provider.baseUrl
        ? "its baseUrl"
        : (baseUrlVariable ?? "baseUrl");
  return checkedUrl(text, source, provider);
}

/** The message names the source of the address, never the address itself, which may hold a key. */
function checkedUrl(text: string, source: string, { name, keyVariable }: Provider): string {
  const problem = addressProblem(text);
  if (problem === undefined) return text.replace(/\/+$/, "");
  const key = keyVariable === undefined ? "apiKey" : `${keyVariable} or apiKey`;
  throw codedError(
    "base_url_invalid",
    `the base URL of ${name} (${source}) ${problem}. It should look like https://api.openai.com/v1. It is stored in the log, so it must not contain a key. Give the key as ${key}, and anything else as headers`,
  );
}
