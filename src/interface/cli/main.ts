#!/usr/bin/env node
/**
 * Loads the program. Imports nothing but Node's own modules, so that it starts even where the program cannot be loaded, and
 * can say why.
 */

import { writeSync } from "node:fs";

const STDERR = 2;
const USAGE = 2;

try {
  await import("./start-program.ts");
} catch (error) {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "EMFILE" && code !== "ENFILE") throw error;
  // Not process.stderr: on a terminal, opening that needs a file, too.
  writeSync(
    STDERR,
    "throughline: too many files are open: raise the limit (ulimit -n 1024) and try again [too_many_files]\n",
  );
  process.exitCode = USAGE;
}
