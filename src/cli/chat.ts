/**
 * A plain chat on a terminal: one line in, a turn told in lines, the answer as it comes. The full terminal interface is
 * another room; this one needs nothing but lines and works everywhere.
 *
 * @module
 */

import { createInterface, type Interface } from "node:readline/promises";

import type { PermissionRequest } from "../events/index.ts";
import { modelFrom } from "../models/index.ts";
import type { Session, Turn } from "../session/index.ts";
import { isThroughlineError, messageOf } from "../support/index.ts";
import type { Tool } from "../tools/index.ts";
import { EXIT } from "./exit-codes.ts";
import { inert, inertLine } from "./inert-text.ts";
import { openSession, type RunFlags } from "./open-session.ts";
import { ProgressLines } from "./show-progress.ts";
import type { Terminal } from "./terminal.ts";

const HELP = `Type a message and press Enter. Commands:
  /model provider/model[:effort]   go on with another model
  /retry                           answer the last message again, on a new branch
  /resume                          finish an interrupted turn
  /explain                         what the next request carries, and why
  /help   /exit                    Ctrl-C stops a turn; at the prompt it leaves`;

export async function chat(
  words: readonly string[],
  flags: RunFlags,
  terminal: Terminal,
  options: { readonly tools?: readonly Tool[] } = {},
): Promise<number> {
  const { session, model } = await openSession(flags, { canAsk: true, terminal, ...options });
  const chatting = new Chat(session, terminal);
  try {
    terminal.stderr.write(`${banner(model.label, session)}\n`);
    return await chatting.run(words.join(" ").trim());
  } finally {
    chatting.close();
    await session.close();
    terminal.stderr.write(terminal.dim(`To go on: throughline -r ${session.id}\n`));
  }
}

function banner(label: string, session: Session): string {
  const emulated = label.startsWith("emulator/")
    ? "No API key found or asked for, so this is the built-in emulator: a stand-in that follows rules, not a model.\nReal models: export OPENAI_API_KEY=…, then throughline -m openai/gpt-5.6:high\n"
    : "";
  const open = session.interrupted
    ? "\nThe last turn was interrupted: /resume finishes it, a new message goes on without it."
    : "";
  return `${emulated}${inertLine(label, 200)} · session ${session.id} · /help${open}`;
}

class Chat {
  readonly #session: Session;
  readonly #terminal: Terminal;
  readonly #lines: Interface;
  #turn: Turn | undefined;
  /** Aborted by Ctrl-C in the turn under way: a question that stands is withdrawn. */
  #stopped = new AbortController();
  #leaving = false;
  /** Lines typed while a turn ran: sent when it is over, never taken as the answer to a question. */
  readonly #typedAhead: string[] = [];

  constructor(session: Session, terminal: Terminal) {
    this.#session = session;
    this.#terminal = terminal;
    this.#lines = createInterface({ input: terminal.stdin, output: terminal.stdout });
    this.#lines.on("SIGINT", () => this.#interrupt());
    this.#lines.on("line", (line) => this.#typedAhead.push(line.trim())); // only what no question asked for
  }

  async run(first: string): Promise<number> {
    let line: string | undefined = first;
    while (line !== undefined) {
      if (line !== "") await this.#handle(line);
      line = this.#leaving ? undefined : (this.#nextTyped() ?? (await this.#ask("› ")));
    }
    return EXIT.ok;
  }

  close(): void {
    this.#lines.close();
  }

