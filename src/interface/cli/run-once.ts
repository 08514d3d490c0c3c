/** Runs one prompt: the answer goes to stdout, progress to stderr, and the exit code reports the outcome. */

import { type ModelView, type SessionHandle, turnEnding } from "../../base/api/index.ts";
import {
  isEphemeral,
  NO_USAGE,
  type SessionEvent,
  type ShowReasoning,
  toLine,
} from "../../base/events/index.ts";
import { codedError, codeOf, messageOf, type ThroughlineError } from "../../base/support/index.ts";
import { type CostOf, SessionFacts } from "../../runtime/facts/index.ts";
import { meantModel, PROVIDERS } from "../../runtime/models/index.ts";
import type { Turn, TurnResult } from "../../runtime/session/index.ts";
import { ToolNames } from "../fragments/index.ts";
import { AnswerWriter } from "./answer-writer.ts";
import { refuseUnsupported } from "./attached-files.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { inert, inertJson, inertLine } from "./inert-text.ts";
import type { InstructionFiles } from "./instruction-text.ts";
import { enterDirectory, openSession } from "./open-session.ts";
import { AnswerFile, readOutputSchema } from "./output-files.ts";
import { promptFrom } from "./read-stdin.ts";
import type { RunFlags } from "./run-options.ts";
import { ProgressLines } from "./show-progress.ts";
import { stopOnSignals } from "./signals.ts";
import type { Terminal } from "./terminal.ts";
import { whenUnread } from "./unread-output.ts";

export async function runOnce(
  words: readonly string[],
  flags: RunFlags,
  terminal: Terminal,
): Promise<number> {
  enterDirectory(flags.directory);
  const prompt = await promptFrom(words, flags, terminal);
  const mayResume = flags.continue === true || flags.resume !== undefined;
  if (prompt === "" && !mayResume) throw noPrompt();
  const schema = flags.outputSchema === undefined ? undefined : readOutputSchema(flags.outputSchema);
  const { directory: _entered, ...rest } = flags;
  const told = { json: flags.json === true };
  const say = (text: string): void => {
    if (flags.json !== true) terminal.stderr.write(terminal.dim(`${inertLine(text, 200)}\n`));
  };
  if (flags.server !== undefined) {
    const { openRemote } = await import("./remote-session.ts");
    const remote = await openRemote(flags.server, flags);
    const { handle } = remote;
    if (prompt === "" && !handle.interrupted) throw noPrompt();
    refuseUnsupported(prompt, handle.model.settings);
    const turn =
      prompt === ""
        ? handle.resume({ output: schema })
        : handle.send(prompt, { ...remote.options, output: schema });
    say(`session ${handle.id} on ${remote.location}`);
    try {
      return await tellTurn(
        remote,
        turn,
        { ...remote.told, ...told, structured: structuredIn(handle) },
        terminal,
      );
    } finally {
      await handle.close();
    }
  }
  const { session, model, settings, costOf, instructions } = await openSession(rest, {
    interactive: false,
    terminal,
  });
  try {
    if (prompt === "" && !session.interrupted) throw noPrompt();
    refuseUnsupported(prompt, session.model.settings);
    say(`${model.label} · session ${session.id}${flags.ephemeral === true ? " · not saved" : ""}`);
    const turn =
      prompt === "" ? session.resume({ output: schema }) : session.send(prompt, { output: schema });
    const { output } = flags;
    const structured = structuredIn(session);
    return await tellTurn(
      session,
      turn,
      { ...settings, ...told, structured, output, instructions, costOf },
      terminal,
    );
  } finally {
    await session.close();
  }
}

/** What the output says about the session, apart from the turn. */
export interface TellSession {
  readonly id: string;
  readonly location: string;
  readonly model: ModelView;
  readonly events: SessionHandle["events"];
}

export interface TellOptions {
  readonly json?: boolean;
  readonly permissions?: string;
  readonly showReasoning?: ShowReasoning | undefined;
  /** Whether the answer of a turn that has begun must match a schema. If absent, it need not. */
  readonly structured?: (turn: string) => Promise<boolean>;
  /** The file to write the answer to. */
  readonly output?: string | undefined;
  /** The files whose instructions are part of the request. */
  readonly instructions?: InstructionFiles;
  readonly costOf: CostOf;
}

/** Reads it from the log: a resumed, retried or edited turn has the schema of the turn before it. */
export function structuredIn(session: Pick<SessionHandle, "events">): NonNullable<TellOptions["structured"]> {
  return async (turn) => {
    const facts = new SessionFacts();
    for await (const event of session.events()) facts.add([event]);
    return facts.turns.get(turn)?.output !== undefined;
  };
}

/** Shows a turn until it ends, and resolves to the exit code. */
export async function tellTurn(
  session: TellSession,
  turn: Turn,
  options: TellOptions,
  terminal: Terminal,
): Promise<number> {
  const file = options.output === undefined ? undefined : new AnswerFile(options.output);
  const stop = stopOnSignals(() => turn.cancel());
  const unread = whenUnread(() => turn.cancel());
  const { result, denied } =
    options.json === true
      ? await asJson(session, turn, options, terminal)
      : await asText(session, turn, options, terminal);
  const kept = result.status !== "completed" || file === undefined || writes(file, result.text, terminal);
  // Only the mode "ask" needs a person; in the other modes a denial is the intended result.
  const neededPermission = denied && (options.permissions ?? "ask") === "ask";
  if (options.json !== true) reportEnd(result, neededPermission, session.model.label, terminal);
  return stop() ?? unread() ?? (kept ? exitCodeOf(result, neededPermission) : EXIT.turnFailed);
}

