/**
 * Tool names that every API accepts. Models call tools that were never offered, by names like `functions.bump`,
 * `bump<|channel|>commentary` or a whole shell command, and an API that finds one in a history refuses every later
 * request (failures.md T15). Names of foreign tools are mapped the same way.
 */

import { shortHash } from "./short-hash.ts";

/**
 * The limits of the strictest APIs: Claude's own API allows 128 characters for a declared tool, OpenAI's 128 in a
 * history.
 */
const SENDABLE = /^[a-zA-Z0-9_-]{1,64}$/;
const HASH_LENGTH = 12;
const STEM_LENGTH = 64 - 1 - HASH_LENGTH;
/** Only the start of a very long name is used for its stem. */
const READ_LENGTH = 200;

export function isSendableToolName(name: string): boolean {
  return SENDABLE.test(name);
}

/** Every character that no API takes becomes `_`. Different names can become the same. */
export function toolNamePart(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

/**
 * Returns a sendable name unchanged. Any other keeps its readable part plus a hash of the whole name: always the same,
 * different for every name, and never the name of a declared tool.
 */
export function sendableToolName(name: string, isDeclared: (name: string) => boolean): string {
  if (isSendableToolName(name)) return name;
  const stem = stemOf(name);
  for (let nth = 0; ; nth += 1) {
    const sent = `${stem}_${shortHash(`${nth} ${name}`, HASH_LENGTH)}`;
    if (!isDeclared(sent)) return sent;
  }
}

/** Google requires a leading letter or underscore. */
function stemOf(name: string): string {
  const words = name
    .slice(0, READ_LENGTH)
    .replaceAll(/[^a-zA-Z0-9_-]+/g, "_")
    .replace(/^[_-]+/, "");
  const stem = /^[a-zA-Z]/.test(words) ? words : `tool_${words}`;
  return stem.slice(0, STEM_LENGTH).replace(/[_-]+$/, "");
}
