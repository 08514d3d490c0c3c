/**
 * The terminal interface: follows a session, draws it, and turns keys into calls on the handle. It keeps no state of its
 * own about the session: everything shown comes from events, and unsent text is given back at the end.
 */

import { NOTE_MARGIN } from "./block-rows.ts";
import { COMMANDS, type CommandHost, type ChatEnd, runSlashCommand } from "./commands.ts";
import { createCompletion } from "./completion.ts";
import { helpText, KEYS, skillNames } from "./help.ts";
import { inputArea, type InputAreaParts } from "./input-area.ts";
import { Keyboard } from "./keyboard.ts";
import { LineEditor } from "./line-editor.ts";
import { LiveSession, problemText } from "./live-session.ts";
import { PromptNames } from "./mcp-commands.ts";
import { Painter } from "./painter.ts";
import { Picker } from "./picker.ts";
import { QuestionDialog } from "./question-dialog.ts";
import { type InputReader, readInput } from "./terminal-library.ts";
import { TerminalModes } from "./terminal-modes.ts";
import type { TuiEnd, TuiOptions } from "./tui-options.ts";

/** Older turns are in the log and are not printed. */
const SHOWN_TURNS = 12;

export async function runTui(options: TuiOptions): Promise<TuiEnd> {
  return new App(options).run();
}

class App {
  readonly #options: TuiOptions;
  readonly #painter: Painter;
  readonly #prompts: PromptNames;
  readonly #session: LiveSession;
  readonly #editor: LineEditor;
  readonly #dialog: QuestionDialog;
  readonly #keyboard: Keyboard;
  readonly #modes: TerminalModes;
  readonly #host: CommandHost;
  readonly #stop = new AbortController();
  readonly #ended: Promise<ChatEnd>;
  #end: (outcome: ChatEnd) => void = () => undefined;
  #picker: Picker | undefined;

