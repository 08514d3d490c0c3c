/**
 * Says why a question of a server must not be shown to a person. Such a question is declined at once. Everything in it
 * is from outside: its shape, its size and its address are checked here, and nothing of it is trusted later.
 */

import { isObject } from "../support/index.ts";
import { asksForSecret } from "./elicitation-secrets.ts";
import { checkElicitationValue, type Verdict } from "./elicitation-values.ts";
import type { Elicitation, ElicitationField, ElicitationOption } from "./elicitation.ts";
import { byKind, type Check, count, fields, flag, listOf, oneOf, optional, shapeOf, text } from "./shape.ts";

/** Characters, unless another unit is named. docs/api.md lists them. */
export const ELICITATION_LIMITS = {
  /** Fields of a form. */
  fields: 20,
  /** Options of a field. */
  options: 100,
  message: 4000,
  server: 100,
  name: 100,
  title: 200,
  description: 1000,
  option: 200,
  default: 4000,
  url: 2000,
} as const;

const base = {
  name: text,
  title: optional(text),
  description: optional(text),
  required: flag,
} satisfies Readonly<Record<string, Check>>;
const optionList = listOf(shapeOf<ElicitationOption>({ value: text, title: text }));
const number = fields({
  ...base,
  minimum: optional(count),
  maximum: optional(count),
  default: optional(count),
});

/** The shape of a field, for events too. A format is one of four; other words are a later version's. */
export const elicitationField = byKind("type", {
  string: fields({
    ...base,
    minLength: optional(count),
    maxLength: optional(count),
    format: optional(oneOf("email", "uri", "date", "date-time")),
    default: optional(text),
  }),
  number,
  integer: number,
  boolean: fields({ ...base, default: optional(flag) }),
  choice: fields({ ...base, options: optionList, default: optional(text) }),
  choices: fields({
    ...base,
    options: optionList,
    minItems: optional(count),
    maxItems: optional(count),
    default: optional(listOf(text)),
  }),
});

const shape = byKind("mode", {
  form: fields({ server: text, message: text, fields: listOf(elicitationField) }),
  url: fields({ server: text, message: text, url: text }),
});

/**
 * Reads a question from outside: only what this version knows of it is kept. Otherwise the problem says why it is not
 * shown, as the end of a sentence that begins with "it".
 */
export function readElicitation(given: unknown): Verdict<Elicitation> {
  const list = isObject(given) ? given["fields"] : undefined;
  // The size comes first: nothing looks at ten thousand fields.
  if (Array.isArray(list) && list.length > ELICITATION_LIMITS.fields)
    return refused(`has ${list.length} fields, and at most ${ELICITATION_LIMITS.fields} are shown`);
  if (shape(given) !== undefined) return refused("has a form that this version does not know");
  const request = knownParts(given as Elicitation);
  const problem = problemOf(request);
  return problem === undefined ? { ok: true, value: request } : refused(problem);
}

function refused(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

function knownParts(request: Elicitation): Elicitation {
  const { server, message } = request;
  if (request.mode === "url") return { server, message, mode: "url", url: request.url };
  return { server, message, mode: "form", fields: request.fields.map((field) => knownField(field)) };
}

const OF_FIELD = [
  "name",
  "title",
  "description",
  "required",
  "type",
  "default",
  "format",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
] as const;

function knownField(field: ElicitationField): ElicitationField {
  const given: Readonly<Record<string, unknown>> = { ...field };
  const known = OF_FIELD.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]);
  const options =
    field.type === "choice" || field.type === "choices"
      ? { options: field.options.map(({ value, title }) => ({ value, title })) }
      : {};
  return { ...Object.fromEntries(known), ...options } as ElicitationField;
}

function problemOf(request: Elicitation): string | undefined {
  const { server, message } = request;
  if (server === "" || server.length > ELICITATION_LIMITS.server) return "does not say who asks";
  if (message.length > ELICITATION_LIMITS.message)
    return `has a message of more than ${ELICITATION_LIMITS.message} characters`;
  if (request.mode === "url") return addressProblem(request.url);
  if (request.fields.length === 0) return "has no field that this version knows";
  if (new Set(request.fields.map(({ name }) => name)).size < request.fields.length)
    return "has two fields of one name";
  for (const field of request.fields) {
    const problem = fieldProblem(field);
    if (problem !== undefined) return problem;
  }
  return asksForSecret(request) ? "asks for a secret, or mentions one" : undefined;
}

function fieldProblem(field: ElicitationField): string | undefined {
  const { name, title = "", description = "" } = field;
  const most = ELICITATION_LIMITS;
  if (name === "" || name.length > most.name || title.length > most.title)
    return "has a field whose name or title is empty or too long";
  if (description.length > most.description)
    return `has a description of more than ${most.description} characters`;
  if (typeof field.default === "string" && field.default.length > most.default)
    return `has a default of more than ${most.default} characters`;
  if (field.type === "choice" || field.type === "choices") {
    if (field.options.length === 0) return "has a field without options";
    if (field.options.length > most.options)
      return `has ${field.options.length} options in one field, and at most ${most.options} are shown`;
    if (field.options.some((one) => one.value.length > most.option || one.title.length > most.option))
      return `has an option of more than ${most.option} characters`;
    if (new Set(field.options.map(({ value }) => value)).size < field.options.length)
      return "has two options of one value";
  }
  if (field.default !== undefined && !checkElicitationValue(field, field.default).ok)
    return "has a default that does not fit its own field";
  return undefined;
}

/** Only an address of the web, and none that pretends to be another one by a name before the host. */
function addressProblem(address: string): string | undefined {
  if (address.length > ELICITATION_LIMITS.url)
    return `has an address of more than ${ELICITATION_LIMITS.url} characters`;
  const url = parsed(address);
  if (url === undefined) return "has an address that is none";
  if (url.username !== "" || url.password !== "" || /^[a-z]+:[/\\]*[^/\\?#]*@/i.test(address))
    return "has an address with a user name, which hides its host";
  if (url.protocol === "https:") return undefined;
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === "http:" && isHere ? undefined : "has an address that is not an https one";
}

/**
 * The host of an address as the network knows it: letters of other scripts in the form `xn--…`, so that no host looks
 * like another.
 */
export function hostOfAddress(address: string): string {
  return parsed(address)?.host ?? "";
}

/** The address as it is opened: every character that is not ASCII is escaped. */
export function plainAddress(address: string): string {
  return parsed(address)?.href ?? "";
}

function parsed(address: string): URL | undefined {
  try {
    return new URL(address);
  } catch {
    return undefined; // URL.canParse is missing in some browsers.
  }
}
