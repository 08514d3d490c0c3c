#!/usr/bin/env node
/**
 * Loads the program. Imports nothing but Node's own modules, so that it starts even where the program cannot be loaded, and
 * can say why.
 */

import { closeSync, openSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

const STDERR = 2;
const USAGE = 2;
/** A turn with the built-in emulator and the file store opens about ten files and sockets at once. */
const FILES_NEEDED = 16;
const VERSION_FLAGS = ["-V", "--version"];

/** Without this check, a limit that is too low shows up as a lock that cannot be taken, or as a lost connection. */
function assertFiles(): void {
  const files: number[] = [];
  try {
    while (files.length < FILES_NEEDED) files.push(openSync(fileURLToPath(import.meta.url), "r"));
  } finally {
    for (const file of files) closeSync(file);
  }
}

try {
  assertFiles();
  const [flag = "", ...others] = process.argv.slice(2);
  await (others.length === 0 && VERSION_FLAGS.includes(flag)
    ? import("./print-version.ts")
    : import("./start-program.ts"));
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
