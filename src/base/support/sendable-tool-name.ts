/**
 * The name of a tool as every API takes it. Models call tools nobody offered, by names like `functions.bump`,
 * `bump<|channel|>commentary` or a whole shell command, and an API that finds one in a history refuses every later request
 * (failures.md T15). Names of tools from elsewhere are mapped the same way.
 */

import { shortHash } from "./short-hash.ts";

/** What the strictest take: Claude's own API allows 128 characters of a declared tool, OpenAI's 128 in a history. */
const SENDABLE = /^[a-zA-Z0-9_-]{1,64}$/;
const HASH_LENGTH = 12;
const STEM_LENGTH = 64 - 1 - HASH_LENGTH;
/** Of a name that goes on and on only the beginning is read for its stem. */
const READ_LENGTH = 200;

export function isSendableToolName(name: string): boolean {
  return SENDABLE.test(name);
}

/**
 * A name that can be sent stays; of any other what can be read of it stays, with a hash of the whole: the same every time,
 * another for every name, and never that of a tool that may be called.
 */
export function sendableToolName(name: string, isDeclared: (name: string) => boolean): string {
  if (isSendableToolName(name)) return name;
  const stem = stemOf(name);
  for (let nth = 0; ; nth += 1) {
    const sent = `${stem}_${shortHash(`${nth} ${name}`, HASH_LENGTH)}`;
    if (!isDeclared(sent)) return sent;
  }
}

/** Google wants a letter or an underscore in front. */
function stemOf(name: string): string {
  const words = name
    .slice(0, READ_LENGTH)
    .replaceAll(/[^a-zA-Z0-9_-]+/g, "_")
    .replace(/^[_-]+/, "");
  const stem = /^[a-zA-Z]/.test(words) ? words : `tool_${words}`;
  return stem.slice(0, STEM_LENGTH).replace(/[_-]+$/, "");
}
