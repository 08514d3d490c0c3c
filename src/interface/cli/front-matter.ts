/**
 * Reads front matter as YAML. A module of its own, because a run without skills does not load a YAML parser.
 */

import { parseDocument } from "yaml";

/** Every scalar is a text. Returns undefined for anything that is not YAML, and for aliases, which can multiply. */
export function parseFrontMatter(text: string): unknown {
  const document = parseDocument(text, { schema: "failsafe" });
  if (document.errors.length > 0) return undefined;
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}
