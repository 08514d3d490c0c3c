/** Creates a model on an endpoint. The result has the same interface in every dialect. */

import { createHash } from "node:crypto";

import { type Capabilities, asEffort, type Effort, type Profile } from "../../base/events/index.ts";
import type { JsonObject } from "../../base/support/index.ts";
import { codedError, didYouMean, messageOf } from "../../base/support/index.ts";
import { capabilitiesOf, profileFor, takesReasoningParameters } from "./capabilities.ts";
import { driverOf } from "./dialects.ts";
import { PROFILES } from "./profiles/index.ts";
import { type ProviderTool, checkedProviderTools } from "./provider-tools.ts";
import type { Model, ModelSettings } from "./provider.ts";
import { type Endpoint, sendRequest } from "./transport.ts";

export type ApiKey = string | (() => Promise<string> | string);

export interface CreateModelOptions {
  readonly provider: string;
  readonly model: string;
  /** The name of a known profile, or a custom profile. The profile determines the dialect. */
  readonly profile: string | Profile;
  readonly capabilities?: Partial<Capabilities> | undefined;
  /** The endpoint's name in the origin. An endpoint on a changing port needs a fixed name. */
  readonly endpointName: string;
  readonly baseUrl: () => Promise<string>;
  readonly apiKey: ApiKey | undefined;
  readonly keyName: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The header for the key, if the dialect's default does not fit: `api-key` (Azure). */
  readonly keyHeader?: string | undefined;
  readonly effort?: Effort | undefined;
  readonly summary?: string | undefined;
  readonly reasoningContext?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly providerTools?: readonly ProviderTool[] | undefined;
  readonly parameters?: JsonObject | undefined;
}

export function createModel(options: CreateModelOptions): Model {
  const settings = settingsOf(options);
  const driver = driverOf(settings.profile.dialect);
  const loaded = new Set<string>();
  const endpoint: Endpoint = {
    baseUrl: options.baseUrl,
    path: driver.path,
    // Headers set by the user win over the protocol's own: a gateway may expect the key elsewhere.
    headers: (key) => ({ ...keyHeaders(driver.headers(key, settings), key, options), ...options.headers }),
    createDecoder: () => driver.createDecoder(),
    keyName: options.keyName,
    async apiKey() {
      const key = typeof options.apiKey === "function" ? await called(options.apiKey) : options.apiKey;
      if (key !== undefined && key !== "") loaded.add(key);
      return key;
    },
  };
  if (typeof options.apiKey === "string" && options.apiKey !== "") loaded.add(options.apiKey);
  return {
    label: `${options.provider}/${options.model}`,
    settings,
    secrets: () => [...loaded],
    withEffort: (effort) => createModel({ ...options, effort }),
    createRenderer: () => driver.createRenderer(),
    send: (body, sendOptions) => sendRequest(endpoint, body, sendOptions),
  };
}

/** A key that could not be fetched is not a lost connection, and sending the same request again does not help. */
async function called(apiKey: () => Promise<string> | string): Promise<string | undefined> {
  let key: unknown;
  try {
    key = await apiKey();
  } catch (error) {
    throw keyFailed(`failed (${messageOf(error)})`, error);
  }
  if (key === undefined || typeof key === "string") return key;
  throw keyFailed(`returned ${typeof key} instead of a string`);
}

function keyFailed(why: string, cause?: unknown): Error {
  return codedError("api_key_failed", `the apiKey function ${why}, so the request was not sent`, cause);
}

function settingsOf(options: CreateModelOptions): ModelSettings {
  const { model } = options;
  const profile = profileFor(namedProfile(options.profile), model);
  const { dialect } = profile;
  if (options.effort !== undefined) asEffort(options.effort); // a caller in JavaScript may give anything
  const plain = dialect === "openai-responses" && !takesReasoningParameters(model);
  const summary = options.summary ?? (plain ? "none" : undefined);
  return {
    target: {
      provider: options.provider,
      dialect,
      model,
      endpoint: options.endpointName,
      credential: fingerprint(options.apiKey),
    },
    profile,
    capabilities: capabilitiesOf(dialect, model, options.capabilities),
    effort: options.effort,
    summary,
    reasoningContext: options.reasoningContext,
    maxOutputTokens: options.maxOutputTokens,
    hosted: checkedProviderTools(options.providerTools ?? [], profile),
    parameters: options.parameters ?? {},
    renderer: driverOf(dialect).rendererVersion,
  };
}

function keyHeaders(
  headers: Readonly<Record<string, string>>,
  key: string,
  { keyHeader }: CreateModelOptions,
): Readonly<Record<string, string>> {
  if (keyHeader === undefined) return headers;
  const { authorization: _bearer, "x-api-key": _own, ...rest } = headers;
  return { ...rest, [keyHeader]: key };
}

function namedProfile(profile: string | Profile): Profile {
  if (typeof profile !== "string") return profile;
  const known = Object.hasOwn(PROFILES, profile) ? PROFILES[profile] : undefined;
  if (known !== undefined) return known;
  throw codedError(
    "profile_unknown",
    `unknown profile "${profile}"; use one of ${Object.keys(PROFILES).join(", ")}${didYouMean(profile, Object.keys(PROFILES))}`,
  );
}

/** Tells accounts apart without revealing the key. A key from a function may rotate within one account. */
function fingerprint(key: ApiKey | undefined): string {
  if (key === undefined || key === "") return "none";
  if (typeof key === "function") return "function";
  return createHash("sha256").update(`throughline credential ${key}`).digest("hex").slice(0, 12);
}
