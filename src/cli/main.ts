#!/usr/bin/env node
/**
 * The composition root: flags in, exit code out. Errors are one line with a code and what to do, never a stack trace.
 *
 * @module
 */

import { CommanderError } from "commander";

import { codeOf, isThroughlineError, messageOf } from "../support/index.ts";
import { EXIT } from "./exit-codes.ts";
import { inertLine } from "./inert-text.ts";
import { addServers, createProgram } from "./program.ts";
import { systemTerminal } from "./terminal.ts";

const terminal = systemTerminal();

// A reader that went away (`| head`) is not an error of ours.
process.stdout.on("error", (error) => {
  process.exitCode = codeOf(error) === "EPIPE" ? EXIT.ok : EXIT.turnFailed;
  process.exit();
});

try {
  const program = createProgram(terminal, (code) => {
    process.exitCode = code;
  });
  await addServers(program);
  for (const command of [program, ...program.commands]) command.exitOverride();
  await program.parseAsync(process.argv);
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage; // it has printed its message
  const code = isThroughlineError(error) ? error.code : (codeOf(error) ?? "internal");
  terminal.stderr.write(`throughline: ${inertLine(messageOf(error), 1000)} [${code}]\n`);
  if (process.env["THROUGHLINE_DEBUG"] !== undefined && error instanceof Error)
    terminal.stderr.write(`${error.stack}\n`);
  return EXIT.usage;
}
