/** Reads a whole text file, synchronously. */

import { readFileSync } from "node:fs";

/** Not `readFileSync(path, "utf8")`: in Node 20 that ends the whole process if the file cannot be closed. */
export function readText(path: string): string {
  return readFileSync(path).toString("utf8");
}
