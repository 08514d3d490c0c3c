/**
 * Untrusted text for a terminal. Nothing a model, a tool or a server wrote may move the cursor: every control character
 * except line feed and tab is shown instead of obeyed, and so are the characters that reorder or hide text.
 */

/**
 * Controls, what reorders, what hides, and halves of characters, which become another byte sequence on their way out.
 * Joiners stay: emoji and some scripts need them.
 */
const ACTIVE =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u00AD\u180E\u200B\u2060-\u2064\u206A-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;

export function inert(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(ACTIVE, (char) => {
    if (char === "\n" || char === "\t") return char;
    const code = char.codePointAt(0) ?? 0;
    // The control pictures block has a visible sign for each of the first 32.
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\uFFFD";
  });
}

/** The same JSON value: what JSON leaves bare (DEL, C1, reordering) stands escaped inside its strings. */
export function inertJson(json: string): string {
  return json.replaceAll(ACTIVE, (char) => {
    if (char < " ") return " "; // bare only between tokens: white space
    return Array.from({ length: char.length }, (_, at) => escaped(char.charCodeAt(at))).join("");
  });
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** On one line, and no longer than fits. */
export function inertLine(text: string, maxLength: number): string {
  for (let looked = Math.max(64, 4 * maxLength); ; looked *= 4) {
    const line = inert(text.slice(0, looked)).replaceAll(/\s+/g, " ").trim();
    // A long text is not read to its end. What stands at the cut may be half a character, so one more than fits is needed.
    if (looked < text.length && line.length <= maxLength + 1) continue;
    return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
  }
}
