/**
 * Text that a person decides about: it is exactly what it looks like. Stricter than `inert`: every character that takes
 * no room, looks like another or is of a different script than its word is shown by its number. Every interface uses it
 * for the question before a tool runs.
 *
 * Words of one script stay readable, whatever the script: a Russian, Greek, Arabic or Japanese file name is shown
 * unchanged.
 */

import { escapeSign, UNSEEN } from "./inert-text.ts";

/** Nothing invisible passes, not even joiners, and no space but the ordinary one. */
const UNSEEN_OR_SPACE = String.raw`(?![ \n\t])[${UNSEEN}\p{Zs}]`;
/** Marks that strike out or enclose a letter, a mark without a letter, and more than two on one. */
const MARKS = String.raw`[\u0334-\u0338\u20D0-\u20F0\p{Me}]|\p{M}(?<!\p{L}\p{M}{1,3})|\p{M}(?<=\p{M}{4})`;
/** Phonetic letters, and modifiers that look like ASCII letters, quotes, bars and exclamation marks. */
const PHONETIC = String.raw`[\u01C0-\u01C3\u0250-\u02FF\u1D00-\u1DBF\u2C60-\u2C7F\uA720-\uA7FF\uAB30-\uAB6F]`;
/** Lookalikes of a slash, backslash, full stop, semicolon or backtick. */
const PUNCTUATION = String.raw`[\u037E\u1FEF\u2024\u2044\u2215\u2216\u29F5\u29F8\u29F9\uFE68\uFF0E\uFF0F\uFF3C]`;
const SINGLE = new RegExp(String.raw`${UNSEEN_OR_SPACE}|${MARKS}|${PHONETIC}|${PUNCTUATION}`, "gu");

const WORD = /[\p{L}\p{N}_]+/gu;
const ASCII = /^[\p{ASCII}]*$/u;
const LATIN = /\p{Script=Latin}/u;
/** Scripts with letters that look like Latin ones. Latin next to Han or Hangul is ordinary: those do not. */
const ALIKE =
  /[\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Cyrillic}\p{Script=Deseret}\p{Script=Georgian}\p{Script=Gothic}\p{Script=Greek}\p{Script=Lisu}\p{Script=Old_Italic}\p{Script=Osage}\p{Script=Runic}\p{Script=Tifinagh}\p{Script=Vai}\p{Script=Warang_Citi}]/u;
const OTHER = /(?!\p{Script=Latin})\p{L}/gu;
/** Cyrillic and Greek letters that look like Latin ones: a word made only of these reads as another word. */
const TWINS = "асеорхуіјѕһԁԛԝѵАВСЕНІЈКМОРЅТХУԌԚԜοαενικυρτχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ";
const TWIN_WORD = new RegExp(String.raw`^[${TWINS}\d_]+$`, "u");
const OF_ITS_OWN = new RegExp(String.raw`(?![${TWINS}])[\p{Script=Cyrillic}\p{Script=Greek}]`, "u");

/** Line feeds and tabs stay: the caller separates the lines from their surroundings. */
export function unmistakable(text: string): string {
  const prose = OF_ITS_OWN.test(text);
  const words = text.replaceAll(WORD, (word, at: number) =>
    ASCII.test(word) ? word : shownWord(word, prose && standsAlone(text, at, word.length)),
  );
  return words.replaceAll(SINGLE, escapeSign);
}

/** On one line: line feeds and tabs as escapes too. */
export function unmistakableLine(text: string): string {
  return unmistakable(text).replaceAll(/[\n\t]/g, (char) =>
    char === "\n" ? String.raw`\n` : String.raw`\t`,
  );
}

function shownWord(word: string, inProse: boolean): string {
  const mixed = ALIKE.test(word) && (LATIN.test(word) || (TWIN_WORD.test(word) && !inProse));
  const letters = mixed ? word.replaceAll(OTHER, escapeSign) : word;
  return Array.from(letters, (char) => (standsForAscii(char) ? escapeSign(char) : char)).join("");
}

/** Full-width and mathematical letters, digits in circles, the Kelvin sign: other forms of an ASCII character. */
function standsForAscii(char: string): boolean {
  return char > "\u00FF" && ASCII.test(char.normalize("NFKC"));
}

/** Whether the word is used as in a sentence, not as part of a path, an address or an option. */
function standsAlone(text: string, at: number, length: number): boolean {
  const before = text.slice(Math.max(0, at - 1), at);
  const behind = text.slice(at + length, at + length + 1);
  return [before, behind].every((char) => char === "" || /[\s,.;!?«»„“”"()]/u.test(char));
}
