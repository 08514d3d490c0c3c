/**
 * The shipped command line on a real pseudo-terminal, its screen read back by a terminal emulator. The test plays the
 * user: it looks at the screen and presses keys; it waits for what it sees, never for time.
 */

import type { Socket } from "node:net";

import { type IPty, spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

import { type Emulator, loadScenario, startEmulator } from "../../src/emulator/index.ts";
import { CLI, emulatorOf, environment, type Place } from "../cli/harness.ts";
import { afterFile } from "../support/clean-up.ts";

/** Only to fail with the screen instead of a bare time-out. */
const DEADLINE_MS = 90_000;

/** A user sees whole frames; a half-drawn one has the old input below the new rows. */
const FRAME_BEGINS = "\u001B[?2026h";
const FRAME_ENDS = "\u001B[?2026l";

export interface ScreenOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export const KEYS = {
  enter: "\r",
  escape: "\u001B",
  up: "\u001B[A",
  down: "\u001B[B",
  pageDown: "\u001B[6~",
  altUp: "\u001B[1;3A",
  altEnter: "\u001B\r",
  tab: "\t",
  backspace: "\u007F",
  controlC: "\u0003",
  controlD: "\u0004",
  controlL: "\u000C",
  controlO: "\u000F",
  controlT: "\u0014",
} as const;

export class ScreenRun {
  readonly pty: IPty;
  readonly terminal: xterm.Terminal;
  readonly ended: Promise<number>;
  /** Every byte the command wrote. */
  bytes = "";
  /** The terminal's replies about itself: a query got through to it. */
  replies = "";
  #exit: number | undefined;
  /** The beginning of a frame that has not arrived whole: a pipe cuts anywhere. */
  #unfinished = "";
  /** How much arrived whole. */
  #drawn = 0;
  readonly #watchers = new Set<() => void>();

  constructor(pty: IPty, columns: number, rows: number) {
    this.pty = pty;
    this.terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
    this.terminal.onData((data) => {
      this.replies += data;
      pty.write(data);
    });
    pty.onData((data) => {
      this.bytes += data;
      const all = this.#unfinished + data;
      const whole = wholeFrames(all);
      this.#unfinished = all.slice(whole);
      this.#drawn += whole;
      this.terminal.write(all.slice(0, whole), () => this.#look());
    });
    this.ended = new Promise((resolve) => {
      pty.onExit(({ exitCode }) => {
        this.#exit = exitCode;
        // Its last output is still on its way to the screen.
        this.terminal.write(this.#unfinished, () => {
          this.#look();
          resolve(exitCode);
        });
      });
    });
    afterFile(() => {
      if (this.#exit === undefined) pty.kill("SIGKILL");
    });
  }

  /** The visible rows, without trailing blanks. */
  get rows(): readonly string[] {
    const { active } = this.terminal.buffer;
    return this.#lines(active.baseY, active.baseY + this.terminal.rows);
  }

  get screen(): string {
    return this.rows.join("\n").trimEnd();
  }

  /** The screen on one line, because a text may be broken over rows. */
  get flat(): string {
    return this.rows.map((row) => row.trim()).join(" ");
  }

  /** The screen with everything that has scrolled away. */
  get everything(): string {
    const { active } = this.terminal.buffer;
    return this.#lines(0, active.baseY + this.terminal.rows)
      .join("\n")
      .trimEnd();
  }

  get cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.terminal.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  /** Resolves when the screen matches. */
  async until(what: string, seen: (run: ScreenRun) => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${why} without ${what}:\n${this.everything}`));
      const deadline = setTimeout(fail, DEADLINE_MS, "still running");
      const look = (): void => {
        const yes = seen(this);
        if (!yes && this.#exit === undefined) return;
        this.#watchers.delete(look);
        clearTimeout(deadline);
        if (yes) resolve();
        else fail(`ended with ${String(this.#exit)}`);
      };
      this.#watchers.add(look);
      look();
    });
  }

  shows(text: string | RegExp): Promise<void> {
    return this.until(String(text), ({ screen, flat }) =>
      typeof text === "string" ? screen.includes(text) || flat.includes(text) : text.test(screen),
    );
  }

  hides(text: string): Promise<void> {
    return this.until(`${text} gone`, ({ screen }) => !screen.includes(text));
  }

  /** The input is there and empty, nothing is running, and no question is open. */
  ready(): Promise<void> {
    return this.until(
      "an empty input",
      ({ rows }) => rows.includes("❯") && !rows.some((row) => /^(?:● W|\? Allow )/.test(row)),
    );
  }

  /**
   * While a turn runs there is a frame each second: after one, nothing is on its way for a while. A frame that was
   * drawn for the old size and arrives at the new one leaves rows behind, on every terminal.
   */
  nextFrame(): Promise<void> {
    const before = this.#drawn;
    return this.until("another frame", () => this.#drawn > before);
  }

  press(keys: string): void {
    this.pty.write(keys);
  }

  /** Types the text, waits until it is shown, and sends it. */
  async say(text: string): Promise<void> {
    this.press(text);
    await this.shows(text.slice(-Math.min(text.length, this.terminal.cols - 4)));
    this.press(KEYS.enter);
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
    this.pty.resize(columns, rows);
  }

  async leave(): Promise<number> {
    this.press(KEYS.controlC);
    await this.shows("again to exit");
    this.press(KEYS.controlC);
    return this.ended;
  }

  #lines(from: number, to: number): readonly string[] {
    const { active } = this.terminal.buffer;
    return Array.from(
      { length: to - from },
      (_, at) =>
        active
          .getLine(from + at)
          ?.translateToString(true)
          .trimEnd() ?? "",
    );
  }

  #look(): void {
    for (const look of this.#watchers) look();
  }
}

/** How much of it is whole frames and the text between them. */
function wholeFrames(bytes: string): number {
  const begins = bytes.lastIndexOf(FRAME_BEGINS);
  if (begins > bytes.lastIndexOf(FRAME_ENDS)) return begins;
  // The sequence itself may be cut.
  const escape = bytes.lastIndexOf("\u001B");
  return escape !== -1 && FRAME_BEGINS.startsWith(bytes.slice(escape)) ? escape : bytes.length;
}

export function onScreen(place: Place, args: readonly string[], options: ScreenOptions = {}): ScreenRun {
  const { columns = 80, rows = 24, env = {} } = options;
  const pty = spawn(process.execPath, [CLI, ...args], {
    name: env["TERM"] ?? "xterm-256color",
    cols: columns,
    rows,
    cwd: place.work,
    env: environment(place, { TERM: "xterm-256color", LANG: "C.UTF-8", ...env }),
  });
  readToTheEnd(pty);
  return new ScreenRun(pty, columns, rows);
}

/** Longer than reading the rest takes. */
const READ_MS = 10_000;

/**
 * node-pty closes a terminal 200 ms after its command has ended, read or not; on a busy machine the last rows were
 * lost. On Linux the reading ends by itself, with an error (EIO), when everything was read.
 */
function readToTheEnd(pty: IPty): void {
  const { _socket: socket } = pty as IPty & { readonly _socket: Socket };
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    if (error !== undefined) return destroy(error);
    // Rarely the error never arrives; then nothing signals the end of the reading or of the command.
    const late = setTimeout(() => destroy(), READ_MS);
    socket.once("close", () => clearTimeout(late));
    return socket;
  };
}

