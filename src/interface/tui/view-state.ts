/**
 * What is the viewer's own: what is unfolded, when it first saw something generating. None of it is in the log (law 9).
 */

import type { Style } from "./style.ts";

export interface View {
  readonly style: Style;
  /** Ctrl+T. */
  readonly reasoningOpen: boolean;
  /** Ctrl+O. */
  readonly toolsOpen: boolean;
  /** Rows of the terminal: a block that is still growing must not outgrow the window. */
  readonly height: number;
  readonly now: number;
  /** When this viewer first saw the block. */
  readonly since: (id: string) => number;
}

/** At most this many rows of a block that is still being written, so that it can be folded again. */
export function growingRows(view: View): number {
  return Math.max(3, Math.floor(view.height / 2) - 2);
}
