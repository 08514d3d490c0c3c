/**
 * Finds the files that the `exports` or `imports` of a package.json can mean for a name. Follows every condition that
 * Node may choose, because the list of files must cover every way to load the package.
 */

import { isObject } from "../../base/support/index.ts";

const CONDITIONS: ReadonlySet<string> = new Set(["node", "node-addons", "module-sync", "default"]);

/** `name` is a subpath (`.`, `./x`) or an internal name (`#x`). */
export function packageTargets(
  field: unknown,
  name: string,
  by: "import" | "require" | "either",
): readonly string[] {
  const names = isObject(field) ? Object.keys(field).filter((key) => /^[.#]/.test(key)) : [];
  if (!isObject(field) || names.length === 0) return name === "." ? leaves(field, by) : [];
  if (Object.hasOwn(field, name) && !name.includes("*")) return leaves(field[name], by);
  return names.flatMap((key) => {
    const [start = "", end, ...more] = key.endsWith("/") ? [key, ""] : key.split("*");
    if (end === undefined || more.length > 0 || !name.startsWith(start) || !name.endsWith(end)) return [];
    if (name.length < start.length + end.length) return [];
    const middle = name.slice(start.length, name.length - end.length);
    return leaves(field[key], by).map((target) =>
      key.endsWith("/") ? target + middle : target.replaceAll("*", () => middle),
    );
  });
}

function leaves(target: unknown, by: "import" | "require" | "either", depth = 0): readonly string[] {
  if (typeof target === "string") return [target];
  if (depth > 16) return [];
  if (Array.isArray(target)) return target.flatMap((one) => leaves(one, by, depth + 1));
  if (!isObject(target)) return [];
  return Object.entries(target)
    .filter(
      ([condition]) =>
        CONDITIONS.has(condition) ||
        condition === by ||
        (by === "either" && (condition === "import" || condition === "require")),
    )
    .flatMap(([, inner]) => leaves(inner, by, depth + 1));
}
