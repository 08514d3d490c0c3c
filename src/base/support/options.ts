/**
 * Checks options at run time: callers in JavaScript, and objects that were spread together, pass no compiler. An unknown
 * name or a wrong value throws before anything happens. A table has one check for each member of its options type, so
 * that the compiler asks for a check when an option is added.
 */

import { didYouMean } from "./closest.ts";
import type { ErrorCode } from "./error-codes.ts";
import { codedError, type ThroughlineError } from "./errors.ts";
import { isObject } from "./json-types.ts";
import { meantOption } from "./option-synonyms.ts";

/** Where a value was found: the function that was called, and the option's path, such as `limits.maxSteps`. */
export interface OptionPlace {
  readonly where: string;
  readonly path: string;
  readonly code: ErrorCode;
}

/** Returns what to use instead of a wrong value, as the rest of the sentence "use …", or undefined if it fits. */
export type OptionCheck = (value: unknown, place: OptionPlace) => string | undefined;

/** One check for each member of an options type. */
export type OptionChecks<Options> = { readonly [Key in keyof Options]-?: OptionCheck };

type AnyChecks = Readonly<Record<string, OptionCheck>>;

/**
 * Throws if options are not an object, have a name that the table lacks, or a value that its check refuses. An undefined
 * value counts as not given. `where` is the function as a caller writes it.
 */
export function checkOptions(
  where: string,
  given: unknown,
  checks: AnyChecks,
  code: ErrorCode = "options_invalid",
): void {
  if (!isPlainObject(given))
    throw codedError(code, `${where}: the options are ${shown(given)}: use an object`);
  checkMembers(given, checks, { where, path: "", code });
}

/** The check of options inside options: `limits`, `replay`. */
export function nested(checks: AnyChecks): OptionCheck {
  return (value, place) => {
    if (!isPlainObject(value)) return `an object with ${Object.keys(checks).join(", ")}`;
    checkMembers(value, checks, place);
    return undefined;
  };
}

/** Throws unless the check accepts the value: for an argument that is not part of an options object. */
export function checkArgument(where: string, name: string, value: unknown, check: OptionCheck): void {
  const place: OptionPlace = { where, path: name, code: "options_invalid" };
  const use = check(value, place);
  if (use !== undefined) throw refused(place, value, use);
}

function checkMembers(given: object, checks: AnyChecks, place: OptionPlace): void {
  const { where, code } = place;
  const prefix = place.path === "" ? "" : `${place.path}.`;
  const known = Object.keys(checks);
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      const hint = suggestion(name, known, prefix);
      throw codedError(code, `${where}: unknown option "${prefix}${name}"${hint}`);
    }
    if (value === undefined) continue;
    const own: OptionPlace = { where, code, path: `${prefix}${name}` };
    const use = check(value, own);
    if (use !== undefined) throw refused(own, value, use);
  }
}

function suggestion(name: string, known: readonly string[], prefix: string): string {
  const meant = meantOption(name, known);
  if (meant !== undefined) return `; did you mean "${prefix}${meant}"?`;
  const close = didYouMean(name, known);
  if (close !== "") return close.replace('"', `"${prefix}`);
  return known.length === 0 ? "; there are no options" : `; the options are ${known.join(", ")}`;
}

function refused({ where, path, code }: OptionPlace, value: unknown, use: string): ThroughlineError {
  const is = SECRET.test(path) ? kindOf(value) : shown(value);
  return codedError(code, `${where}: ${path} is ${is}: use ${use}`);
}

/** Options whose values may be keys. Their values are never repeated in a message. */
const SECRET = /(?:key|secrets?|token|url)$|headers|accounts/i;
const MOST_SHOWN = 60;

/** A value as a message shows it: short and on one line. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return value.length > MOST_SHOWN ? `a text of ${value.length} characters` : JSON.stringify(value);
  const plain = typeof value === "number" || typeof value === "boolean" || typeof value === "bigint";
  return plain ? `${value}` : kindOf(value);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function isPlainObject(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value);
}
