/**
 * Checks what a person typed against the fields of a form. Every front end uses it before it sends an answer, and the
 * runtime uses it again before anything goes to the server.
 */

import { assertNever, isObject } from "../support/index.ts";
import { formatProblem } from "./elicitation-formats.ts";
import {
  type ChoiceField,
  type ChoicesField,
  type Elicitation,
  type ElicitationAnswer,
  type ElicitationContent,
  type ElicitationField,
  type ElicitationValue,
  fieldTitle,
  type NumberField,
  type TextField,
} from "./elicitation.ts";

/** No value of a form is longer, whatever the server allows. */
export const LONGEST_VALUE = 10_000;

export type Verdict<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

export type CheckedValues =
  | { readonly ok: true; readonly content: ElicitationContent }
  /** What is wrong, by the name of the field. */
  | { readonly ok: false; readonly problems: Readonly<Record<string, string>> };

/**
 * Applies defaults to absent values, converts texts to the type of their field, and checks everything. An empty text is
 * no value: an optional field is then left out.
 */
export function checkElicitationValues(
  fields: readonly ElicitationField[],
  values: Readonly<Record<string, unknown>>,
): CheckedValues {
  const content: [string, ElicitationValue][] = [];
  const problems: [string, string][] = [];
  for (const field of fields) {
    const given = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    const verdict = checkElicitationValue(field, given);
    if (!verdict.ok) problems.push([field.name, verdict.problem]);
    else if (verdict.value !== undefined) content.push([field.name, verdict.value]);
  }
  const known = new Set(fields.map(({ name }) => name));
  for (const name of Object.keys(values))
    if (!known.has(name)) problems.push([name, "is not a field of this form"]);
  return problems.length === 0
    ? { ok: true, content: Object.fromEntries(content) }
    : { ok: false, problems: Object.fromEntries(problems) };
}

/** Checks the value of one field. Undefined as a value means that the field is left out. */
export function checkElicitationValue(
  field: ElicitationField,
  given: unknown,
): Verdict<ElicitationValue | undefined> {
  const value = given === undefined ? field.default : given;
  const isEmpty = value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  if (isEmpty && field.required && !(field.type === "choices" && fitsNone(field, value)))
    return refused("needs a value");
  if (value === undefined || value === "") return { ok: true, value: undefined };
  switch (field.type) {
    case "string":
      return textValue(field, value);
    case "number":
    case "integer":
      return numberValue(field, value);
    case "boolean":
      return flagValue(value);
    case "choice":
      return choiceValue(field, value);
    case "choices":
      return choicesValue(field, value);
    default:
      return assertNever(field, "field");
  }
}

/** An empty list is a value where the server asks for no minimum. */
function fitsNone({ minItems = 0 }: ChoicesField, value: unknown): boolean {
  return Array.isArray(value) && minItems === 0;
}

function refused(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

function textValue(field: TextField, value: unknown): Verdict<string> {
  if (typeof value !== "string") return refused("must be a text");
  const { length } = Array.from(value);
  const { minLength = 0, maxLength = LONGEST_VALUE, format } = field;
  const most = Math.min(maxLength, LONGEST_VALUE);
  if (length < minLength) return refused(`must have at least ${characters(minLength)}`);
  if (length > most) return refused(`must have at most ${characters(most)}`);
  const problem = format === undefined ? undefined : formatProblem(format, value);
  return problem === undefined ? { ok: true, value } : refused(problem);
}

function characters(count: number): string {
  return `${count} ${count === 1 ? "character" : "characters"}`;
}

const NUMERAL = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;

function numberValue({ type, minimum, maximum }: NumberField, value: unknown): Verdict<number> {
  const text = typeof value === "string" ? value.trim() : undefined;
  const number = text !== undefined && NUMERAL.test(text) ? Number(text) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) return refused("must be a number");
  if (type === "integer" && !Number.isSafeInteger(number)) return refused("must be a whole number");
  if (minimum !== undefined && number < minimum) return refused(`must be at least ${minimum}`);
  if (maximum !== undefined && number > maximum) return refused(`must be at most ${maximum}`);
  return { ok: true, value: number };
}

