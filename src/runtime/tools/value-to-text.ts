/**
 * Text for any JavaScript value that a tool may return or throw. Never throws, always terminates and never produces a
 * lone surrogate: tools are third-party code, and every call must get a result (law 7). JSON.stringify cannot do this:
 * it throws on bigints, cycles, throwing getters and deep nesting, turns a Map into `{}` and a Buffer into a list of
 * numbers, and takes exponential time on a graph of shared nodes.
 */

import { types } from "node:util";

/** Keeps recursion far from the stack limit; deeper data is useless to a model. */
const MAX_DEPTH = 200;
/** Bounds time and memory for values that expand endlessly, such as shared nodes or generated getters. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

export function valueToText(value: unknown): string {
  return replaceLoneSurrogates(attempt(() => topLevelText(value)));
}

function topLevelText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  if (value instanceof Error) return errorText(value);
  if (isLeaf(value)) return leafText(value);
  const bytes = bytesOf(value);
  if (bytes !== undefined) return bytesText(bytes);
  const writer = new JsonWriter();
  writer.write(value, 0);
  return writer.text();
}

class JsonWriter {
  readonly #chunks: string[] = [];
  readonly #ancestors = new Set<object>();
  #length = 0;

  text(): string {
    return this.#chunks.join("");
  }

  /** Writes one JSON value. An unreadable value is replaced by a string that says so. */
  write(value: unknown, depth: number): void {
    const start = this.#chunks.length;
    try {
      this.#writeValue(value, depth);
    } catch (error) {
      this.#chunks.length = start;
      this.#put(quote(unreadable(error)));
    }
  }

  #writeValue(raw: unknown, depth: number): void {
    const value = unwrap(raw);
    if (typeof value === "string") return this.#put(quote(value));
    if (isLeaf(value)) return this.#put(leafJson(value));
    if (value instanceof Error) return this.#put(quote(errorText(value)));
    const bytes = bytesOf(value);
    if (bytes !== undefined) return this.#put(quote(bytesText(bytes)));
    if (this.#ancestors.has(value)) return this.#put(quote("[circular]"));
    if (depth >= MAX_DEPTH) return this.#put(quote(`[deeper than ${MAX_DEPTH} levels]`));
    this.#ancestors.add(value);
    try {
      if (Array.isArray(value) || types.isTypedArray(value)) this.#writeAll("[]", items(value), depth);
      else if (types.isSet(value)) this.#writeAll("[]", items([...Set.prototype.values.call(value)]), depth);
      else if (types.isMap(value)) this.#writeAll("{}", mapMembers(value), depth);
      else this.#writeAll("{}", ownMembers(value), depth);
    } finally {
      this.#ancestors.delete(value);
    }
  }

  #writeAll(brackets: "[]" | "{}", members: Iterable<Member>, depth: number): void {
    this.#put(brackets.charAt(0));
    let separator = "";
    for (const [label, value] of members) {
      if (value === undefined) continue;
      this.#put(separator);
      separator = ",";
      if (this.#length > MAX_CHARACTERS) {
        this.#put(`${brackets === "[]" ? "" : '"…":'}${quote("[the rest is left out: too large]")}`);
        break;
      }
      this.#put(label);
      this.write(value, depth + 1);
    }
    this.#put(brackets.charAt(1));
  }

  #put(text: string): void {
    this.#chunks.push(text);
    this.#length += text.length;
  }
}

type Leaf = null | undefined | boolean | number | bigint | symbol | ((...args: never) => unknown);

function isLeaf(value: unknown): value is Leaf {
  return (typeof value !== "object" && typeof value !== "string") || value === null;
}

function leafText(value: Leaf): string {
  return typeof value === "function" ? `[function ${value.name || "(anonymous)"}]` : String(value);
}

/** Numbers that JSON lacks are quoted; a bigint becomes a JSON number of any length. */
function leafJson(value: Leaf): string {
  const isJson =
    value === null || typeof value === "boolean" || typeof value === "bigint" || Number.isFinite(value);
  return isJson ? String(value) : quote(leafText(value));
}

/**
 * Returns what JSON.stringify would serialise instead of the object: the result of `toJSON` (dates, URLs) or a boxed
 * primitive.
 */
function unwrap(value: unknown): unknown {
  if (typeof value !== "object" || value === null || bytesOf(value) !== undefined) return value;
  if (types.isBoxedPrimitive(value)) return value.valueOf();
  if ("toJSON" in value && typeof value.toJSON === "function") return value.toJSON() as unknown;
  return value;
}

/** The text before a value (a name and a colon; empty in a list) and the value. */
type Member = readonly [label: string, value: unknown];

function* items(list: ArrayLike<unknown> & object): Iterable<Member> {
  for (let index = 0; index < list.length; index += 1) {
    const value = readMember(list, index);
    yield ["", value === undefined ? null : value];
  }
}

function* ownMembers(value: object): Iterable<Member> {
  for (const key of Object.keys(value)) yield [`${quote(key)}:`, readMember(value, key)];
}

/** Map keys may be any value; each is shown as text. */
function* mapMembers(map: ReadonlyMap<unknown, unknown>): Iterable<Member> {
  for (const [key, value] of Map.prototype.entries.call(map)) {
    yield [`${quote(attempt(() => topLevelText(key)))}:`, value === undefined ? null : value];
  }
}

/** A getter that throws must not hide its neighbours. */
function readMember(holder: object, key: PropertyKey): unknown {
  try {
    return Reflect.get(holder, key) as unknown;
  } catch (error) {
    return unreadable(error);
  }
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (types.isUint8Array(value)) return value;
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  return undefined;
}

function bytesText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return `[binary data, ${bytes.byteLength} bytes]`;
  }
}

const MAX_CAUSES = 3;

/** The message is what a model can act on; the name is included only if it says more than "Error". */
function errorText(error: Error): string {
  const parts: string[] = [];
  let current: unknown = error;
  for (let count = 0; count <= MAX_CAUSES && current !== undefined; count += 1) {
    if (!(current instanceof Error)) {
      if (typeof current === "string") parts.push(current);
      break;
    }
    const { name, message, cause } = current;
    const isPlain = name === "Error" || name === "ThroughlineError";
    if (message === "") parts.push(name);
    else parts.push(isPlain ? message : `${name}: ${message}`);
    current = cause;
  }
  return parts.join("\ncaused by: "); // join accepts a name or message that is not a string
}

/** Even an error whose message cannot be read yields a text. */
function unreadable(error: unknown): string {
  try {
    return `[unreadable: ${error instanceof Error ? error.message : typeof error}]`;
  } catch {
    return "[unreadable]";
  }
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch (error) {
    return unreadable(error);
  }
}

function quote(text: string): string {
  return JSON.stringify(replaceLoneSurrogates(text));
}

function replaceLoneSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}
