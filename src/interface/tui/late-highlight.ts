/** Colours code in rows that are drawn now: code is plain until the highlighter is loaded, which begins with the first code. */

import { type Highlight, loadHighlighter, plainRows } from "../highlight/index.ts";

export class LateHighlight {
  #current: Highlight = (code) => {
    void this.load();
    return plainRows(code);
  };
  readonly #onLoaded: () => void;
  #isLoaded = false;

  constructor(onLoaded: () => void) {
    this.#onLoaded = onLoaded;
  }

  /** Another function once the highlighter is there, so that rows drawn before can be told from later ones. */
  get current(): Highlight {
    return this.#current;
  }

  async load(): Promise<void> {
    const loaded = await loadHighlighter();
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    this.#current = loaded;
    this.#onLoaded();
  }
}
