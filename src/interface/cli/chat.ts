/**
 * The chat on a terminal: opens the session, picks an interface that suits the terminal, and switches to another session
 * on request. If another process is writing the session, the chat follows it.
 */

import type { SessionHandle } from "../../base/api/index.ts";
import type { InputPart } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { Tool } from "../../runtime/tools/index.ts";
import { createStyle, type ChatEnd, type Ports, runTui } from "../tui/index.ts";
import { attachFiles, mentionedFiles, refuseUnsupported, supportedParts } from "./attached-files.ts";
import { type ChatSessions, localSessions, remoteSessions } from "./chat-sessions.ts";
import { EXIT } from "./exit-codes.ts";
import { inertLine } from "./inert-text.ts";
import { openInputHistory } from "./input-history.ts";
import { lineChat } from "./line-chat.ts";
import { enterDirectory, type RunFlags } from "./open-session.ts";
import { rawTerminal } from "./raw-terminal.ts";
import { stopOnSignals } from "./signals.ts";
import type { Terminal } from "./terminal.ts";
import { whenUnread } from "./unread-output.ts";
import { wrapped } from "./wrapped-output.ts";

export async function chat(
  words: readonly string[],
  given: RunFlags,
  terminal: Terminal,
  options: { readonly tools?: readonly Tool[] } = {},
): Promise<number> {
  enterDirectory(given.directory);
  const { directory: _entered, ...flags } = given;
  let first = words.join(" ").trim();
  const attached = attachFiles(flags.input ?? []);
  if (attached.length > 0 && first === "")
    throw codedError("no_prompt", '-i needs a first message: throughline -i FILE "what is this?"');
  const told = diverted(terminal);
  const sessions =
    flags.server === undefined
      ? localSessions(flags, told, options)
      : await remoteSessions(flags.server, flags, told);
  const stop = new AbortController();
  const signalled = stopOnSignals(() => stop.abort());
  const unread = whenUnread(() => stop.abort()); // the terminal itself is gone
  const chatting = new Chatting(sessions, told, {
    signal: stop.signal,
    screenReader: flags.screenReader === true,
    attached: { text: first, parts: attached },
  });
  let handle = await sessions.open();
  let working = false;
  try {
    refuseUnsupported(attached, handle.model.settings);
    for (;;) {
      const { outcome, working: wasWorking } = await chatting.run(handle, first);
      working = wasWorking;
      if (outcome.type === "leave") return signalled() ?? unread() ?? EXIT.ok;
      first = outcome.type === "open" ? (outcome.first ?? "") : "";
      await handle.close();
      handle = outcome.type === "opened" ? outcome.handle : await chatting.open(outcome.id);
    }
  } finally {
    signalled();
    await handle.close();
    unread();
    const goesOn = working && sessions.outlives ? "The turn continues on the server. " : "";
    terminal.stderr.write(terminal.dim(`${goesOn}To continue: ${sessions.goOn(handle.id)}\n`));
  }
}

interface End {
  readonly outcome: ChatEnd;
  /** True if a turn was running. */
  readonly working: boolean;
}

interface ChattingOptions {
  readonly signal: AbortSignal;
  readonly screenReader: boolean;
  /** The files of `-i`, which belong to the first message. */
  readonly attached: { readonly text: string; readonly parts: readonly InputPart[] };
}

class Chatting {
  readonly #sessions: ChatSessions;
  readonly #terminal: Diverted;
  readonly #options: ChattingOptions;
  readonly #history = openInputHistory();
  #draft: string | undefined;

  constructor(sessions: ChatSessions, terminal: Diverted, options: ChattingOptions) {
    this.#sessions = sessions;
    this.#terminal = terminal;
    this.#options = options;
  }

