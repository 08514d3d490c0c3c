/** Expands `${NAME}` and `${NAME:-default}` as other programs do in `mcpServers`. Nothing is ever run for a value. */

import type { Environment } from "./paths.ts";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

export interface Expanded {
  readonly text: string;
  /** Variables without a value and without a default. */
  readonly missing: readonly string[];
}

/** As in a shell, a default also replaces an empty value. */
export function expandVariables(text: string, env: Environment): Expanded {
  const missing: string[] = [];
  const expanded = text.replaceAll(VARIABLE, (whole, name: string, usual: string | undefined) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (usual !== undefined) return value === undefined || value === "" ? usual : value;
    if (value !== undefined) return value;
    missing.push(name);
    return whole;
  });
  return { text: expanded, missing: [...new Set(missing)] };
}