const YES = /^(?:y|yes|true)$/i;
const NO = /^(?:n|no|false)$/i;

function flagValue(value: unknown): Verdict<boolean> {
  if (typeof value === "boolean") return { ok: true, value };
  const text = typeof value === "string" ? value.trim() : "";
  if (YES.test(text)) return { ok: true, value: true };
  return NO.test(text) ? { ok: true, value: false } : refused("must be yes or no");
}

function choiceValue({ options }: ChoiceField, value: unknown): Verdict<string> {
  const found = options.find((option) => option.value === value);
  return found === undefined ? refused("must be one of the options") : { ok: true, value: found.value };
}

function choicesValue(field: ChoicesField, value: unknown): Verdict<readonly string[]> {
  const { options, minItems = 0, maxItems = options.length } = field;
  if (!Array.isArray(value)) return refused("must be a list of the options");
  const chosen = options.map((option) => option.value).filter((one) => value.includes(one));
  if (chosen.length < value.length) return refused("must be options, each at most once");
  if (chosen.length < minItems) return refused(`needs at least ${minItems} of the options`);
  if (chosen.length > maxItems) return refused(`takes at most ${maxItems} of the options`);
  return { ok: true, value: chosen };
}

/**
 * Reads a line that a person typed for a field. Options are numbered from 1 on the screen, so a number counts before a
 * name. An empty line is the default, and `-` leaves an optional field out.
 */
export function typedElicitationValue(
  field: ElicitationField,
  line: string,
): Verdict<ElicitationValue | undefined> {
  const text = line.trim();
  if (text === "") return checkElicitationValue(field, undefined);
  if (text === "-" && !field.required) return { ok: true, value: undefined };
  if (field.type === "choice") return checkElicitationValue(field, optionIn(field, text) ?? text);
  if (field.type === "choices") {
    const parts = text.split(",").map((part) => part.trim());
    const chosen = parts.filter((part) => part !== "").map((part) => optionIn(field, part) ?? part);
    return checkElicitationValue(field, chosen);
  }
  return checkElicitationValue(field, field.type === "string" ? line : text);
}

function optionIn({ options }: ChoiceField | ChoicesField, text: string): string | undefined {
  const numbered = /^\d{1,4}$/.test(text) ? options[Number(text) - 1] : undefined;
  const same = (one: string): boolean => one.toLowerCase() === text.toLowerCase();
  const named = options.find(({ value }) => same(value)) ?? options.find(({ title }) => same(title));
  return (numbered ?? named)?.value;
}

/**
 * Reads an answer from outside. Anything but a complete, valid answer is none: the problem says what to change, and the
 * question stays open.
 */
export function readElicitationAnswer(request: Elicitation, given: unknown): Verdict<ElicitationAnswer> {
  const { action, content, ...more } = isObject(given) ? given : {};
  const unknown = Object.keys(more)[0];
  if (unknown !== undefined) return refused(`the answer has an unknown field ${JSON.stringify(unknown)}`);
  if (action !== "accept" && action !== "decline" && action !== "cancel")
    return refused('the answer needs an action: "accept", "decline" or "cancel"');
  if (action !== "accept")
    return content === undefined
      ? { ok: true, value: { action } }
      : refused("only an answer that accepts has content");
  if (content !== undefined && !isObject(content)) return refused("content must be an object");
  const checked = checkElicitationValues(request.mode === "form" ? request.fields : [], content ?? {});
  return checked.ok
    ? { ok: true, value: { action, content: checked.content } }
    : refused(problemsText(request, checked.problems));
}

function problemsText(request: Elicitation, problems: Readonly<Record<string, string>>): string {
  const fields = request.mode === "form" ? request.fields : [];
  return Object.entries(problems)
    .map(([name, problem]) => {
      const field = fields.find((one) => one.name === name);
      return `${JSON.stringify(field === undefined ? name.slice(0, 100) : fieldTitle(field))} ${problem}`;
    })
    .slice(0, MOST_PROBLEMS)
    .join("; ");
}

const MOST_PROBLEMS = 20;
