/** The kinds of endpoints, their prices and custom profiles in the settings. */

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
/** Headers that carry a key, which belongs in a variable, where it is treated as a secret. */
const SECRET_HEADER = /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key)$/i;

const PRICE_AMOUNT = amountKind("use USD per million tokens, a number of 0 or more");

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
  "use one line of ASCII text",
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
          description: "the environment variable that holds the key; without it, no key is sent",
        },
        "use the name of an environment variable, never the key itself",
        (value) => typeof value === "string" && VARIABLE_NAME.test(value),
      ),
    ),
    headers: optional(recordKind(HEADER, { why: "use an object of texts", name: complaintAboutHeader })),
    profile: optional(textKind("use the name of a profile")),
    models: optional(described(NAMES, "models to list")),
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

/** The profile to start from, and the fields that differ from it. The providers know the fields. */
export type ProfileConfig = JsonObject & ValueOf<typeof PROFILE>;

function named<T>(entry: Kind<T>): Kind<Readonly<Record<string, T>>> {
  return recordKind(entry, {
    why: "use an object of named entries",
    schema: { propertyNames: { pattern: ENTRY_NAME.source } },
    name: (name) =>
      ENTRY_NAME.test(name)
        ? undefined
        : "a name consists of lower-case letters, digits and -, and starts with a letter",
  });
}

/** In the form of the providers' options: a type, or a whole object. The providers check what their API needs. */
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
    : {
        at: "",
        why: `it ${problem}: use a base URL like https://host/v1, and name the key's variable in keyVariable`,
      };
}

function complaintAboutHeader(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return "not a valid header name";
  return SECRET_HEADER.test(name)
    ? "put the key in an environment variable and name it in keyVariable"
    : undefined;
}
