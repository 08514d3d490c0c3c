/** Colours code, the same for the page and the terminal. The highlighter itself is loaded when code first appears. */

import { type Highlight, plainRows } from "./code-piece.ts";

export { type CodePiece, type CodeRows, type CodeTone, type Highlight, plainRows } from "./code-piece.ts";

let loading: Promise<Highlight> | undefined;

/** Loads the highlighter once. If it cannot be loaded, code stays plain, and the next call tries again. */
export function loadHighlighter(): Promise<Highlight> {
  loading ??= import("./highlighter.ts").then(
    ({ highlight }) => highlight,
    () => {
      loading = undefined;
      return plainRows;
    },
  );
  return loading;
}
