/**
 * Draws the printed blocks and the footer below them, at most once per frame interval, and every second while a turn
 * runs.
 */

import type { Block, ThoughtMarks } from "../fragments/index.ts";
import type { Folds } from "./block-pieces.ts";
import { LateHighlight } from "./late-highlight.ts";
import type { EditorView } from "./line-editor.ts";
import { hasCode } from "./markdown-chunks.ts";
import { PrintedBlocks } from "./printed-blocks.ts";
import { Screen, type ScreenOutput } from "./screen.ts";
import type { Style } from "./style.ts";
import type { View } from "./view-state.ts";

const FRAME_MS = 30;
const TICK_MS = 1000;
/**
 * Dragging a window's edge changes its size many times. tmux appears to rewrap the rows at once and to report the new size
 * later. A frame drawn in between for the old size lands on rows that have moved, and leaves them behind (in 5 of 6 bursts
 * of sizes in tmux 3.3a; in none of 13 with this delay). So nothing is drawn until the size has been stable for a moment.
 */
const SETTLE_MS = 300;

const NAMES: Readonly<Record<Folds, string>> = { reasoning: "Thoughts", tools: "Tool output" };

export interface PainterOptions {
  readonly output: ScreenOutput;
  readonly style: Style;
  readonly now: () => number;
  readonly blocks: () => readonly Block[];
  readonly marks: () => ThoughtMarks;
  readonly busy: () => boolean;
  readonly footer: (width: number, height: number) => EditorView;
  /** Schedules work; the returned function cancels it. */
  readonly after?: (ms: number, work: () => void) => () => void;
}

const afterTime: NonNullable<PainterOptions["after"]> = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};

export class Painter {
  readonly #options: PainterOptions;
  readonly #screen: Screen;
  readonly #printed = new PrintedBlocks();
  /** Undefined without colours. */
  readonly #highlight: LateHighlight | undefined;
  #width: number;
  #height: number;
  #open: Readonly<Record<Folds, boolean>> = { reasoning: false, tools: false };
  readonly #after: NonNullable<PainterOptions["after"]>;
  #cancelFrame: (() => void) | undefined;
  #tick: NodeJS.Timeout | undefined;
  #cancelSettling: (() => void) | undefined;
  /** True while another program has the terminal. */
  #paused = false;
  #ended = false;

  constructor(options: PainterOptions) {
    this.#options = options;
    this.#after = options.after ?? afterTime;
    this.#screen = new Screen(options.output);
    this.#width = options.output.columns;
    this.#height = options.output.rows;
    const hasColours = options.style.accent("x") !== "x";
    this.#highlight = hasColours ? new LateHighlight(() => this.schedule()) : undefined;
  }

