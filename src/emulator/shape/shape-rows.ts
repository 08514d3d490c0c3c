/**
 * Tables of what a JSON value may be. A row checks one thing and returns a refusal if it is wrong; rows run in order,
 * and the first refusal counts. They know no dialect: each dialect supplies its own refusals, and its limits as rows.
 */

import { arrayOf, isObject, type JsonObject } from "../../base/support/index.ts";
import { isOfKind, type ValueKind } from "./value-kind.ts";

export type Row<R> = (value: unknown, path: string) => R | undefined;

/** An API's refusals for errors that every API reports, and how it writes a path. */
export interface ShapeWords<R> {
  readonly at: (path: string, key: string | number) => string;
  readonly missing: (path: string, rule?: string) => R;
  readonly unknown: (path: string, rule?: string) => R;
  /** `expected`: a kind, or a custom description. */
  readonly kind: (path: string, value: unknown, expected: string, rule?: string) => R;
  readonly value: (path: string, value: unknown, allowed: readonly string[], rule?: string) => R;
}

export function rows<R>(...list: readonly Row<R>[]): Row<R> {
  return (value, path) => {
    for (const row of list) {
      const wrong = row(value, path);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

/** Accepts `null` as if the value were missing. */
export function orNull<R>(...list: readonly Row<R>[]): Row<R> {
  const row = rows(...list);
  return (value, path) => (value === null ? undefined : row(value, path));
}

/** For an API that converts values first: for example, anything that is not an object counts as an empty one. */
export function readAs<R>(read: (value: unknown) => unknown, ...list: readonly Row<R>[]): Row<R> {
  const row = rows(...list);
  return (value, path) => row(read(value), path);
}

/** Rows that depend on the object's own content. */
export function by<R>(choose: (value: JsonObject) => Row<R> | undefined): Row<R> {
  return (value, path) => (isObject(value) ? choose(value)?.(value, path) : undefined);
}

/** A limit: refuses a value for which `holds` is false. A missing value passes. */
export function ensure<R, T = unknown>(
  holds: (value: T) => boolean,
  refuse: (path: string, value: T) => R,
): Row<R> {
  return (value, path) => (value === undefined || holds(value as T) ? undefined : refuse(path, value as T));
}

function isOneOf(allowed: readonly string[], value: unknown): boolean {
  return typeof value === "string" && allowed.includes(value);
}

export type ShapeRows<R> = ReturnType<typeof shapeRows<R>>;

export function shapeRows<R>(words: ShapeWords<R>) {
  type List = readonly Row<R>[];
  const required =
    (rule?: string): Row<R> =>
    (value, path) =>
      value === undefined ? words.missing(path, rule) : undefined;
  /** Any other value counts as missing. */
  const mustBe =
    (kind: ValueKind, rule?: string): Row<R> =>
    (value, path) =>
      isOfKind(value, kind) ? undefined : words.missing(path, rule);
  const is = (kind: ValueKind | readonly ValueKind[], expected = String(kind), rule?: string): Row<R> => {
    const kinds = [kind].flat();
    return ensure(
      (value) => kinds.some((one) => isOfKind(value, one)),
      (path, value) => words.kind(path, value, expected, rule),
    );
  };
  const oneOf = (allowed: readonly string[], rule?: string): Row<R> =>
    ensure(
      (value) => isOneOf(allowed, value),
      (path, value) => words.value(path, value, allowed, rule),
    );
  /** Like `oneOf`, but a missing value is also wrong. */
  const mustBeOneOf =
    (allowed: readonly string[], rule?: string): Row<R> =>
    (value, path) =>
      isOneOf(allowed, value) ? undefined : words.value(path, value, allowed, rule);
  const field = (name: string, ...list: List): Row<R> => {
    const row = rows(...list);
    return (value, path) => (isObject(value) ? row(value[name], words.at(path, name)) : undefined);
  };
  /** Adds a name to the path of everything inside. */
  const under = (name: string, ...list: List): Row<R> => {
    const row = rows(...list);
    return (value, path) => row(value, words.at(path, name));
  };
  const each = (...list: List): Row<R> => {
    const row = rows(...list);
    return (value, path) => {
      for (const [index, item] of arrayOf(value).entries()) {
        const wrong = row(item, words.at(path, index));
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    };
  };
  const unknown =
    (rule?: string): Row<R> =>
    (_, path) =>
      words.unknown(path, rule);
  /** Refuses any other field. */
  const only = (names: readonly string[], rule?: string): Row<R> =>
    by((value) => {
      const stray = Object.keys(value).find((name) => !names.includes(name));
      return stray === undefined ? undefined : field(stray, unknown(rule));
    });
  /** Checks every field in the order sent; refuses any other field. */
  const sent = (kinds: ReadonlyMap<string, ValueKind>, nullable = (_name: string) => true): Row<R> =>
    by((value) =>
      rows(
        ...Object.keys(value).map((name) => {
          const kind = kinds.get(name);
          if (kind === undefined) return field(name, unknown());
          return field(name, nullable(name) ? orNull(is(kind)) : is(kind));
        }),
      ),
    );
  return { each, field, is, mustBe, mustBeOneOf, oneOf, only, required, sent, under };
}