  async run(handle: SessionHandle, first: string): Promise<End> {
    const terminal = this.#terminal;
    const sessions = this.#sessions;
    const { signal } = this.#options;
    const ports = { ...sessions.ports(), inputOf: this.#inputOf(handle) };
    const spoken = terminal.spoken || this.#options.screenReader;
    const banner = bannerText(handle, sessions);
    if (spoken || terminal.linesOnly) {
      wrapped(terminal.stderr).write(`${banner}\n`);
      const local = !sessions.outlives;
      const outcome = await lineChat({ handle, local, terminal, spoken, ports, first, signal });
      return { outcome, working: false };
    }
    const files = sessions.files();
    const end = await runTui({
      handle,
      terminal: rawTerminal(),
      style: createStyle(terminal.colour),
      ports,
      files,
      history: this.#history,
      directory: sessions.name(),
      now: () => performance.now(), // for durations: the wall clock may be set back under a turn
      signal,
      messages: (listener) => terminal.divert(listener),
      intro: banner,
      first,
      draft: this.#draft,
    });
    this.#draft = end.unsent.length === 0 ? undefined : end.unsent.join("\n\n");
    if (end.type === "leave" && this.#draft !== undefined) this.#keepUnsent(end.unsent);
    return { outcome: end, working: end.working };
  }

  /** Opens another session. If that fails, what was typed is kept for the next chat. */
  async open(id: string): Promise<SessionHandle> {
    try {
      return await this.#sessions.openOther(id);
    } catch (error) {
      if (this.#draft !== undefined) this.#keepUnsent([this.#draft]);
      throw error;
    }
  }

  /** On a server an @ names one of its files, which its tools read, so the text stays as it is. */
  #inputOf(handle: SessionHandle): NonNullable<Ports["inputOf"]> {
    const { attached } = this.#options;
    return (text, notice) => {
      const named = this.#sessions.outlives ? [] : mentionedFiles(text, process.cwd(), notice);
      const parts = [
        ...supportedParts(named, handle.model.settings, notice),
        ...(text === attached.text ? attached.parts : []),
      ];
      return parts.length === 0 ? text : [{ type: "text", text }, ...parts];
    };
  }

  #keepUnsent(unsent: readonly string[]): void {
    for (const text of unsent) this.#history.add(text);
    const texts = unsent.map((text) => `  ${inertLine(text, 200)}\n`).join("");
    this.#terminal.stderr.write(`Not sent (press Up in the next chat to get it back):\n${texts}`);
  }
}

function bannerText(handle: SessionHandle, sessions: ChatSessions): string {
  const { label } = handle.model;
  const standIn = label.startsWith("emulator/") ? (sessions.outlives ? STAND_IN_THERE : STAND_IN_HERE) : "";
  const open = handle.interrupted
    ? "\nThe last turn was interrupted: /resume finishes it, a new message continues without it."
    : "";
  const where = sessions.outlives ? ` on ${sessions.name()}` : "";
  return `${standIn}${inertLine(label, 200)} · session ${handle.id}${where} · /help${open}`;
}

const STAND_IN_HERE =
  "You are chatting with the built-in emulator, which follows fixed rules and is not a model. It needs no API key.\nTo use a real model: export OPENAI_API_KEY=…, then throughline -m openai/gpt-5.6:high\n";
const STAND_IN_THERE =
  "The server uses its built-in emulator, which follows fixed rules and is not a model.\n";

// oxlint-disable-next-line no-control-regex -- styles are for the terminal, the interface has its own
const STYLES = /\u001B\[[\d;]*m/g;

interface Diverted extends Terminal {
  readonly divert: (listener: (text: string) => void) => () => void;
}

/** While the full interface has the screen, what others say to the person becomes a note in it. */
function diverted(terminal: Terminal): Diverted {
  let heard: ((text: string) => void) | undefined;
  const write = (text: string | Uint8Array): boolean => {
    if (heard === undefined) return terminal.stderr.write(text);
    heard(String(text).replaceAll(STYLES, "").trimEnd());
    return true;
  };
  return {
    ...terminal,
    stderr: Object.assign(Object.create(terminal.stderr) as Terminal["stderr"], { write }),
    divert: (listener) => {
      heard = listener;
      return () => {
        heard = undefined;
      };
    },
  };
}
