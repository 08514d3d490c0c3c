/** The composition root. An error is one line with a code and what to do, never a stack trace. */

import { type Command, CommanderError } from "commander";

import {
  codedError,
  codeOf,
  fileErrorOf,
  isThroughlineError,
  messageOf,
  type ThroughlineError,
  readProblem,
} from "../../base/support/index.ts";
import { endCommand } from "./at-end.ts";
import { EXIT } from "./exit-codes.ts";
import { hidePasswords } from "./hide-passwords.ts";
import { inertLine } from "./inert-text.ts";
import { addNamedCommand, createProgram } from "./program.ts";
import { guard } from "./terminal-gate.ts";
import { systemTerminal } from "./terminal.ts";
import { watchOutput } from "./unread-output.ts";
import { commandOf, usageText } from "./usage-words.ts";
import { wrapped } from "./wrapped-output.ts";

guard(process.stdout);
guard(process.stderr);
const terminal = systemTerminal();

watchOutput();
// Catches errors that a tools file throws outside of any call. Acknowledged events are saved; the session can be resumed.
process.on("uncaughtException", (error) => {
  report(error);
  process.exit(EXIT.turnFailed);
});

const program = createProgram(terminal, finish);
try {
  const args = await addNamedCommand(program, process.argv.slice(2), terminal, finish);
  for (const command of everyCommand(program)) {
    command.exitOverride().configureOutput({ outputError: () => undefined }); // `report` prints it
  }
  await program.parseAsync(args, { from: "user" });
} catch (error) {
  process.exitCode = report(error);
} finally {
  await endCommand();
}

function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap((one) => everyCommand(one))];
}

function finish(code: number): void {
  process.exitCode = code;
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return usage(error);
  wrapped(terminal.stderr).write(`throughline: ${lineOf(error)}\n`);
  const debug = process.env["THROUGHLINE_DEBUG"] !== undefined || process.argv.includes("--debug");
  if (debug && error instanceof Error) terminal.stderr.write(`${hidePasswords(String(error.stack))}\n`);
  if (codeOf(error) === "stopped") return EXIT.interrupted;
  return lineOf(error).endsWith("[internal]") ? EXIT.internal : EXIT.usage;
}

function lineOf(error: unknown): string {
  return hidePasswords(plainLineOf(error));
}

function plainLineOf(error: unknown): string {
  const known = isThroughlineError(error) ? error : systemProblem(error);
  if (known !== undefined) return `${inertLine(messageOf(known), 1000)} [${known.code}]`;
  const code = codeOf(error) ?? "internal";
  const file = fileErrorOf(error);
  return file === undefined
    ? `${inertLine(messageOf(error), 1000)} [${code}]`
    : `cannot ${file.call} ${inertLine(file.path ?? "a file", 300)}: ${inertLine(readProblem(error), 300)} (${code}). Fix this and try again [file_failed]`;
}

/** Problems of the surroundings that can hit any command. */
function systemProblem(error: unknown): ThroughlineError | undefined {
  const code = codeOf(error);
  if (code === "EMFILE" || code === "ENFILE")
    return codedError(
      "too_many_files",
      "too many files are open: raise the limit (ulimit -n 1024) and try again",
    );
  if (error instanceof Error && "syscall" in error && error.syscall === "uv_cwd")
    return codedError(
      "directory_not_found",
      "the current directory no longer exists: change to another one (cd), or name one with -C",
    );
  return undefined;
}

function usage(error: CommanderError): number {
  if (error.exitCode === 0) return EXIT.ok; // help or version, already printed
  const text = hidePasswords(usageText(error.message, commandOf(program, process.argv.slice(2))));
  const message = inertLine(text, 1000);
  wrapped(terminal.stderr).write(`throughline: ${message} [usage]\n`);
  return EXIT.usage;
}
