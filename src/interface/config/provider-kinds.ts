/** An endpoint of the settings, its prices, and a profile of one's own. */

import type { Dialect } from "../../base/events/index.ts";
import { addressProblem, isObject, type JsonObject, tryParseJson } from "../../base/support/index.ts";
import {
  amountKind,
  choiceKind,
  type Complaint,
  described,
  type Kind,
  kind,
  NAMES,
  objectKind,
  optional,
  recordKind,
  textKind,
  type ValueOf,
} from "./value-kinds.ts";

const DIALECTS: readonly Dialect[] = ["openai-responses", "openai-chat", "anthropic-messages"];
const ENTRY_NAME = /^[a-z][a-z0-9-]{0,39}$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** A key belongs into a variable, where it is known as a secret. */
const SECRET_HEADER = /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key)$/i;

const PRICE_AMOUNT = amountKind("use USD per million tokens, a number from 0");

const PRICE = objectKind(
  { input: PRICE_AMOUNT, output: PRICE_AMOUNT, cachedInput: optional(PRICE_AMOUNT) },
  { why: "use { input, output, cachedInput } in USD per million tokens" },
);

const BASE_URL: Kind<string> = {
  ...kind({ type: "string", pattern: "^https?://" }, "", () => true),
  complaint: complaintAboutUrl,
};

const HEADER: Kind<string> = kind(
  { type: "string" },
  "use a text of one line, without special characters",
  (value) => typeof value === "string" && !/[^\t\u0020-\u007E]/.test(value),
);

const PROVIDER = objectKind(
  {
    dialect: choiceKind(DIALECTS),
    baseUrl: BASE_URL,
    keyVariable: optional(
      kind<string>(
        {
          type: "string",
          pattern: VARIABLE_NAME.source,
          description: "the variable of the environment that holds the key; none: no key is sent",
        },
        "use the name of a variable of the environment, never a key itself",
        (value) => typeof value === "string" && VARIABLE_NAME.test(value),
      ),
    ),
    headers: optional(recordKind(HEADER, { why: "use an object of texts", name: complaintAboutHeader })),
    profile: optional(textKind("use the name of a profile")),
    models: optional(described(NAMES, "names for the list of models")),
    prices: optional(
      recordKind(PRICE, {
        why: "use an object of prices by model",
        schema: { description: "USD per million tokens, by model" },
      }),
    ),
  },
  { why: "use an object" },
);

export type ProviderConfig = ValueOf<typeof PROVIDER>;

const PROFILE = objectKind(
  { extends: described(textKind("name the profile it starts from"), "the profile it starts from") },
  { why: "use an object", open: true },
);

/** A built-in or own profile, and the fields that differ from it: those are known to the providers. */
export type ProfileConfig = JsonObject & ValueOf<typeof PROFILE>;

function named<T>(entry: Kind<T>): Kind<Readonly<Record<string, T>>> {
  return recordKind(entry, {
    why: "use an object of named entries",
    schema: { propertyNames: { pattern: ENTRY_NAME.source } },
    name: (name) =>
      ENTRY_NAME.test(name) ? undefined : "a name is small letters, digits and -, beginning with a letter",
  });
}

/** As the providers' options take them: the type alone, or the whole object. What an API asks of one is known there. */
const HOSTED_TOOLS: Kind<readonly HostedToolConfig[]> = kind(
  {
    type: "array",
    items: {
      anyOf: [
        { type: "string", minLength: 1 },
        { type: "object", required: ["type"], properties: { type: { type: "string", minLength: 1 } } },
      ],
    },
  },
  "use a list of types, or of objects with a type",
  (value) => Array.isArray(value) && value.every((tool) => isName(isObject(tool) ? tool["type"] : tool)),
  (text) => tryParseJson(text) ?? text,
);

type HostedToolConfig = string | (JsonObject & { readonly type: string });

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

export const HOSTED_ENTRIES = named(HOSTED_TOOLS);
export const PROVIDER_ENTRIES = named(PROVIDER);
export const PROFILE_ENTRIES = named<ProfileConfig>(PROFILE);

function complaintAboutUrl(text: unknown): Complaint | undefined {
  const problem = typeof text === "string" ? addressProblem(text) : "is not a text";
  return problem === undefined
    ? undefined
    : { at: "", why: `it ${problem}: use a base URL like https://host/v1, and name the key's keyVariable` };
}

function complaintAboutHeader(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return "that is not the name of a header";
  return SECRET_HEADER.test(name)
    ? "a key belongs into the environment: name its variable by keyVariable"
    : undefined;
}
