/**
 * A JSON body from outside: bounded while it is read, parsed once, every field named and typed. A field nobody knows is
 * an error: a mistyped name must not be taken for an absent one.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

import { codedError, isObject, jsonDepth, type JsonObject, tryParseJson } from "../../base/support/index.ts";

/** Room for images in a message; reliability.md §4. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_DEPTH = 128;

/** What their senders hold back until they are told to go on, and how to tell them. */
const heldBack = new WeakMap<IncomingMessage, ServerResponse>();

/** For a request with `Expect: 100-continue`: one that is refused before its body is read is never told to go on. */
export function awaitContinue(request: IncomingMessage, response: ServerResponse): void {
  heldBack.set(request, response);
}

export async function readBody(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Fields> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return new Fields({});
  const text = bytes.toString("utf8");
  if (jsonDepth(text) > MAX_DEPTH)
    throw codedError("body_invalid", `the body is nested deeper than ${MAX_DEPTH}`);
  const value = tryParseJson(text);
  if (!isObject(value)) throw codedError("body_invalid", "the body is not a JSON object");
  return new Fields(value);
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = codedError(
    "body_too_large",
    `the body is larger than ${maxBytes} bytes: send less at a time`,
  );
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge;
  heldBack.get(request)?.writeContinue();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // Left in one piece: the answer must still reach whoever sends too much.
    const pieces: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of pieces) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error === tooLarge) throw error;
    throw codedError("body_unfinished", "the body ended before it was complete");
  }
  return Buffer.concat(chunks);
}

/** Reads fields by name and type; `done` refuses what nobody asked for. */
export class Fields {
  readonly #value: JsonObject;
  readonly #known = new Set<string>();

  constructor(value: JsonObject) {
    this.#value = value;
  }

  text(name: string): string | undefined {
    return this.#typed(name, "string", (value) => (typeof value === "string" ? value : undefined));
  }

  number(name: string): number | undefined {
    return this.#typed(name, "whole number, 0 or more", (value) =>
      typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined,
    );
  }

  flag(name: string): boolean | undefined {
    return this.#typed(name, "true or false", (value) => (typeof value === "boolean" ? value : undefined));
  }

  object(name: string): JsonObject | undefined {
    return this.#typed(name, "object", (value) => (isObject(value) ? value : undefined));
  }

  choice<const T extends string>(name: string, values: readonly T[]): T | undefined {
    return this.#typed(name, `one of ${values.join(", ")}`, (value) => values.find((one) => one === value));
  }

  /** Left to whoever takes it: the session judges its own input. */
  any(name: string): unknown {
    this.#known.add(name);
    return Object.hasOwn(this.#value, name) ? this.#value[name] : undefined;
  }

  done(): void {
    const unknown = Object.keys(this.#value).find((name) => !this.#known.has(name));
    if (unknown !== undefined)
      throw codedError("field_unknown", `there is no field ${JSON.stringify(unknown.slice(0, 100))} here`);
  }

  #typed<T>(name: string, what: string, read: (value: unknown) => T | undefined): T | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    const typed = read(value);
    if (typed === undefined) throw codedError("field_invalid", `${name} must be a ${what}`);
    return typed;
  }
}

export function required<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw codedError("field_invalid", `${name} is missing`);
  return value;
}
