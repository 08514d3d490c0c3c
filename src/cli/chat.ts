/**
 * The chat on a terminal: opens the session, chooses the interface a person can use, and goes on with another session
 * when one is asked for. A session that another process writes is followed instead of refused.
 *
 * @module
 */

import { homedir } from "node:os";
import { basename } from "node:path";

import type { SessionHandle } from "../api/index.ts";
import type { Session } from "../session/index.ts";
import type { Tool } from "../tools/index.ts";
import { createStyle, type Outcome, runTui } from "../tui/index.ts";
import { chatPorts } from "./chat-ports.ts";
import { EXIT } from "./exit-codes.ts";
import { inertLine } from "./inert-text.ts";
import { openInputHistory } from "./input-history.ts";
import { lineChat } from "./line-chat.ts";
import { openSession, type RunFlags } from "./open-session.ts";
import { projectFiles } from "./project-files.ts";
import { rawTerminal } from "./raw-terminal.ts";
import { stopOnSignals } from "./signals.ts";
import type { Terminal } from "./terminal.ts";

export async function chat(
  words: readonly string[],
  flags: RunFlags,
  terminal: Terminal,
  options: { readonly tools?: readonly Tool[] } = {},
): Promise<number> {
  const told = new Diverted(terminal);
  const open = async (wanted: RunFlags): Promise<Session> =>
    (await openSession(wanted, { canAsk: true, attach: true, terminal: told, ...options })).session;
  const stop = new AbortController();
  const ended = stopOnSignals(() => stop.abort());
  const chatting = new Chatting(flags, told, stop.signal);
  let handle: SessionHandle = await open(flags);
  let first = words.join(" ").trim();
  try {
    for (;;) {
      const outcome = await chatting.run(handle, first);
      first = "";
      if (outcome.type === "leave") return ended() ?? EXIT.ok;
      await handle.close();
      handle =
        outcome.type === "opened" ? outcome.handle : await open({ ...later(flags), resume: outcome.id });
    }
  } finally {
    ended();
    await handle.close();
    terminal.stderr.write(terminal.dim(`To go on: throughline -r ${handle.id}\n`));
  }
}

/** Another session has its own model, and the directory has been entered. */
function later({
  model: _model,
  effort: _effort,
  continue: _continue,
  directory: _directory,
  ...rest
}: RunFlags): RunFlags {
  return rest;
}

class Chatting {
  readonly #flags: RunFlags;
  readonly #terminal: Diverted;
  readonly #signal: AbortSignal;
  readonly #history = openInputHistory();
  #draft: string | undefined;

  constructor(flags: RunFlags, terminal: Diverted, signal: AbortSignal) {
    this.#flags = flags;
    this.#terminal = terminal;
    this.#signal = signal;
  }

  async run(handle: SessionHandle, first: string): Promise<Outcome> {
    const terminal = this.#terminal;
    const ports = chatPorts(process.cwd(), terminal);
    const spoken = terminal.spoken || this.#flags.screenReader === true;
    if (spoken || terminal.linesOnly) {
      terminal.stderr.write(`${bannerText(handle)}\n`);
      return lineChat({ handle, terminal, spoken, ports, first, signal: this.#signal });
    }
    const end = await runTui({
      handle,
      terminal: rawTerminal(),
      style: createStyle(terminal.colour),
      ports,
      files: projectFiles(process.cwd(), systemNow),
      history: this.#history,
      directory: shortDirectory(process.cwd()),
      now: systemNow,
      signal: this.#signal,
      messages: (listener) => terminal.divert(listener),
      intro: bannerText(handle),
      first,
      ...(this.#draft === undefined ? {} : { draft: this.#draft }),
    });
    this.#draft = end.unsent.length === 0 ? undefined : end.unsent.join("\n\n");
    if (end.type === "leave" && this.#draft !== undefined) this.#keepUnsent(end.unsent);
    return end;
  }

  #keepUnsent(unsent: readonly string[]): void {
    for (const text of unsent) this.#history.add(text);
    const texts = unsent.map((text) => `  ${inertLine(text, 200)}\n`).join("");
    this.#terminal.stderr.write(`Not sent; Up brings it back next time:\n${texts}`);
  }
}

function bannerText(handle: SessionHandle): string {
  const { label } = handle.model;
  const emulated = label.startsWith("emulator/")
    ? "No API key found or asked for, so this is the built-in emulator: a stand-in that follows rules, not a model.\nReal models: export OPENAI_API_KEY=…, then throughline -m openai/gpt-5.6:high\n"
    : "";
  const open = handle.interrupted
    ? "\nThe last turn was interrupted: /resume finishes it, a new message goes on without it."
    : "";
  return `${emulated}${inertLine(label, 200)} · session ${handle.id} · /help${open}`;
}

const LONG_DIRECTORY = 24;

function shortDirectory(path: string): string {
  const home = homedir();
  const short = path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
  return short.length <= LONG_DIRECTORY ? short : `…/${basename(short)}`;
}

function systemNow(): number {
  return Date.now();
}

// oxlint-disable-next-line no-control-regex -- styles are for the terminal, the interface has its own
const STYLES = /\u001B\[\d*m/g;

/** While the full interface has the screen, what others say to the person becomes a note in it. */
class Diverted implements Terminal {
  readonly interactive: boolean;
  readonly linesOnly: boolean;
  readonly spoken: boolean;
  readonly colour: boolean;
  readonly stdout: Terminal["stdout"];
  readonly stderr: Terminal["stderr"];
  readonly stdin: Terminal["stdin"];
  readonly dim: Terminal["dim"];
  readonly bold: Terminal["bold"];
  #listener: ((text: string) => void) | undefined;

  constructor(terminal: Terminal) {
    const { interactive, linesOnly, spoken, colour, stdout, stdin, dim, bold } = terminal;
    this.interactive = interactive;
    this.linesOnly = linesOnly;
    this.spoken = spoken;
    this.colour = colour;
    this.stdout = stdout;
    this.stdin = stdin;
    this.dim = dim;
    this.bold = bold;
    const write = (text: string | Uint8Array): boolean => {
      if (this.#listener === undefined) return terminal.stderr.write(text);
      this.#listener(String(text).replaceAll(STYLES, "").trimEnd());
      return true;
    };
    this.stderr = Object.assign(Object.create(terminal.stderr) as Terminal["stderr"], { write });
  }

  divert(listener: (text: string) => void): () => void {
    this.#listener = listener;
    return () => {
      this.#listener = undefined;
    };
  }
}
