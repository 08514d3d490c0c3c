/** Everything in the files of a folder, and their names: to look for what must not be there. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function contentOf(folder: string): string {
  return readdirSync(folder)
    .map((name) => `${name}\n${readFileSync(join(folder, name), "latin1")}`)
    .join("\n");
}
