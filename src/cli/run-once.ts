/**
 * One shot: a prompt in, an answer on stdout, progress on stderr, an exit code.
 *
 * @module
 */

import { isEphemeral, type SessionEvent, toLine } from "../events/index.ts";
import type { Session, Turn, TurnResult } from "../session/index.ts";
import { ThroughlineError } from "../support/index.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { inert, inertJson, inertLine } from "./inert-text.ts";
import type { RunFlags } from "./open-session.ts";
import { openSession } from "./open-session.ts";
import { promptFrom } from "./read-stdin.ts";
import { ProgressLines } from "./show-progress.ts";
import { stopOnSignals } from "./signals.ts";
import type { Terminal } from "./terminal.ts";

export async function runOnce(
  words: readonly string[],
  flags: RunFlags,
  terminal: Terminal,
): Promise<number> {
  const prompt = await promptFrom(words, terminal);
  const mayResume = flags.continue === true || flags.resume !== undefined;
  if (prompt === "" && !mayResume) throw noPrompt();
  const { session, model } = await openSession(flags, { canAsk: false, terminal });
  try {
    if (prompt === "" && !session.interrupted) throw noPrompt();
    if (flags.json !== true) {
      terminal.stderr.write(terminal.dim(`${inertLine(`${model.label} · session ${session.id}`, 200)}\n`));
    }
    return await tellTurn(session, prompt === "" ? session.resume() : session.send(prompt), flags, terminal);
  } finally {
    await session.close();
  }
}

/** A turn told to its end; resolves to the exit code. */
export async function tellTurn(
  session: Session,
  turn: Turn,
  flags: Pick<RunFlags, "json" | "permissions">,
  terminal: Terminal,
): Promise<number> {
  const stop = stopOnSignals(() => turn.cancel());
  const { result, denied } =
    flags.json === true ? await asJson(session, turn, terminal) : await asText(turn, terminal);
  // Only "ask" needed somebody; under the other modes a denial is what was asked for.
  const neededPermission = denied && (flags.permissions ?? "ask") === "ask";
  if (flags.json !== true) reportEnd(result, neededPermission, terminal);
  return stop() ?? exitCodeOf(result, neededPermission);
}

function noPrompt(): ThroughlineError {
  return new ThroughlineError({
    code: "no_prompt",
    message: 'there is nothing to do: give a prompt (throughline -p "…"), or pipe one in',
  });
}

interface Shown {
  readonly result: TurnResult;
  /** A call was denied by the policy. */
  readonly denied: boolean;
}

async function asText(turn: Turn, terminal: Terminal): Promise<Shown> {
  const progress = new ProgressLines(terminal);
  for await (const event of turn) progress.show(event);
  const result = await turn.result();
  if (result.text !== "") {
    const text = terminal.stdout.isTTY === true ? inert(result.text) : result.text;
    terminal.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }
  return { result, denied: progress.denied };
}

function reportEnd(result: TurnResult, neededPermission: boolean, terminal: Terminal): void {
  if (result.status === "completed") {
    if (neededPermission) terminal.stderr.write(`throughline: ${NEEDED}\n`);
    return;
  }
  const why =
    result.error === undefined ? (result.reason ?? "") : `[${result.error.code}] ${result.error.message}`;
  terminal.stderr.write(
    `throughline: the turn ended ${result.status}${why === "" ? "" : `: ${inertLine(why, 500)}`}\n`,
  );
  if (result.reason === "context") terminal.stderr.write("throughline undo --last takes the message back.\n");
}

const NEEDED =
  "a tool needed permission and there was nobody to ask; --permissions auto runs tools unasked [permission_needed]";

/** The log's own events, plus deltas; first line `session`, last line `result`. */
async function asJson(session: Session, turn: Turn, terminal: Terminal): Promise<Shown> {
  const started = performance.now();
  const safe = terminal.stdout.isTTY === true ? inertJson : (line: string): string => line;
  const write = (line: string): void => void terminal.stdout.write(`${safe(line)}\n`);
  write(
    JSON.stringify({
      v: 1,
      type: "session",
      session: session.id,
      model: session.model.label,
      place: session.place,
    }),
  );
  const progress = new ProgressLines({ ...terminal, stderr: nowhere });
  for await (const event of turn) {
    progress.show(event);
    write(lineOf(event));
  }
  const result = await turn.result();
  const { status, text, steps, usage, reason, error } = result;
  write(
    JSON.stringify({
      v: 1,
      type: "result",
      status,
      text,
      steps,
      usage,
      costUsd: null,
      durationMs: Math.round(performance.now() - started),
      ...(reason === undefined ? {} : { reason }),
      ...(error === undefined ? {} : { error }),
    }),
  );
  return { result, denied: progress.denied };
}

function lineOf(event: SessionEvent): string {
  return isEphemeral(event) ? JSON.stringify(event) : toLine(event);
}

const nowhere = { write: () => true } as unknown as Terminal["stderr"];
