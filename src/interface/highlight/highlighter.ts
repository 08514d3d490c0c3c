/** The highlighter, loaded on demand (index.ts): highlight.js, whose scopes become few tones. */

import { type CodePiece, type CodeRows, type CodeTone, plainRows } from "./code-piece.ts";
import { highlightJs } from "./highlight-js.mjs";

/** Larger code stays plain, so that no screen stands still while it is coloured. */
const MOST_CODE = 20_000;
const MOST_IN_A_LINE = 500;
/** Words without punctuation. Grammars look for a call behind them, again from each word: 50 KB of them take seconds. */
const MANY_WORDS = /[\w\s*&<>:]{400}/;

/** A scope without a tone, such as `tag` or `function`, has the tone of what it stands in. */
const TONES: Readonly<Record<string, CodeTone>> = {
  addition: "added",
  deletion: "removed",
  attr: "keyword",
  attribute: "keyword",
  bullet: "keyword",
  keyword: "keyword",
  literal: "keyword",
  name: "keyword",
  section: "keyword",
  "selector-attr": "keyword",
  "selector-class": "keyword",
  "selector-id": "keyword",
  "selector-pseudo": "keyword",
  "selector-tag": "keyword",
  char: "string",
  code: "string",
  link: "string",
  regexp: "string",
  string: "string",
  symbol: "string",
  comment: "comment",
  meta: "comment",
  quote: "comment",
  number: "number",
  built_in: "name",
  title: "name",
  type: "name",
  variable: "name",
  subst: "plain",
};

export function highlight(code: string, language: string): CodeRows {
  const plain = plainRows(code);
  if (highlightJs.getLanguage(language) === undefined || isTooMuch(code)) return plain;
  try {
    const rows = rowsOf(highlightJs.highlight(code, { language, ignoreIllegals: true }).value);
    return textOf(rows) === code ? rows : plain;
  } catch {
    // A grammar can fail on code that it does not expect. The code is shown all the same.
    return plain;
  }
}

function isTooMuch(code: string): boolean {
  return (
    code.length > MOST_CODE ||
    code.split("\n").some((line) => line.length > MOST_IN_A_LINE) ||
    MANY_WORDS.test(code)
  );
}

const TAG = /(<span class="[^"]*">|<\/span>)/;
const SCOPE = /^<span class="hljs-([\w-]+)/;

/** Reads the HTML of the highlighter: nested spans, in which all text is escaped. */
function rowsOf(html: string): CodeRows {
  const rows: CodePiece[][] = [[]];
  const tones: CodeTone[] = ["plain"];
  for (const [at, part] of html.split(TAG).entries()) {
    const tone = tones.at(-1) ?? "plain";
    if (at % 2 === 0) addText(rows, part, tone);
    else if (part === "</span>") tones.pop();
    else tones.push(TONES[SCOPE.exec(part)?.[1] ?? ""] ?? tone);
  }
  return rows;
}

function addText(rows: CodePiece[][], escaped: string, tone: CodeTone): void {
  for (const [at, line] of escaped.split("\n").entries()) {
    if (at > 0) rows.push([]);
    const text = line.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (name) => CHARACTERS[name] ?? name);
    if (text !== "") rows.at(-1)?.push({ text, tone });
  }
}

const CHARACTERS: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

function textOf(rows: CodeRows): string {
  return rows.map((row) => row.map(({ text }) => text).join("")).join("\n");
}
