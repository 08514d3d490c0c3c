/**
 * The kinds of values that settings have. A kind defines its values in one place for the checker and its messages, the
 * published JSON Schema, the compiler, and the parser of environment variables and `config set`.
 */

import { didYouMean, isObject, type JsonObject, tryParseJson } from "../../base/support/index.ts";

export interface Complaint {
  /** The path below the value, such as `mine.baseUrl`; empty for the value itself. */
  readonly at: string;
  readonly why: string;
}

export interface Kind<T> {
  readonly schema: JsonObject;
  /** Returns what is wrong with a value, if anything. Never repeats the value. */
  readonly complaint: (value: unknown) => Complaint | undefined;
  /** Parses typed text. Returns text it cannot parse unchanged, for `complaint` to reject. */
  readonly fromText: (text: string) => unknown;
  /** Exists only for the compiler. */
  readonly values?: T;
}

export type ValueOf<K> = K extends Kind<infer T> ? T : never;

/** Creates a kind from a predicate. */
export function kind<T>(
  schema: JsonObject,
  why: string,
  fits: (value: unknown) => boolean,
  fromText: (text: string) => unknown = (text) => text,
): Kind<T> {
  return { schema, complaint: (value) => (fits(value) ? undefined : { at: "", why }), fromText };
}

const MAX_TEXT = 64 * 1024;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isAmount = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;
const numberIn = (text: string): unknown => (/^[\d.]+$/.test(text.trim()) ? Number(text) : text);

export function textKind(why: string): Kind<string> {
  return kind({ type: "string", minLength: 1 }, why, isText);
}

export const TEXT: Kind<string> = {
  ...textKind("use a text"),
  complaint: (value) =>
    isText(value) && value.length > MAX_TEXT
      ? { at: "", why: `it is longer than ${MAX_TEXT} characters` }
      : textKind("use a text").complaint(value),
};

export function choiceKind<const T extends string>(values: readonly T[]): Kind<T> {
  const why = `use one of ${values.join(", ")}`;
  return {
    ...kind({ enum: values }, why, () => true),
    complaint: (value) =>
      values.some((one) => one === value)
        ? undefined
        : { at: "", why: `${why}${typeof value === "string" ? didYouMean(value, values) : ""}` },
  };
}

export function integerKind(least: number): Kind<number> {
  const fits = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= least;
  return kind({ type: "integer", minimum: least }, `use a whole number, ${least} or more`, fits, numberIn);
}

export const POSITIVE: Kind<number> = kind(
  { type: "number", exclusiveMinimum: 0 },
  "use a number above 0",
  (value) => isAmount(value) && value > 0,
  numberIn,
);

export function amountKind(why: string): Kind<number> {
  return kind({ type: "number", minimum: 0 }, why, isAmount, numberIn);
}

export const SWITCH: Kind<boolean> = kind(
  { type: "boolean" },
  "use true or false",
  (value) => typeof value === "boolean",
  (text) => SWITCH_WORDS.get(text.trim().toLowerCase()) ?? text,
);

const SWITCH_WORDS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0"].map((word) => [word, false] as const),
]);

export const NAMES: Kind<readonly string[]> = kind(
  { type: "array", items: { type: "string", minLength: 1 } },
  "use a list of names",
  (value) => Array.isArray(value) && value.every(isText),
  namesIn,
);

/** A list whose entries may contain commas, so as text it is JSON, or a single rule. */
export const RULES: Kind<readonly string[]> = kind(
  { type: "array", items: { type: "string", minLength: 1 } },
  "use a list of rules such as run_command:git *",
  (value) => Array.isArray(value) && value.every(isText),
  (text) => (text.trimStart().startsWith("[") ? (tryParseJson(text) ?? text) : [text]),
);

/** Splits names separated by commas. */
export function namesIn(text: string): readonly string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Adds a description to the kind's schema. */
export function described<T>(told: Kind<T>, description: string): Kind<T> {
  return { ...told, schema: { ...told.schema, description } };
}

/** Creates a kind for an object with any number of named entries of one kind. */
export function recordKind<T>(
  entry: Kind<T>,
  words: {
    readonly why: string;
    /** More members of the schema. */
    readonly schema?: JsonObject;
    /** Returns what is wrong with a name, if anything. */
    readonly name?: (name: string) => string | undefined;
  },
): Kind<Readonly<Record<string, T>>> {
  return {
    schema: { type: "object", ...words.schema, additionalProperties: entry.schema },
    complaint: (value) => {
      if (!isObject(value)) return { at: "", why: words.why };
      for (const [name, one] of Object.entries(value)) {
        const why = words.name?.(name);
        const found = why === undefined ? entry.complaint(one) : { at: "", why };
        if (found !== undefined) return below(name, found);
      }
      return undefined;
    },
    fromText: (text) => tryParseJson(text) ?? text,
  };
}

export interface Optional<T> extends Kind<T> {
  readonly optional: true;
}

export function optional<T>(own: Kind<T>): Optional<T> {
  return { ...own, optional: true };
}

type Fields = Readonly<Record<string, Kind<unknown>>>;
type Required<F> = { [K in keyof F]: F[K] extends { optional: true } ? never : K }[keyof F];

export type ObjectOf<F> = { readonly [K in Required<F>]: ValueOf<F[K]> } & {
  readonly [K in Exclude<keyof F, Required<F>>]?: ValueOf<F[K]> | undefined;
};

/** Creates a kind for an object with these fields. With `open`, other fields are allowed and are checked elsewhere. */
export function objectKind<F extends Fields>(
  fields: F,
  options: { readonly why: string; readonly open?: boolean },
): Kind<ObjectOf<F>> {
  const names = Object.keys(fields);
  const isOptional = (field: Kind<unknown>): boolean => "optional" in field;
  return {
    schema: {
      type: "object",
      ...(options.open === true ? {} : { additionalProperties: false }),
      required: names.filter((name) => !isOptional(fields[name] as Kind<unknown>)),
      properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    },
    complaint: (value) => {
      if (!isObject(value)) return { at: "", why: options.why };
      const unknown = Object.keys(value).find((name) => !names.includes(name));
      if (options.open !== true && unknown !== undefined)
        return {
          at: unknown,
          why: `unknown field${didYouMean(unknown, names)}; use one of ${names.join(", ")}`.replace(
            "?; use",
            "? Use",
          ),
        };
      for (const [name, field] of Object.entries(fields)) {
        const found =
          value[name] === undefined && isOptional(field) ? undefined : field.complaint(value[name]);
        if (found !== undefined) return below(name, found);
      }
      return undefined;
    },
    fromText: (text) => tryParseJson(text) ?? text,
  };
}

function below(name: string, { at, why }: Complaint): Complaint {
  return { at: at === "" ? name : `${name}.${at}`, why };
}
