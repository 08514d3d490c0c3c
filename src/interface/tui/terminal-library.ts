/**
 * What comes from pi-tui, and nowhere else but here and in `line-editor.ts`: widths, wrapping, Markdown, keys. Its
 * screen is not used: it clears the scrollback when the width changes (docs/adr/0011).
 *
 * Everything that goes in must be inert already: the library measures and passes on control bytes as they are.
 */

import {
  type KeyId,
  Markdown,
  matchesKey,
  setCapabilities,
  setKittyProtocolActive,
  StdinBuffer,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";

import type { Style } from "./style.ts";

// Links show their target as text; nothing is ever sent but text and styles.
setCapabilities({ images: null, trueColor: false, hyperlinks: false });

/** In columns; styles count nothing. */
export function widthOf(text: string): number {
  return visibleWidth(text);
}

/** At word edges; longer words are broken. At least one row. */
export function wrap(text: string, width: number): readonly string[] {
  return wrapTextWithAnsi(spaced(text), Math.max(1, width));
}

/** On one row, cut with a sign. */
export function fit(text: string, width: number, sign = "…"): string {
  if (width <= 0) return "";
  return visibleWidth(text) <= width ? text : truncateToWidth(text, width, sign);
}

export function markdownRows(text: string, width: number, style: Style): readonly string[] {
  const theme = {
    heading: style.accent,
    link: style.accent,
    linkUrl: style.dim,
    code: style.accent,
    codeBlock: style.accent,
    codeBlockBorder: style.dim,
    quote: style.italic,
    quoteBorder: style.dim,
    hr: style.dim,
    listBullet: style.accent,
    bold: style.bold,
    italic: style.italic,
    strikethrough: style.strike,
    underline: style.underline,
  };
  return new Markdown(spaced(text), 0, 0, theme).render(Math.max(1, width)).map((row) => row.trimEnd());
}

/** A tab moves to a stop that depends on the column; spaces do not. */
function spaced(text: string): string {
  return text.replaceAll("\t", "    ");
}

export function isKey(data: string, ...names: readonly KeyId[]): boolean {
  return names.some((name) => matchesKey(data, name));
}

/** Long enough for a slow line to deliver the rest of a sequence, short enough for a person who presses Esc. */
const ESCAPE_MS = 30;

export interface InputReader {
  take(data: string): void;
  end(): void;
}

// oxlint-disable-next-line no-control-regex -- that is what it looks for
const KITTY_ANSWER = /^\u001B\[\?\d+u$/;

/** Cuts what the terminal sends into single keys and whole pastes. */
export function readInput(on: {
  readonly key: (data: string) => void;
  readonly paste: (text: string) => void;
  /** The terminal knows the Kitty keyboard protocol: Shift+Enter can be told from Enter. */
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
