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
  const { session, model } = await openSession(flags, { canAsk: false });
  try {
    if (prompt === "" && !session.interrupted) throw noPrompt();
    if (flags.json !== true) {
      terminal.stderr.write(terminal.dim(`${inertLine(`${model.label} · session ${session.id}`, 200)}\n`));
    }
    const turn = prompt === "" ? session.resume() : session.send(prompt);
    const stop = stopOnSignals(() => turn.cancel());
    const outcome =
      flags.json === true ? await asJson(session, turn, terminal) : await asText(turn, terminal);
    return stop() ?? outcome;
  } finally {
    await session.close();
  }
}

function noPrompt(): ThroughlineError {
  return new ThroughlineError({
    code: "no_prompt",
    message: 'there is nothing to do: give a prompt (throughline -p "…"), or pipe one in',
  });
}

async function asText(turn: Turn, terminal: Terminal): Promise<number> {
  const progress = new ProgressLines(terminal);
  for await (const event of turn) progress.show(event);
  const result = await turn.result();
  if (result.text !== "") {
    const text = terminal.stdout.isTTY === true ? inert(result.text) : result.text;
    terminal.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }
  reportEnd(result, terminal);
  return exitCodeOf(result, progress.neededPermission);
}

function reportEnd(result: TurnResult, terminal: Terminal): void {
  if (result.status === "completed") return;
  const why =
    result.error === undefined ? (result.reason ?? "") : `[${result.error.code}] ${result.error.message}`;
  terminal.stderr.write(
    `throughline: the turn ended ${result.status}${why === "" ? "" : `: ${inertLine(why, 500)}`}\n`,
  );
}

/** The log's own events, plus deltas; first line `session`, last line `result`. */
async function asJson(session: Session, turn: Turn, terminal: Terminal): Promise<number> {
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
  const { status, text, steps, usage, reason, error } = await turn.result();
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
  return exitCodeOf(await turn.result(), progress.neededPermission);
}

function lineOf(event: SessionEvent): string {
  return isEphemeral(event) ? JSON.stringify(event) : toLine(event);
}

const nowhere = { write: () => true } as unknown as Terminal["stderr"];
