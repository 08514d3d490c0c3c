/** Where the global set-up put what it built (build-once.ts). */

import { join } from "node:path";

import { inject } from "vitest";

import type { ChildName } from "./build-once.ts";

/** As published: a link to it in `node_modules` is all that a program needs. */
export const PACKAGE = join(inject("bundle"), "package");

export const CLI = join(PACKAGE, "dist", "cli", "main.js");

export const LIBRARY = join(PACKAGE, "dist", "index.js");

export function childProgram(name: ChildName): string {
  return join(inject("bundle"), "children", `${name}.mjs`);
}