/** A provider that stops in the middle: after the event that completes this text. */
export async function stalledAfter(
  steps: readonly object[],
  text: string,
): Promise<{ readonly emulator: Emulator; readonly env: Readonly<Record<string, string>> }> {
  const index = await eventThatCompletes(steps, text);
  return emulatorOf({ steps, faults: [{ type: "stall", at: { where: "after", unit: "event", index } }] });
}

async function eventThatCompletes(steps: readonly object[], text: string): Promise<number> {
  const emulator = await startEmulator({ scenario: loadScenario(JSON.stringify({ steps }), "probe.json") });
  try {
    const answer = await fetch(`${emulator.baseUrl}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-probe" },
      body: JSON.stringify({
        model: "emu-reasoner",
        input: "go",
        stream: true,
        reasoning: { summary: "auto" },
      }),
    });
    let told = "";
    const events = (await answer.text()).split("\n\n");
    const found = events.findIndex((event) => {
      const data = /^data: (.*)$/m.exec(event)?.[1] ?? "{}";
      const { delta } = JSON.parse(data) as { readonly delta?: string };
      told += delta ?? "";
      return told.includes(text);
    });
    if (found === -1) throw new Error(`the stream never says ${text}: ${told}`);
    return found;
  } finally {
    await emulator.close();
  }
}
