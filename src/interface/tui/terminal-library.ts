/**
 * Wraps pi-tui: widths, wrapping, keys. Only this file and `line-editor.ts` import the library. Its screen is
 * not used, because it clears the scrollback when the width changes (docs/adr/0011).
 *
 * All text passed in must already be inert: the library measures control bytes and passes them on unchanged.
 */

import {
  type KeyId,
  matchesKey,
  setCapabilities,
  setKittyProtocolActive,
  StdinBuffer,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";

setCapabilities({ images: null, trueColor: false, hyperlinks: false });

/** Returns the width in columns, without styles. */
export function widthOf(text: string): number {
  return visibleWidth(text);
}

/** Wraps between words and breaks words that are too long. Returns at least one row. */
export function wrap(text: string, width: number): readonly string[] {
  return wrapTextWithAnsi(spaced(text), Math.max(1, width));
}

/** Cuts a text to one row and marks the cut with `sign`. */
export function fit(text: string, width: number, sign = "…"): string {
  if (width <= 0) return "";
  return visibleWidth(text) <= width ? text : truncateToWidth(text, width, sign);
}

/** Replaces tabs, whose width depends on the column, with spaces. */
export function spaced(text: string): string {
  return text.replaceAll("\t", "    ");
}

export function isKey(data: string, ...names: readonly KeyId[]): boolean {
  return names.some((name) => matchesKey(data, name));
}

/** Long enough for a slow connection to deliver the rest of a sequence, short enough for a user who presses Esc. */
const ESCAPE_MS = 30;

export interface InputReader {
  take(data: string): void;
  end(): void;
}

// oxlint-disable-next-line no-control-regex -- that is what it looks for
const KITTY_ANSWER = /^\u001B\[\?\d+u$/;

/** Splits the terminal's input into single keys and whole pastes. */
export function readInput(on: {
  readonly key: (data: string) => void;
  readonly paste: (text: string) => void;
  /** Called if the terminal supports the Kitty keyboard protocol, which distinguishes Shift+Enter from Enter. */
  readonly kitty: () => void;
}): InputReader {
  const buffer = new StdinBuffer({ timeout: ESCAPE_MS });
  buffer.on("data", (data: string) => {
    if (KITTY_ANSWER.test(data)) {
      setKittyProtocolActive(true);
      on.kitty();
    } else {
      on.key(data);
    }
  });
  buffer.on("paste", on.paste);
  return { take: (data) => buffer.process(data), end: () => buffer.destroy() };
}
