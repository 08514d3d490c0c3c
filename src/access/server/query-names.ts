/** The parameters that each route knows. A mistyped one must not pass as an absent one. */

import { codedError, didYouMean } from "../../base/support/index.ts";

const SESSION = "/api/sessions/[^/]+";

/** The first row that matches counts. A route without a row has no parameters. */
const QUERIES: readonly (readonly [path: RegExp, names: readonly string[]])[] = [
  [/^\/api\/sessions$/, ["limit", "before", "search"]],
  [new RegExp(`^${SESSION}/events$`), ["after"]],
  [new RegExp(`^${SESSION}/log$`), ["after", "path"]],
  [new RegExp(`^${SESSION}/export$`), ["format", "reasoning", "redact"]],
  [new RegExp(`^${SESSION}/turns/[^/]+$`), ["wait"]],
  [new RegExp(`^${SESSION}/(?:switch|preview)$`), ["model"]],
  [new RegExp(`^${SESSION}/explain$`), ["request"]],
];

/** Throws `parameter_invalid` for a parameter that the route does not have. */
export function assertQueryNames(path: string, names: readonly string[]): void {
  if (names.length === 0) return;
  const known = QUERIES.find(([route]) => route.test(path))?.[1] ?? [];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const word = `unknown parameter ${JSON.stringify(unknown.slice(0, 100))}`;
  throw codedError("parameter_invalid", `${word}${didYouMean(unknown, known)}`);
}
