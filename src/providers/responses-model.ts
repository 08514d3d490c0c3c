/**
 * A model on a Responses endpoint, as the turn uses it.
 *
 * @module
 */

import { createHash } from "node:crypto";

import type { JsonObject } from "../support/index.ts";
import { ThroughlineError } from "../support/index.ts";
import {
  type Endpoint,
  RENDERER_VERSION,
  ResponsesRenderer,
  sendResponses,
} from "./openai-responses/index.ts";
import { capabilitiesOf, EFFORTS, PROFILES, takesReasoningParameters } from "./profiles.ts";
import type { Model, ModelSettings } from "./provider.ts";

export type ApiKey = string | (() => Promise<string> | string);

export interface ResponsesModelOptions {
  readonly provider: string;
  readonly model: string;
  readonly profile: string;
  /** What stands in the origin; an endpoint on a changing port has a fixed name. */
  readonly endpointName: string;
  readonly baseUrl: () => Promise<string>;
  readonly apiKey: ApiKey | undefined;
  readonly keyName: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly effort?: string;
  readonly summary?: string;
  readonly reasoningContext?: string;
  readonly maxOutputTokens?: number;
  readonly hosted?: readonly string[];
  readonly parameters?: JsonObject;
}

export function createResponsesModel(options: ResponsesModelOptions): Model {
  const settings = settingsOf(options);
  const loaded = new Set<string>();
  const endpoint: Endpoint = {
    baseUrl: options.baseUrl,
    headers: options.headers ?? {},
    keyName: options.keyName,
    async apiKey() {
      const key = typeof options.apiKey === "function" ? await options.apiKey() : options.apiKey;
      if (key !== undefined && key !== "") loaded.add(key);
      return key;
    },
  };
  if (typeof options.apiKey === "string" && options.apiKey !== "") loaded.add(options.apiKey);
  return {
    label: `${options.provider}/${options.model}`,
    settings,
    secrets: () => [...loaded],
    withEffort: (effort) => createResponsesModel({ ...options, effort }),
    createRenderer: () => new ResponsesRenderer(),
    send: (body, sendOptions) => sendResponses(endpoint, body, sendOptions),
  };
}

function settingsOf(options: ResponsesModelOptions): ModelSettings {
  const { model } = options;
  const profile = PROFILES[options.profile];
  if (profile === undefined) {
    throw new ThroughlineError({
      code: "profile_unknown",
      message: `there is no profile "${options.profile}"; known are ${Object.keys(PROFILES).join(", ")}`,
    });
  }
  if (options.effort !== undefined && !EFFORTS.has(options.effort)) {
    throw new ThroughlineError({
      code: "effort_unknown",
      message: `"${options.effort}" is not an effort; known are ${[...EFFORTS].join(", ")}`,
    });
  }
  const summary = options.summary ?? (takesReasoningParameters(model) ? undefined : "none");
  return {
    target: {
      provider: options.provider,
      dialect: "openai-responses",
      model,
      endpoint: options.endpointName,
      credential: fingerprint(options.apiKey),
    },
    profile,
    capabilities: capabilitiesOf(model),
    ...(options.effort === undefined ? {} : { effort: options.effort }),
    ...(summary === undefined ? {} : { summary }),
    ...(options.reasoningContext === undefined ? {} : { reasoningContext: options.reasoningContext }),
    ...(options.maxOutputTokens === undefined ? {} : { maxOutputTokens: options.maxOutputTokens }),
    hosted: (options.hosted ?? []).map((type) => ({ type })),
    parameters: options.parameters ?? {},
    renderer: RENDERER_VERSION,
  };
}

/** Tells accounts apart without telling the key. A key that is a function may rotate within one account. */
function fingerprint(key: ApiKey | undefined): string {
  if (key === undefined || key === "") return "none";
  if (typeof key === "function") return "function";
  return createHash("sha256").update(`throughline credential ${key}`).digest("hex").slice(0, 12);
}