  constructor(options: TuiOptions) {
    this.#options = options;
    this.#session = new LiveSession({
      handle: options.handle,
      local: options.files !== undefined,
      costOf: options.ports.costOf,
      inputOf: options.ports.inputOf,
      now: options.now,
      onChange: () => this.#changed(),
      onBranch: (why) => this.#branch(why),
      say: (text) => this.#painter.note(text),
      giveBack: (text) => {
        this.#editor.text = [text, this.#editor.text].filter((part) => part !== "").join("\n\n");
      },
    });
    this.#painter = new Painter({
      output: options.terminal,
      style: options.style,
      now: () => this.#session.now,
      blocks: () => this.#session.blocks,
      marks: () => this.#session.marks,
      busy: () => this.#session.busyFor !== undefined,
      footer: (width, height) => inputArea(this.#inputAreaParts(), width, height),
    });
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#prompts = new PromptNames(options.handle);
    this.#editor = new LineEditor({
      style: options.style,
      height: () => options.terminal.rows,
      onSubmit: (text) => this.#submit(text),
      onChange: () => this.#painter.schedule(),
      complete: createCompletion(COMMANDS, options.files ?? noFiles, () => this.#named()),
    });
    this.#dialog = new QuestionDialog({
      handle: options.handle,
      asked: () => this.#session.question,
      message: this.#editor,
      onProblem: (error) => this.#painter.note(problemText(error)),
    });
    this.#keyboard = new Keyboard({
      options,
      session: this.#session,
      painter: this.#painter,
      editor: this.#editor,
      dialog: this.#dialog,
      picker: () => this.#picker,
      command: (line) => void this.#handle(line),
      steer: (text) => this.#submit(text, "steer"),
      suspend: () => void this.#suspend(),
      end: (outcome) => this.#end(outcome),
    });
    this.#modes = new TerminalModes(options.terminal);
    for (const entry of options.history.entries) this.#editor.remember(entry);
    this.#host = this.#createHost();
  }

  async run(): Promise<TuiEnd> {
    const { handle, terminal, intro, first, draft, signal } = this.#options;
    if (intro !== undefined) this.#painter.note(intro);
    const after = await this.#session.load();
    this.#showHistory();
    await this.#painter.prepare();
    if (draft !== undefined) this.#editor.text = draft;
    const input = this.#readKeys();
    // Keys typed before the terminal was in raw mode have a line feed for Enter.
    let early = true;
    const giveBack = terminal.start({
      input: (data) => {
        input.take(early ? data.replaceAll("\n", "\r") : data);
        early = false;
      },
      resize: () => this.#painter.resize(),
    });
    this.#modes.on();
    const unwatch = handle.onChange(() => {
      this.#session.looked();
      this.#changed();
    });
    const leave = (): void => this.#end({ type: "leave" });
    signal?.addEventListener("abort", leave, { once: true });
    const unhear = this.#options.messages?.((text) => this.#painter.note(text));
    const following = this.#session.follow(after, this.#stop.signal);
    try {
      if (first !== undefined && first !== "") this.#submit(first);
      this.#painter.draw();
      const outcome = await this.#ended;
      const { queue, steering } = this.#session;
      // A server keeps what it was sent; a session of this process ends with it.
      const onTheWay = this.#options.files === undefined ? [] : steering;
      const typed = [...onTheWay, ...queue, this.#editor.text, this.#dialog.typed];
      const unsent = typed.filter((text) => text.trim() !== "");
      return { ...outcome, unsent, working: this.#session.busy };
    } finally {
      signal?.removeEventListener("abort", leave);
      this.#stop.abort();
      unwatch();
      unhear?.();
      this.#painter.end();
      this.#modes.off();
      input.end();
      giveBack();
      await following;
    }
  }

  // Events

  #showHistory(): void {
    const { blocks } = this.#session;
    const messages = blocks.flatMap((block, at) =>
      block.kind === "user" && block.steer !== true ? [at] : [],
    );
    const from = messages.at(-SHOWN_TURNS) ?? 0;
    if (from === 0) return;
    this.#painter.skip(blocks.slice(0, from));
    const earlier = messages.length - SHOWN_TURNS;
    this.#painter.note(`… ${earlier} earlier: ${this.#options.ports.whereToRead(this.#options.handle.id)}`);
  }

  #changed(): void {
    this.#dialog.update();
    this.#painter.schedule();
  }

  #branch(why: string): void {
    if (why === "reset") {
      this.#painter.startOver("↩ The session was reset to an earlier state. Here is all of it:");
      return;
    }
    // The compaction's own notice reports the return from requesting a summary.
    const words =
      why === "compacted" ? undefined : (BRANCH_WORDS[why] ?? "↩ Continuing from an earlier point");
    this.#painter.detach(words);
  }

  /** Skills, and the prompts known so far. */
  #named(): readonly { readonly name: string; readonly about: string }[] {
    this.#prompts.look();
    return [...skillNames(this.#options.ports), ...this.#prompts.known];
  }

  #submit(text: string, how: "send" | "steer" = "send"): void {
    if (this.#session.fenced && !text.startsWith("/")) {
      this.#editor.text = text; // in the input of the session that is opened now
      this.#end({ type: "open", id: this.#options.handle.id });
      return;
    }
    if (text === "") {
      this.#enterAlone();
      return;
    }
    this.#options.history.add(text);
    this.#editor.remember(text);
    void this.#handle(text, how);
  }

  #enterAlone(): void {
    const { handle } = this.#options;
    if (handle.access === "read" && handle.writer === "none") this.#end({ type: "open", id: handle.id });
    this.#session.release();
    this.#painter.schedule();
  }

  async #handle(text: string, how: "send" | "steer" = "send"): Promise<void> {
    try {
      if (!(await runSlashCommand(text, this.#host))) this.#session[how](text);
    } catch (error) {
      this.#painter.note(problemText(error));
    }
  }

  // The terminal

  #readKeys(): InputReader {
    return readInput({
      key: (data) => {
        this.#keyboard.key(data);
        this.#painter.schedule();
      },
      paste: (text) => {
        this.#keyboard.paste(text);
        this.#painter.schedule();
      },
      kitty: () => this.#modes.knowsKitty(),
    });
  }

  async #suspend(): Promise<void> {
    const { terminal } = this.#options;
    if (terminal.suspend === undefined) return;
    this.#painter.pause();
    this.#modes.off();
    await terminal.suspend();
    this.#modes.on();
    this.#painter.resume();
  }

  #createHost(): CommandHost {
    const { handle, ports } = this.#options;
    const session = this.#session;
    return {
      handle,
      ports,
      get busy() {
        return session.busy;
      },
      get lastMessage() {
        return session.facts.lastMessage;
      },
      say: (text) => this.#painter.note(text),
      help: () => this.#painter.note(helpText(KEYS, this.#options.terminal.columns - NOTE_MARGIN, ports)),
      choose: (title, choices, about) =>
        new Promise((resolve) => {
          this.#picker = new Picker({
            title,
            choices,
            about,
            onChange: () => this.#painter.schedule(),
            onEnd: (value) => {
              this.#picker = undefined;
              this.#painter.schedule();
              resolve(value);
            },
          });
          this.#painter.schedule();
        }),
      steer: (text) => session.steer(text),
      started: (turn) => session.started(turn),
      rewrite: ({ seq, text }) => {
        session.rewriting = seq;
        this.#editor.text = text;
        this.#keyboard.hint =
          "Change the message; Enter sends it on a new branch, Esc turns it into a new message.";
        this.#painter.schedule();
      },
      leave: (outcome) => this.#end(outcome),
    };
  }

  #inputAreaParts(): InputAreaParts {
    return {
      options: this.#options,
      session: this.#session,
      editor: this.#editor,
      dialog: this.#dialog,
      picker: this.#picker,
      hint: this.#keyboard.hint,
    };
  }
}

async function noFiles(): Promise<readonly string[]> {
  return [];
}

const BRANCH_WORDS: Readonly<Record<string, string>> = {
  retry: "↩ Answering again",
  retry_steps: "↩ Continuing after the finished steps",
  edit: "↩ Message changed",
  undo: "↩ Taken back",
  truncate: "↩ Cut off here",
  checkout: "↩ Switched to another branch",
  compaction: "↩ Requesting a summary",
};
