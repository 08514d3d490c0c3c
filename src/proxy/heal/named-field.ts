/** A field of a history item that the endpoint does not know: left out of every item that carries it. */

import type { ErrorInfo } from "../../base/events/index.ts";
import { isObject, withoutMember } from "../../base/support/index.ts";
import { namedInError } from "../../runtime/providers/index.ts";
import { type Body, elementText, withEdits } from "../restore/index.ts";

/** Without these an item means something else, or nothing. */
const NEEDED: ReadonlySet<string> = new Set([
  "type",
  "role",
  "content",
  "call_id",
  "tool_call_id",
  "tool_calls",
  "name",
  "arguments",
  "input",
  "output",
  "id",
  "encrypted_content",
  "summary",
]);

export function withoutNamedField(error: ErrorInfo, body: Body): string | undefined {
  const { path, field } = namedInError(error);
  if (path === undefined || field === undefined || NEEDED.has(field)) return undefined;
  const changed = new Map<number, string>();
  for (const [at, value] of body.values.entries())
    if (isObject(value) && Object.hasOwn(value, field))
      changed.set(at, withoutMember(elementText(body, at), field));
  return changed.size === 0 ? undefined : withEdits(body, { changed, before: new Map() });
}
