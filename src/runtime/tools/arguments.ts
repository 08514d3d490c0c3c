/**
 * Parses the arguments of a call from the model's text. Only a JSON object is accepted. Anything else is refused with a
 * message that quotes it: arguments are never guessed and never default to `{}`, because a tool that runs on invented
 * input does something no one requested.
 */

import { isObject, jsonDepth, type JsonObject, messageOf } from "../../base/support/index.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly message: string };

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 128;
const QUOTED_CHARACTERS = 80;

export function parseArguments(text: string, maxBytes = MAX_BYTES): ParsedArguments {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return refused(`they have ${bytes} bytes; at most ${maxBytes} are allowed`);
  if (text.trim() === "") return refused("they are empty; send {} for a tool without input");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refused(`${quote(text)} is not valid JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) return refused(`${quote(text)} is ${kindOf(value)}, not a JSON object`);
  const depth = jsonDepth(text);
  if (depth > MAX_DEPTH)
    return refused(`they are nested ${depth} levels deep; at most ${MAX_DEPTH} are allowed`);
  return { ok: true, value };
}

function refused(problem: string): ParsedArguments {
  return { ok: false, message: `The arguments were not accepted: ${problem}.` };
}

/** Quotes the head and the tail: text that was cut off is recognisable by its end. */
function quote(text: string): string {
  if (text.length <= 2 * QUOTED_CHARACTERS) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, QUOTED_CHARACTERS))} … ${JSON.stringify(text.slice(-QUOTED_CHARACTERS))}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
