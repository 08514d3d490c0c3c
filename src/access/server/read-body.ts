/**
 * A JSON body from outside: its size is limited while it is read, it is parsed once, and every field is named and
 * typed. An unknown field is an error: a mistyped name must not pass as an absent one.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

import {
  codedError,
  didYouMean,
  isObject,
  jsonDepth,
  type JsonObject,
  tryParseJson,
} from "../../base/support/index.ts";

/** Leaves room for images in a message. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_DEPTH = 128;

/** Requests whose senders wait for "100 Continue", with the response to send it on. */
const heldBack = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * For a request with `Expect: 100-continue`. If it is refused before its body is read, it never gets the "100
 * Continue".
 */
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
    `the body is larger than ${maxBytes} bytes. Send less at a time`,
  );
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge;
  heldBack.get(request)?.writeContinue();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // Keeps the connection open: the answer must still reach a sender that sends too much.
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

/** Reads fields by name and type. `done` refuses any other field. */
export class Fields {
  readonly #value: JsonObject;
  readonly #known = new Set<string>();

  constructor(value: JsonObject) {
    this.#value = value;
  }

  text(name: string): string | undefined {
    return this.#typed(name, "a string", (value) => (typeof value === "string" ? value : undefined));
  }

  number(name: string): number | undefined {
    return this.#typed(name, "a whole number, 0 or more", (value) =>
      typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined,
    );
  }

  flag(name: string): boolean | undefined {
    return this.#typed(name, "true or false", (value) => (typeof value === "boolean" ? value : undefined));
  }

  object(name: string): JsonObject | undefined {
    return this.#typed(name, "an object", (value) => (isObject(value) ? value : undefined));
  }

  choice<const T extends string>(name: string, values: readonly T[]): T | undefined {
    return this.#typed(name, `one of ${values.join(", ")}`, (value) => values.find((one) => one === value));
  }

  /** Untyped: the session validates its own input. */
  any(name: string): unknown {
    this.#known.add(name);
    return Object.hasOwn(this.#value, name) ? this.#value[name] : undefined;
  }

  done(): void {
    const unknown = Object.keys(this.#value).find((name) => !this.#known.has(name));
    if (unknown !== undefined)
      throw codedError(
        "field_unknown",
        `unknown field ${JSON.stringify(unknown.slice(0, 100))}${didYouMean(unknown, this.#known)}`,
      );
  }

  #typed<T>(name: string, what: string, read: (value: unknown) => T | undefined): T | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    const typed = read(value);
    if (typed === undefined) throw codedError("field_invalid", `${name} must be ${what}`);
    return typed;
  }
}

export function required<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw codedError("field_invalid", `${name} is missing`);
  return value;
}
