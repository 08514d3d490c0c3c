/**
 * A plain chat: reads lines, writes each turn as lines and the answer as it arrives. It works on every terminal; choices
 * are numbered. Commands behave as in the full interface.
 */

import { createInterface, type Interface } from "node:readline/promises";

import type { Input, SessionHandle, Turn } from "../../base/api/index.ts";
import type { ElicitationRequest, PermissionRequest } from "../../base/events/index.ts";
import { isThroughlineError, messageOf, unmistakableLine } from "../../base/support/index.ts";
import { SessionFacts } from "../../runtime/facts/index.ts";
import {
  type Block,
  BlockList,
  mcpQuestionLines,
  reasoningLabel,
  ThoughtMarks,
  ToolNames,
} from "../fragments/index.ts";
import {
  type Choice,
  type CommandHost,
  helpText,
  type ChatEnd,
  type Ports,
  runSlashCommand,
} from "../tui/index.ts";
import { amount } from "./amount.ts";
import { inert, inertLine } from "./inert-text.ts";
import { lineElicitation } from "./line-elicitation.ts";
import { ProgressLines } from "./show-progress.ts";
import { SpokenLines } from "./spoken-lines.ts";
import { forLineEditor } from "./terminal-gate.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./wrapped-output.ts";

export interface LineChatOptions {
  readonly handle: SessionHandle;
  /** The session is written by this process and not by a server. */
  readonly local: boolean;
  readonly terminal: Terminal;
  /** Writes sentences and asks for numbers, for a screen reader. */
  readonly spoken: boolean;
  readonly ports: Ports;
  readonly first: string;
  readonly signal: AbortSignal;
}

export async function lineChat(options: LineChatOptions): Promise<ChatEnd> {
  const chat = new LineChat(options);
  try {
    return await chat.run();
  } finally {
    chat.close();
  }
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "send the line; a line typed while a turn runs is sent after it"],
  ["/now TEXT while a turn runs", "sends the text into that turn"],
  ["Ctrl-C stops a turn", "at the prompt it exits, like Ctrl-D"],
];

class LineChat {
  readonly #options: LineChatOptions;
  readonly #terminal: Terminal;
  readonly #lines: Interface;
  readonly #facts: SessionFacts;
  readonly #names = new ToolNames();
  readonly #host: CommandHost;
  #turn: Turn | undefined;
  /** Aborted when Ctrl-C stops the running turn, to withdraw an open question. */
  #stopped = new AbortController();
  #outcome: ChatEnd | undefined;
  /** Lines typed while a turn ran. They are sent after it ends and never answer a question. */
  readonly #typedAhead: string[] = [];
  /** Messages that were sent into the running turn. */
  readonly #steered: { readonly turn: Turn; readonly text: string }[] = [];

  constructor(options: LineChatOptions) {
    const { terminal, signal } = options;
    this.#options = options;
    this.#terminal = terminal;
    this.#facts = new SessionFacts(options.ports.costOf);
    this.#lines = createInterface({ input: terminal.stdin, output: forLineEditor(terminal.stdout) });
    this.#lines.on("SIGINT", () => this.#interrupt());
    this.#lines.on("line", (line) => this.#typed(line.trim())); // only lines that answer no question arrive here
    signal.addEventListener("abort", () => this.#leave(), { once: true });
    this.#host = this.#createHost();
  }

  async run(): Promise<ChatEnd> {
    const { handle, first } = this.#options;
    for await (const event of handle.events()) {
      this.#facts.add([event]);
      if (event.type === "settings") this.#names.add(event.settings.tools);
    }
    if (handle.access === "read") return this.#watch();
    let line: string | undefined = first;
    while (line !== undefined) {
      if (this.#fenced) return this.#openAgain(line);
      if (line !== "") await this.#handle(line);
      if (this.#outcome === undefined && this.#fenced) {
        this.#say("If the session does not have your last message, send it again.");
        return this.#openAgain("");
      }
      line =
        this.#outcome === undefined ? (this.#nextTyped() ?? (await this.#ask(this.#prompt()))) : undefined;
    }
    return this.#outcome ?? { type: "leave" };
  }

  close(): void {
    this.#lines.close();
  }

  /** True if this process wrote the session and may not any more, because another one may go on with it. */
  get #fenced(): boolean {
    const { handle, local } = this.#options;
    return local && handle.access === "write" && handle.writer === "none";
  }

  #openAgain(first: string): ChatEnd {
    this.#say(
      "This terminal may no longer write the session: another process may have gone on with it. Opening it again.",
    );
    return { type: "open", id: this.#options.handle.id, first };
  }

