/**
 * Whether a value of a config file, of the environment or of `config set` is one its key takes. Answers with what is
 * wrong and where, in words; never repeats the value of a header.
 *
 * @module
 */

import { isObject } from "../../base/support/index.ts";
import { type ConfigKey, DIALECTS } from "./config-keys.ts";

export interface Complaint {
  /** Below the key: `mine.baseUrl`; empty for the value itself. */
  readonly at: string;
  readonly why: string;
}

const MAX_TEXT = 64 * 1024;

export function complaintAbout({ kind }: ConfigKey, value: unknown): Complaint | undefined {
  switch (kind.type) {
    case "text":
    case "path":
      if (typeof value !== "string" || value === "") return here("use a text");
      return value.length > MAX_TEXT ? here(`it is longer than ${MAX_TEXT} characters`) : undefined;
    case "choice":
      return typeof value === "string" && kind.values.includes(value)
        ? undefined
        : here(`use one of ${kind.values.join(", ")}`);
    case "integer":
      return Number.isSafeInteger(value) && Number(value) >= kind.least
        ? undefined
        : here(`use a whole number, ${kind.least} or more`);
    case "amount":
      return isAmount(value) && value > 0 ? undefined : here("use a number above 0");
    case "switch":
      return typeof value === "boolean" ? undefined : here("use true or false");
    case "names":
      return Array.isArray(value) && value.every((one) => typeof one === "string" && one !== "")
        ? undefined
        : here("use a list of names");
    case "providers":
      return entries(value, PROVIDER_NAME, checkProvider);
    case "profiles":
      return entries(value, PROVIDER_NAME, checkProfile);
    default:
      return here("unknown kind");
  }
}

const PROVIDER_NAME = /^[a-z][a-z0-9-]{0,39}$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** A key belongs into a variable, where it is known as a secret. */
const SECRET_HEADER = /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key)$/i;
const PROVIDER_FIELDS = ["dialect", "baseUrl", "keyVariable", "headers", "profile", "models", "prices"];
const PRICE_FIELDS = ["input", "output", "cachedInput"];

type Check = (entry: Readonly<Record<string, unknown>>) => Complaint | undefined;

function entries(value: unknown, name: RegExp, check: Check): Complaint | undefined {
  if (!isObject(value)) return here("use an object of named entries");
  for (const [key, entry] of Object.entries(value)) {
    if (!name.test(key))
      return { at: key, why: "a name is small letters, digits and -, beginning with a letter" };
    if (!isObject(entry)) return { at: key, why: "use an object" };
    const found = check(entry);
    if (found !== undefined) return { at: found.at === "" ? key : `${key}.${found.at}`, why: found.why };
  }
  return undefined;
}

function checkProvider(entry: Readonly<Record<string, unknown>>): Complaint | undefined {
  const unknown = Object.keys(entry).find((field) => !PROVIDER_FIELDS.includes(field));
  if (unknown !== undefined)
    return { at: unknown, why: `there is no such field; known are ${PROVIDER_FIELDS.join(", ")}` };
  const { dialect, baseUrl, keyVariable, headers, profile, models, prices } = entry;
  if (!DIALECTS.some((one) => one === dialect))
    return { at: "dialect", why: `use one of ${DIALECTS.join(", ")}` };
  const url = complaintAboutUrl(baseUrl);
  if (url !== undefined) return { at: "baseUrl", why: url };
  if (keyVariable !== undefined && !(typeof keyVariable === "string" && VARIABLE_NAME.test(keyVariable)))
    return { at: "keyVariable", why: "use the name of a variable of the environment, never a key itself" };
  if (profile !== undefined && (typeof profile !== "string" || profile === ""))
    return { at: "profile", why: "use the name of a profile" };
  if (
    models !== undefined &&
    !(Array.isArray(models) && models.every((one) => typeof one === "string" && one !== ""))
  )
    return { at: "models", why: "use a list of names" };
  return checkHeaders(headers) ?? checkPrices(prices);
}

function complaintAboutUrl(text: unknown): string | undefined {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    return "use a base URL that begins with http:// or https://";
  if (url.username !== "" || url.password !== "")
    return "leave user name and password out; name a keyVariable";
  return url.search === "" && url.hash === "" ? undefined : "leave out what follows ? or #";
}

function checkHeaders(headers: unknown): Complaint | undefined {
  if (headers === undefined) return undefined;
  if (!isObject(headers)) return { at: "headers", why: "use an object of texts" };
  for (const [name, value] of Object.entries(headers)) {
    const at = `headers.${name}`;
    if (!HEADER_NAME.test(name)) return { at, why: "that is not the name of a header" };
    if (SECRET_HEADER.test(name))
      return { at, why: "a key belongs into the environment: name its variable by keyVariable" };
    if (typeof value !== "string" || /[^\t\u0020-\u007E]/.test(value))
      return { at, why: "use a text of one line, without special characters" };
  }
  return undefined;
}

function checkPrices(prices: unknown): Complaint | undefined {
  if (prices === undefined) return undefined;
  if (!isObject(prices)) return { at: "prices", why: "use an object of prices by model" };
  for (const [model, price] of Object.entries(prices)) {
    const at = `prices.${model}`;
    if (!isObject(price)) return { at, why: "use { input, output, cachedInput } in USD per million tokens" };
    const unknown = Object.keys(price).find((field) => !PRICE_FIELDS.includes(field));
    if (unknown !== undefined)
      return { at: `${at}.${unknown}`, why: `there is no such field; known are ${PRICE_FIELDS.join(", ")}` };
    const bad = PRICE_FIELDS.find(
      (field) => !(field === "cachedInput" && price[field] === undefined) && !isAmount(price[field]),
    );
    if (bad !== undefined) return { at: `${at}.${bad}`, why: "use USD per million tokens, a number from 0" };
  }
  return undefined;
}

/** The fields themselves are known to the providers; here only that there is something to start from. */
function checkProfile(entry: Readonly<Record<string, unknown>>): Complaint | undefined {
  return typeof entry["extends"] === "string" && entry["extends"] !== ""
    ? undefined
    : { at: "extends", why: "name the profile it starts from" };
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function here(why: string): Complaint {
  return { at: "", why };
}
