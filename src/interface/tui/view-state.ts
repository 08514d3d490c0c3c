/** The viewer's own state: what is unfolded, when it first saw a block generating. None of it is in the log (law 9). */

import type { ThoughtMarks } from "../fragments/index.ts";
import type { Highlight } from "../highlight/index.ts";
import type { Style } from "./style.ts";

export interface View {
  readonly style: Style;
  /** Colours code. Without it, code is plain. */
  readonly highlight?: Highlight;
  /** Toggled with Ctrl+T. */
  readonly reasoningOpen: boolean;
  /** Toggled with Ctrl+O. */
  readonly toolsOpen: boolean;
  /** The rows of the terminal; a growing block must not become taller. */
  readonly height: number;
  readonly now: number;
  /** Which thoughts the next request does not carry. */
  readonly marks: ThoughtMarks;
  /** Returns the time when this viewer first saw the block. */
  readonly since: (id: string) => number;
}

/** The maximum height of a growing block, so that it can be folded again. */
export function growingRows(view: View): number {
  return Math.max(3, Math.floor(view.height / 2) - 2);
}