  #nextTyped(): string | undefined {
    const line = this.#typedAhead.shift();
    if (line !== undefined) this.#terminal.stdout.write(`› ${inertLine(line, 200)}\n`);
    return line;
  }

  /** Undefined at the end of the input (Ctrl-D, a closed terminal), or when the question is withdrawn. */
  async #ask(prompt: string, withdrawn?: AbortSignal): Promise<string | undefined> {
    const ended = new AbortController();
    const end = (): void => ended.abort();
    this.#lines.once("close", end);
    try {
      const signal = withdrawn === undefined ? ended.signal : AbortSignal.any([ended.signal, withdrawn]);
      return (await this.#lines.question(prompt, { signal })).trim();
    } catch {
      return undefined;
    } finally {
      this.#lines.off("close", end);
    }
  }

  #interrupt(): void {
    if (this.#turn !== undefined) {
      this.#turn.cancel();
      this.#stopped.abort();
      return;
    }
    this.#leaving = true;
    this.#terminal.stdout.write("\n");
    this.#lines.close();
  }

  async #handle(line: string): Promise<void> {
    try {
      await this.#command(line);
    } catch (error) {
      if (!isThroughlineError(error)) throw error;
      this.#say(`${error.message} [${error.code}]`);
    }
  }

  async #command(line: string): Promise<void> {
    const [word = "", ...rest] = line.split(/\s+/);
    switch (word) {
      case "/exit":
      case "/quit":
        this.#leaving = true;
        break;
      case "/help":
        this.#say(HELP);
        break;
      case "/model":
        await this.#switch(rest.join(" "));
        break;
      case "/retry":
        await this.#show(this.#session.retry());
        break;
      case "/resume":
        await this.#show(this.#session.resume());
        break;
      case "/explain":
        await this.#explain();
        break;
      default:
        if (line.startsWith("/")) this.#say(`There is no command ${word}; /help lists them.`);
        else await this.#show(this.#session.send(line));
    }
  }

  async #switch(name: string): Promise<void> {
    const model = modelFrom(name);
    const { kept, left } = await this.#session.previewSwitch(model);
    await this.#session.setModel(model);
    this.#say(
      `Next: ${model.label}. Of ${kept + left} thoughts ${kept} travel; ${left} stay in the log for the model that made them.`,
    );
  }

  async #explain(): Promise<void> {
    const decisions = await this.#session.explain();
    for (const { seq, type, action, why } of decisions) {
      this.#say(`${String(seq).padStart(4)}  ${type.padEnd(18)} ${action.padEnd(10)} ${inertLine(why, 60)}`);
    }
  }

  async #show(turn: Turn): Promise<void> {
    this.#turn = turn;
    this.#stopped = new AbortController();
    const progress = new ProgressLines(this.#terminal);
    let midLine = false;
    for await (const event of turn) {
      if (event.type === "text_delta") {
        this.#terminal.stdout.write(inert(event.delta));
        midLine = true;
        continue;
      }
      if (midLine && event.type === "text_end") {
        this.#terminal.stdout.write("\n");
        midLine = false;
      }
      progress.show(event);
      if (event.type === "permission_request") await this.#permission(event);
    }
    this.#turn = undefined;
    const { status, reason, error, usage, steps } = await turn.result();
    const why = error === undefined ? (reason ?? "") : `[${error.code}] ${error.message}`;
    const end = status === "completed" ? "" : `${status}${why === "" ? "" : `: ${why}`} · `;
    this.#say(
      `${midLine ? "\n" : ""}─ ${end}${steps} requests · ↑${usage.inputTokens} ↓${usage.outputTokens} (${usage.reasoningTokens} reasoning)`,
    );
  }

  /**
   * Default: no. The arguments are shown escaped, so that they cannot redraw the question, and whole: what is cut off
   * is approved unseen.
   */
  async #permission(request: PermissionRequest): Promise<void> {
    const call = inertLine(`${request.tool}(${request.arguments})`, Number.POSITIVE_INFINITY);
    const { signal } = this.#stopped;
    const answer = await this.#ask(`Allow ${request.access}: ${call} ? [y/N] `, signal);
    if (signal.aborted) {
      this.#terminal.stdout.write("\n");
      return;
    }
    try {
      if (/^y(?:es)?$/i.test(answer ?? "")) await this.#session.approve(request.requestId);
      else await this.#session.deny(request.requestId);
    } catch (error) {
      // Ended while the question stood: nobody waits for the answer any more.
      this.#say(messageOf(error));
    }
  }

  #say(text: string): void {
    this.#terminal.stderr.write(`${this.#terminal.dim(inert(text))}\n`);
  }
}