  #prompt(): string {
    return this.#options.spoken ? "You: " : "› ";
  }

  /** Follows a session that another process writes, until it ends or the user exits. */
  async #watch(): Promise<ChatEnd> {
    const { handle, signal } = this.#options;
    this.#say("Another process is writing this session. Following it; press Ctrl-C to exit.");
    const stop = new AbortController();
    this.#lines.once("close", () => stop.abort());
    const show = this.#teller();
    const after = this.#facts.lastSeq; // what another process has written since then is news
    for await (const event of handle.follow({ after, signal: AbortSignal.any([signal, stop.signal]) })) {
      if (event.type === "reset") this.#say("The session was reset to an earlier state. Here is all of it:");
      if (event.type === "user_message")
        this.#say(`${event.steer === undefined ? "›" : "↪"} ${this.#textOf(event.content)}`);
      if (event.type === "assistant_message") this.#terminal.stdout.write(`${inert(event.text)}\n`);
      show(event);
    }
    return { type: "leave" };
  }

  #textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
    return content.map(({ type, text }) => text ?? `[${type}]`).join(" ");
  }

  /** A line that was typed while a turn runs. It waits for the end of the turn, unless it says that it must not. */
  #typed(line: string): void {
    const [, text] = NOW.exec(line) ?? [];
    if (text === undefined || this.#turn === undefined) this.#typedAhead.push(line);
    else this.#steer(text);
  }

  #steer(text: string): void {
    const { handle } = this.#options;
    const input = this.#inputOf(text);
    if (this.#turn === undefined) {
      this.#turn = handle.send(input);
      return;
    }
    try {
      this.#steered.push({ turn: handle.send(input, { whenBusy: "steer" }), text });
      this.#say("Sent; it joins the turn before its next request.");
    } catch (error) {
      this.#say(problemOf(error));
    }
  }

  /** A message that joined is shown with its turn. One that was too late is answered in its own turn, shown next. */
  async #showSteered(): Promise<void> {
    for (let next = this.#steered.shift(); next !== undefined; next = this.#steered.shift()) {
      if (this.#facts.steered.has(next.turn.id)) continue;
      this.#say(`${this.#prompt()}${next.text}`);
      await this.#show(next.turn);
    }
  }

  #inputOf(text: string): Input {
    return this.#options.ports.inputOf?.(text, (notice) => this.#say(notice)) ?? text;
  }

  #nextTyped(): string | undefined {
    const line = this.#typedAhead.shift();
    if (line !== undefined) this.#terminal.stdout.write(`${this.#prompt()}${inertLine(line, 200)}\n`);
    return line;
  }

  /** Returns undefined at the end of the input (Ctrl-D, a closed terminal) or if the question is withdrawn. */
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
    this.#leave();
  }

  #leave(): void {
    this.#outcome ??= { type: "leave" };
    this.#turn?.cancel();
    this.#terminal.stdout.write("\n");
    this.#lines.close();
  }

  async #handle(line: string): Promise<void> {
    try {
      if (!(await runSlashCommand(line, this.#host))) {
        this.#turn = this.#options.handle.send(this.#inputOf(line));
      }
      if (this.#turn !== undefined) await this.#show(this.#turn);
      await this.#showSteered();
    } catch (error) {
      this.#turn = undefined;
      if (!isThroughlineError(error)) throw error;
      this.#say(problemOf(error));
    }
  }

  #createHost(): CommandHost {
    const { handle, ports } = this.#options;
    const facts = this.#facts;
    return {
      handle,
      ports,
      busy: false, // lines are read only while no turn runs
      get lastMessage() {
        return facts.lastMessage;
      },
      say: (text) => this.#say(text),
      help: () => this.#say(`Type a message and press Enter. Commands:\n${helpText(KEYS, 80, ports)}`),
      // The outcome of a choice says what there is to know about it.
      choose: (title, choices) => this.#choose(title, choices),
      steer: (text) => this.#steer(text),
      started: (turn) => {
        this.#turn = turn;
      },
      rewrite: ({ text }) => this.#say(`Last message: ${text}\nTo replace it: /edit NEW TEXT`),
      leave: (outcome) => {
        this.#outcome = outcome;
      },
    };
  }

  async #choose(title: string, choices: readonly Choice[]): Promise<string | undefined> {
    this.#say(`${title}:`);
    for (const [at, { label, note }] of choices.entries())
      this.#say(`  ${at + 1} ${label}${note === undefined ? "" : `, ${note}`}`);
    const answer = await this.#ask(`Number, 1 to ${choices.length} (Enter cancels): `);
    return choices[Number(answer) - 1]?.value;
  }

  #teller(): (event: Parameters<ProgressLines["show"]>[0]) => void {
    const lines = this.#options.spoken
      ? new SpokenLines((line) => wrapped(this.#terminal.stderr).write(`${line}\n`), this.#names)
      : new ProgressLines(this.#terminal, { names: this.#names });
    return (event) => lines.show(event);
  }

  async #show(turn: Turn): Promise<void> {
    this.#turn = turn;
    this.#stopped = new AbortController();
    const show = this.#teller();
    const seen = new BlockList();
    let midLine = false;
    for await (const event of turn) {
      this.#facts.add([event]);
      seen.add([event]);
      if (event.type === "text_delta") {
        this.#terminal.stdout.write(event.delta);
        midLine = true;
        continue;
      }
      if (event.type === "user_message" && event.steer !== undefined)
        this.#say(`${this.#options.spoken ? "Joined the turn:" : "↪"} ${this.#textOf(event.content)}`);
      if (midLine && event.type === "text_end") {
        this.#terminal.stdout.write("\n");
        midLine = false;
      }
      if (event.type === "elicitation_request") {
        await this.#elicitation(event); // which shows all of it
        continue;
      }
      show(event);
      if (event.type === "permission_request") await this.#permission(event);
    }
    this.#turn = undefined;
    this.#tellEnd(await turn.result(), midLine);
    await this.#tellUnsent(seen.view({ writerAlive: false }));
  }

  /** Says which thoughts of the turn stay behind. Without an answer from the session there is nothing to say. */
  async #tellUnsent(blocks: readonly Block[]): Promise<void> {
    const thoughts = blocks.filter((block) => block.kind === "reasoning");
    if (thoughts.length === 0) return;
    const { handle, spoken } = this.#options;
    const decisions = await handle.explain().catch(() => undefined);
    if (decisions === undefined) return;
    const marks = new ThoughtMarks(decisions, handle.model.settings.target);
    for (const block of thoughts) {
      const unsent = marks.of(block);
      if (unsent === undefined) continue;
      const label = reasoningLabel(block);
      this.#say(
        spoken
          ? `Not sent with the next request: ${label.replaceAll(" · ", ", ")}. Reason: ${unsent.words}.`
          : `⊘ ${label} · Not sent · ${unsent.words}`,
      );
    }
  }

  #tellEnd(
    { status, reason, error, usage, steps }: Awaited<ReturnType<Turn["result"]>>,
    midLine: boolean,
  ): void {
    const why = error === undefined ? (reason ?? "") : `[${error.code}] ${error.message}`;
    const end = status === "completed" ? "" : `${status}${why === "" ? "" : `: ${why}`}`;
    const { inputTokens, outputTokens, reasoningTokens } = usage;
    // A turn that is stopped before its first response ends has no token counts.
    const counted = inputTokens > 0 || outputTokens > 0;
    const spokenTokens = counted ? `, ${amount(inputTokens, "token")} in, ${outputTokens} out` : "";
    const spoken = `${end === "" ? "Done" : `Ended: ${end}`}, ${amount(steps, "request")}${spokenTokens}.`;
    const tokens = counted ? ` · ↑${inputTokens} ↓${outputTokens} (${reasoningTokens} reasoning)` : "";
    const short = `─ ${end === "" ? "" : `${end} · `}${amount(steps, "request")}${tokens}`;
    this.#say(`${midLine ? "\n" : ""}${this.#options.spoken ? spoken : short}`);
  }

  /**
   * The default is no. The arguments are escaped, so that they cannot redraw the question, and never shortened, so that
   * nothing is approved unseen.
   */
  async #permission(request: PermissionRequest): Promise<void> {
    const [whose, ...changed] = mcpQuestionLines(request);
    const call =
      whose === undefined
        ? unmistakableLine(`${request.tool}(${request.arguments})`)
        : `${whose}, with ${unmistakableLine(request.arguments)}`;
    for (const line of changed) this.#say(line);
    const { signal } = this.#stopped;
    const { spoken, handle } = this.#options;
    const { rule } = request;
    if (rule !== undefined) {
      const any = rule.includes(":") ? "" : " with any arguments";
      this.#say(
        `${spoken ? "For this session means" : "a allows for this session"}: ${unmistakableLine(rule)}${any}`,
      );
    }
    const how = spoken ? spokenChoices(rule) : rule === undefined ? "[y/N] " : "[y/a/N] ";
    const answer = await this.#ask(`Allow ${request.access}: ${call} ? ${how}`, signal);
    if (signal.aborted) {
      this.#terminal.stdout.write("\n");
      return;
    }
    try {
      const { argumentsHash } = request;
      const forSession = rule !== undefined && /^(?:a|3)$/i.test(answer ?? "");
      if (forSession || /^(?:y|yes|1)$/i.test(answer ?? ""))
        await handle.approve(
          request.requestId,
          forSession ? { argumentsHash, forSession } : { argumentsHash },
        );
      else await handle.deny(request.requestId);
    } catch (error) {
      // The turn ended while the question was open, so the answer is no longer needed.
      this.#say(messageOf(error));
    }
  }

  /** At the end of the input nobody can decide any more, which is what `cancel` says. */
  async #elicitation(request: ElicitationRequest): Promise<void> {
    const { signal } = this.#stopped;
    const { spoken, handle } = this.#options;
    const answer = await lineElicitation(request, {
      spoken,
      say: (text) => this.#say(text),
      ask: (prompt) => this.#ask(prompt, signal),
    });
    if (signal.aborted) {
      this.#terminal.stdout.write("\n");
      return;
    }
    try {
      await handle.answer(request.requestId, answer ?? { action: "cancel" });
    } catch (error) {
      // It was answered elsewhere, or its call ended, while the person was typing.
      this.#say(messageOf(error));
    }
  }

  #say(text: string): void {
    wrapped(this.#terminal.stderr).write(`${this.#terminal.dim(inert(text))}\n`);
  }
}

const NOW = /^\/now\s+([^]+)$/;

function problemOf(error: unknown): string {
  return isThroughlineError(error) ? `${error.message} [${error.code}]` : messageOf(error);
}

function spokenChoices(rule: string | undefined): string {
  const more = rule === undefined ? "" : ", 3 for yes in this whole session";
  return `Type 1 for yes, 2 for no${more} (Enter means no): `;
}
