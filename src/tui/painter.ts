/**
 * When and what is drawn: the transcript above, the footer below, at most once in a few milliseconds, and every second
 * while something is under way.
 *
 * @module
 */

import type { Block } from "../fragments/index.ts";
import type { Footer } from "./footer.ts";
import { Screen, type ScreenOutput } from "./screen.ts";
import type { Style } from "./style.ts";
import { Transcript } from "./transcript.ts";
import type { View } from "./view-state.ts";

const FRAME_MS = 30;
const TICK_MS = 1000;

export interface PainterOptions {
  readonly output: ScreenOutput;
  readonly style: Style;
  readonly now: () => number;
  readonly blocks: () => readonly Block[];
  readonly busy: () => boolean;
  readonly footer: (width: number, height: number) => Footer;
}

export class Painter {
  readonly #options: PainterOptions;
  readonly #screen: Screen;
  readonly #transcript = new Transcript();
  #width: number;
  #reasoningOpen = false;
  #toolsOpen = false;
  #timer: NodeJS.Timeout | undefined;
  #tick: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: PainterOptions) {
    this.#options = options;
    this.#screen = new Screen(options.output);
    this.#width = options.output.columns;
  }

  /** A word of the interface itself, behind everything that has been said so far. */
  note(text: string): void {
    this.#transcript.update(this.#options.blocks());
    this.#transcript.note(text);
    this.schedule();
  }

  /** These are not printed. */
  skip(blocks: readonly Block[]): void {
    this.#transcript.skip(blocks);
  }

  /** The path goes on elsewhere: what was printed stays, with a word about it. */
  detach(text: string): void {
    this.#transcript.update(this.#options.blocks());
    this.#transcript.detach();
    this.#transcript.note(text);
  }

  toggleReasoning(): void {
    this.#reasoningOpen = !this.#reasoningOpen;
  }

  toggleTools(): void {
    this.#toolsOpen = !this.#toolsOpen;
  }

  schedule(): void {
    if (this.#ended) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.draw();
    }, FRAME_MS);
  }

  draw(): void {
    if (this.#ended) return;
    this.#keepTime();
    const view = this.#view();
    this.#transcript.update(this.#options.blocks());
    const said = this.#transcript.render(this.#width, view);
    const { rows, cursor } = this.#options.footer(this.#width, view.height);
    const at = { row: said.length + cursor.row, column: cursor.column };
    this.#screen.draw({ rows: [...said, ...rows], cursor: at });
    this.#screen.forget(this.#transcript.release(this.#screen.gone, this.#width, view));
  }

  resize(): void {
    this.#screen.forget(this.#transcript.releaseFinished(this.#width, this.#view()));
    this.#width = this.#options.output.columns;
    this.#screen.resize();
    this.draw();
  }

  /** Takes the footer away and leaves what was said; `draw` goes on below it. */
  pause(): void {
    const view = this.#view();
    this.#transcript.update(this.#options.blocks());
    this.#screen.draw({ rows: this.#transcript.render(this.#width, view), cursor: undefined });
    this.#screen.end();
    this.#transcript.releaseFinished(this.#width, view);
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    clearInterval(this.#tick);
    this.pause();
  }

  /** The seconds of what is under way, and of a wait. */
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
      reasoningOpen: this.#reasoningOpen,
      toolsOpen: this.#toolsOpen,
      height: this.#options.output.rows,
      now,
      since: (id) => this.#transcript.since(id, now),
    };
  }
}