/** A file that cannot be written is a failed run, not a usage error, although the answer is complete. */
function writes(file: AnswerFile, text: string, terminal: Terminal): boolean {
  try {
    file.write(text);
    return true;
  } catch (error) {
    terminal.stderr.write(
      `throughline: ${inertLine(messageOf(error), 500)} [${codeOf(error) ?? "internal"}]\n`,
    );
    return false;
  }
}

/** A turn that continues a session has the settings of an earlier one, which say what the name stands for. */
async function learnName(names: ToolNames, name: string, session: TellSession): Promise<void> {
  if (!name.startsWith("mcp__") || names.of(name) !== undefined) return;
  for await (const event of session.events()) if (event.type === "settings") names.add(event.settings.tools);
}

function noPrompt(): ThroughlineError {
  return codedError("no_prompt", 'no prompt: give one (throughline -p "…"), or pipe it in');
}

interface Shown {
  readonly result: TurnResult;
  /** True if the policy denied a call. */
  readonly denied: boolean;
}

async function asText(
  session: TellSession,
  turn: Turn,
  options: TellOptions,
  terminal: Terminal,
): Promise<Shown> {
  const names = new ToolNames();
  const progress = new ProgressLines(terminal, {
    reasoning: options.showReasoning,
    names,
    questions: true,
  });
  const answer = new AnswerWriter(terminal);
  let whole: boolean | undefined;
  for await (const event of turn) {
    // An answer that does not match its schema is corrected, so only the final one may be printed.
    if (event.type === "response_start") whole ??= (await options.structured?.(turn.id)) === true;
    if (whole !== true) answer.show(event);
    if (event.type === "tool_call") await learnName(names, event.name, session);
    progress.show(event);
  }
  const result = await turn.result();
  // No text arrived in this process if the turn was interrupted after its answer and only ends here.
  if (!answer.end() && result.text !== "") {
    const text = terminal.stdout.isTTY === true ? inert(result.text) : result.text;
    terminal.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }
  return { result, denied: progress.denied };
}

function reportEnd(result: TurnResult, neededPermission: boolean, model: string, terminal: Terminal): void {
  if (result.status === "completed") {
    if (neededPermission) terminal.stderr.write(`throughline: ${NEEDED}\n`);
    return;
  }
  const { status, reason, error } = result;
  const why =
    error === undefined
      ? inertLine(reason ?? "", 500)
      : `${inertLine(error.message, 500)} [${inertLine(error.code, 100)}]`;
  terminal.stderr.write(
    `throughline: the turn ${turnEnding({ status, reason })}${why === "" ? "" : `: ${why}`}\n`,
  );
  const meant = error?.code === "model_not_found" ? meantModel(model, Object.keys(PROVIDERS)) : undefined;
  if (meant !== undefined) terminal.stderr.write(`Did you mean ${meant}?\n`);
  if (reason === "context") terminal.stderr.write("To undo the message: throughline undo --last\n");
}

const NEEDED =
  "a tool call was denied because it needs permission and no user could be asked; --allow RULE allows calls like it, --permissions auto allows every call [permission_needed]";

/** Writes the events of the log, plus deltas. The first line is `session`, the last line `result`. */
async function asJson(
  session: TellSession,
  turn: Turn,
  options: TellOptions,
  terminal: Terminal,
): Promise<Shown> {
  const started = performance.now();
  const safe = terminal.stdout.isTTY === true ? inertJson : (line: string): string => line;
  const write = (line: string): void => void terminal.stdout.write(`${safe(line)}\n`);
  write(
    JSON.stringify({
      v: 1,
      type: "session",
      session: session.id,
      model: session.model.label,
      location: session.location,
      instructions: options.instructions,
    }),
  );
  const progress = new ProgressLines({ ...terminal, stderr: nowhere });
  const facts = new SessionFacts(options.costOf);
  for await (const event of turn) {
    progress.show(event);
    facts.add([event]);
    write(lineOf(event));
  }
  const result = await turn.result();
  const { status, text, output, steps, usage, reason, error } = result;
  write(
    JSON.stringify({
      v: 1,
      type: "result",
      status,
      text,
      output,
      steps,
      usage,
      costUsd: costOfTurn(facts, session.model, options) ?? null,
      durationMs: Math.round(performance.now() - started),
      reason,
      error,
    }),
  );
  return { result, denied: progress.denied };
}

/** The cost is unknown for a model without a price, even if the turn failed before it used any tokens. */
function costOfTurn(
  { costUsd }: SessionFacts,
  { settings }: ModelView,
  { costOf }: TellOptions,
): number | undefined {
  return costOf(settings.target, NO_USAGE) === undefined ? undefined : costUsd;
}

function lineOf(event: SessionEvent): string {
  return isEphemeral(event) ? JSON.stringify(event) : toLine(event);
}

const nowhere = { write: () => true } as unknown as Terminal["stderr"];
