/**
 * Checks of JSON values against the types of this folder. A check returns undefined if the value fits, and otherwise what
 * is wrong, as the rest of a sentence that begins with the field's name: `.text is not a string`.
 */

import { isObject } from "../support/index.ts";

export interface RequiredCheck {
  (value: unknown): string | undefined;
  readonly optional?: undefined;
}

export interface OptionalCheck {
  (value: unknown): string | undefined;
  readonly optional: true;
}

export type Check = RequiredCheck | OptionalCheck;

/** One check per field of `Type`. The compiler asks for a new one when a field is added or becomes optional. */
export type Shape<Type, Ignored = never> = {
  readonly [Key in Exclude<keyof Type, Ignored>]-?: undefined extends Type[Key]
    ? OptionalCheck
    : RequiredCheck;
};

export const text: RequiredCheck = (value) => (typeof value === "string" ? undefined : " is not a string");
export const flag: RequiredCheck = (value) => (typeof value === "boolean" ? undefined : " is not a boolean");
export const count: RequiredCheck = (value) => (Number.isFinite(value) ? undefined : " is not a number");
export const json: RequiredCheck = (value) => (isObject(value) ? undefined : " is not an object");
/** For a value that the caller reads as text. */
export const present: RequiredCheck = (value) => (value === undefined ? " is missing" : undefined);

export function optional(check: RequiredCheck): OptionalCheck {
  const own = (value: unknown): string | undefined => (value === undefined ? undefined : check(value));
  return Object.assign(own, { optional: true as const });
}

export function oneOf(...allowed: readonly unknown[]): RequiredCheck {
  return (value) =>
    allowed.includes(value) ? undefined : ` is ${JSON.stringify(value)}, which this version does not know`;
}

export function listOf(check: RequiredCheck): RequiredCheck {
  return (value) => {
    if (!Array.isArray(value)) return " is not a list";
    for (let index = 0; index < value.length; index += 1) {
      const problem = check(value[index]);
      if (problem !== undefined) return `[${index}]${problem}`;
    }
    return undefined;
  };
}

export function mapOf(check: RequiredCheck): RequiredCheck {
  return (value) => {
    if (!isObject(value)) return " is not an object";
    for (const key of Object.keys(value)) {
      const problem = check(value[key]);
      if (problem !== undefined) return `.${key}${problem}`;
    }
    return undefined;
  };
}

export function fields(shape: Readonly<Record<string, Check>>): RequiredCheck {
  const checks = Object.entries(shape);
  return (value) => {
    if (!isObject(value)) return " is not an object";
    for (const [name, check] of checks) {
      const problem = check(value[name]);
      if (problem !== undefined) return `.${name}${problem}`;
    }
    return undefined;
  };
}

/** The fields of `Type`, each with its check. */
export function shapeOf<Type>(shape: Shape<Type>): RequiredCheck {
  return fields(shape);
}

/** Chooses the check by the value of one field. */
export function byKind(kind: string, shapes: Readonly<Record<string, RequiredCheck>>): RequiredCheck {
  return (value) => {
    if (!isObject(value)) return " is not an object";
    const name = value[kind];
    const check = typeof name === "string" && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (check !== undefined) return check(value);
    return `.${kind} is ${JSON.stringify(name)}, which this version does not know`;
  };
}
