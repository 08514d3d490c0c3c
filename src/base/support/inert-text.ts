/**
 * Makes untrusted text safe for a terminal. Text from a model, a tool, a server or a file never moves the cursor,
 * reorders a line or hides in it. A character that a terminal would obey, or that is invisible, is shown as an escape.
 *
 * The rule uses Unicode properties instead of a list of known attacks, so it also covers what later versions add.
 * Ordinary international text stays readable: joiners and variation selectors pass where their neighbours need them.
 */

import { shortened } from "./shortened.ts";

/** Characters without a glyph that Unicode counts as letters or symbols: fillers and the braille blank. */
const BLANK = String.raw`\u115F\u1160\u2800\u3164\uFFA0`;
/** Format characters that do have a glyph: signs that Arabic, Syriac and Kaithi write around numbers. */
const SEEN_FORMAT = String.raw`\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}`;

/**
 * Characters that no terminal shows as themselves, by general category and property. Spaces are visible as gaps and
 * stay.
 */
export const UNSEEN = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}${BLANK}`;

/** Scripts whose letters change shape next to a joiner or a non-joiner. */
const JOINING = [
  ..."Adlam Arabic Hanifi_Rohingya Mandaic Manichaean Mongolian Nko Phags_Pa Psalter_Pahlavi".split(" "),
  ..."Sogdian Syriac Balinese Bengali Devanagari Gujarati Gurmukhi Javanese Kannada Khmer".split(" "),
  ..."Malayalam Myanmar Oriya Sinhala Tamil Telugu Tibetan".split(" "),
]
  .map((script) => String.raw`\p{Script=${script}}`)
  .join("");
/** Signs that remove the vowel of an Indic letter: a joiner after them selects the form, even at the end of a word. */
const VIRAMA = String.raw`\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA\u0F84\u1039\u103A\u17D2\u1B44\uA9C0`;
const EMOJI = String.raw`\p{Extended_Pictographic}`;

/** Invisible characters that change how a visible neighbour looks, in the places where they do. */
const NEEDED = [
  String.raw`[${SEEN_FORMAT}]`,
  // Reserved for emoji that later versions of Unicode assign.
  EMOJI,
  String.raw`(?<=${EMOJI})[\uFE0E\uFE0F]`,
  String.raw`(?<=[#*0-9])\uFE0F(?=\u20E3)`,
  String.raw`(?<=[${EMOJI}\p{Emoji_Modifier}]\uFE0F?)\u200D(?=${EMOJI})`,
  String.raw`(?<=[${VIRAMA}])[\u200C\u200D]`,
  String.raw`(?<=\p{Script=Arabic})\u200D`,
  String.raw`(?<=[${JOINING}])[\u200C\u200D](?=[${JOINING}])`,
  // A form of an ideograph, or of a Mongolian letter.
  String.raw`(?<=\p{Unified_Ideograph})[\uFE00-\uFE02\u{E0100}-\u{E01EF}]`,
  String.raw`(?<=(?![\u180B-\u180F])\p{Script=Mongolian})[\u180B-\u180D\u180F]`,
].join("|");

/** More marks on one letter than any script writes: they overlap the lines above and below. */
const MOST_MARKS = 6;
const STACKED = String.raw`\p{M}(?<=\p{M}{${MOST_MARKS + 1}})`;

// The class comes first, so that the rest is evaluated only where it matches.
const ACTIVE = new RegExp(String.raw`(?=[${UNSEEN}])(?!${NEEDED})[${UNSEEN}]|${STACKED}`, "gu");

export function inert(text: string): string {
  return inertFrom(text.replaceAll("\r\n", "\n"), 0);
}

/** The text from an index on. What precedes it only decides how its first characters are treated. */
export function inertFrom(text: string, from: number): string {
  const shown = text.replaceAll(ACTIVE, (char, at: number) => (at < from ? char : shownSign(char)));
  return from === 0 ? shown : shown.slice(from);
}

/** Removes what a terminal would obey or hide: for text that a person pastes. */
export function withoutActive(text: string): string {
  return text.replaceAll(ACTIVE, (char) => (char === "\n" || char === "\t" ? char : ""));
}

function shownSign(char: string): string {
  if (char === "\n" || char === "\t") return char;
  const code = char.codePointAt(0) ?? 0;
  // The control pictures block has a visible sign for each of the first 32.
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? "\u2421" : escapeSign(char);
}

/** `\u{202E}`: the notation of JavaScript, Rust and Swift. */
export function escapeSign(char: string): string {
  return String.raw`\u{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
}

/** The same JSON value, with characters escaped that JSON leaves bare inside strings (DEL, C1, reordering). */
export function inertJson(json: string): string {
  return json.replaceAll(ACTIVE, (char) => {
    if (char < " ") return char === "\n" ? char : " "; // bare only between tokens, as white space
    return Array.from({ length: char.length }, (_, at) => escaped(char.charCodeAt(at))).join("");
  });
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** The text on one line, no longer than fits. */
export function inertLine(text: string, maxLength: number): string {
  for (let looked = Math.max(64, 4 * maxLength); ; looked *= 4) {
    const whole = looked >= text.length;
    const line = inert(whole ? text : withoutHalf(text.slice(0, looked)))
      .replaceAll(/\s+/g, " ")
      .trim();
    // A long text is not read to its end. Characters near the cut may look different without what follows.
    if (!whole && line.length <= maxLength + CUT_SHOWS) continue;
    return shortened(line, maxLength);
  }
}

/** A joiner depends on its neighbours, and an escape takes up to ten characters. */
const CUT_SHOWS = 32;

/** A cut inside a character leaves half of it. */
function withoutHalf(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, "");
}