  /** Waits for the highlighter if there is code to draw at once: rows that leave the window plain stay plain. */
  async prepare(): Promise<void> {
    if (!this.#options.blocks().some((block) => block.kind === "text" && hasCode(block.text))) return;
    this.#paused = true;
    await this.#highlight?.load();
    this.#paused = false;
  }

  /** Prints a message of the interface below everything printed so far. */
  note(text: string): void {
    this.#printed.update(this.#options.blocks());
    this.#printed.note(text);
    this.schedule();
  }

  /** Excludes blocks from printing. */
  skip(blocks: readonly Block[]): void {
    this.#printed.skip(blocks);
  }

  /** Called when the path branches: everything printed stays, with a note about the branch. */
  detach(text: string | undefined): void {
    this.#printed.update(this.#options.blocks());
    this.#printed.detach();
    if (text !== undefined) this.#printed.note(text);
  }

  /** Called when the session was reset: everything printed stays, with a note, and the session is printed again below. */
  startOver(text: string): void {
    this.#printed.update(this.#options.blocks());
    this.#printed.startOver();
    this.#printed.note(text);
  }

  /**
   * Folds or unfolds, and returns a message about it. Rows that have left the window cannot be repainted; if no entry in
   * the window is affected, the last turn is printed again below.
   */
  toggle(folds: Folds): string {
    const open = !this.#open[folds];
    this.#open = { ...this.#open, [folds]: open };
    const blocks = this.#options.blocks();
    this.#printed.update(blocks);
    const said = `${NAMES[folds]} ${open ? "unfolded" : "folded"}`;
    const begin = blocks.findLastIndex(
      (block) => block.kind === "user" && block.by === "person" && block.steer !== true,
    );
    const turn = blocks.slice(Math.max(0, begin));
    if (open && !this.#printed.folds(folds) && this.#printed.isLeftBehind(folds, open, turn)) {
      this.#printed.note(`↩ The last turn again, ${NAMES[folds].toLowerCase()} unfolded`);
      this.#printed.again(turn);
      return `${said}: the last turn is printed again.`;
    }
    const behind = this.#printed.isLeftBehind(folds, open);
    return `${said}${behind ? "; rows that have scrolled away stay as they are" : ""}.`;
  }

  schedule(): void {
    if (this.#ended || this.#paused) return;
    this.#cancelFrame ??= this.#after(FRAME_MS, () => {
      this.#cancelFrame = undefined;
      this.draw();
    });
  }

  draw(): void {
    // The size may have changed before the signal arrives.
    if (this.#cancelSettling === undefined && this.#hasNewSize()) this.resize();
    if (this.#ended || this.#paused || this.#cancelSettling !== undefined) return;
    this.#keepTime();
    const view = this.#view();
    this.#printed.update(this.#options.blocks());
    const said = this.#printed.render(this.#width, view);
    const { rows, cursor } = this.#options.footer(this.#width, view.height);
    const at = { row: said.length + cursor.row, column: cursor.column };
    this.#screen.draw({ rows: [...said, ...rows], cursor: at });
    this.#screen.forget(this.#printed.release(this.#screen.gone));
  }

  resize(): void {
    if (this.#ended) return;
    this.#cancelSettling?.();
    this.#cancelSettling = this.#after(SETTLE_MS, () => {
      this.#takeSize();
      this.draw();
    });
  }

  #hasNewSize(): boolean {
    const { columns, rows } = this.#options.output;
    return columns !== this.#width || rows !== this.#height;
  }

  #takeSize(): void {
    this.#cancelSettling?.();
    this.#cancelSettling = undefined;
    if (!this.#hasNewSize()) return;
    const { columns, rows } = this.#options.output;
    this.#width = columns;
    this.#height = rows;
    this.#screen.forget(this.#printed.releaseFinished());
    this.#printed.resume(this.#screen.resize());
  }

  /** Removes the footer and keeps everything above it; `resume` continues below. */
  pause(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    this.#paused = true;
    this.#takeSize();
    const view = this.#view();
    this.#printed.update(this.#options.blocks());
    this.#screen.draw({ rows: this.#printed.render(this.#width, view), cursor: undefined });
    this.#screen.end();
    this.#printed.releaseFinished();
  }

  resume(): void {
    this.#paused = false;
    this.draw();
  }

  end(): void {
    this.#ended = true;
    clearInterval(this.#tick);
    this.pause();
  }

  /** Redraws every second while a turn runs or waits. */
  #keepTime(): void {
    if (this.#options.busy()) {
      this.#tick ??= setInterval(() => this.schedule(), TICK_MS);
      return;
    }
    clearInterval(this.#tick);
    this.#tick = undefined;
  }

  #view(): View {
    const now = this.#options.now();
    return {
      style: this.#options.style,
      ...(this.#highlight && { highlight: this.#highlight.current }),
      reasoningOpen: this.#open.reasoning,
      toolsOpen: this.#open.tools,
      height: this.#height,
      now,
      marks: this.#options.marks(),
      since: (id) => this.#printed.since(id, now),
    };
  }
}
