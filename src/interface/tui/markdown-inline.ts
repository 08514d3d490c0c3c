/**
 * Text inside a paragraph, a heading or a cell. Each word carries all its styles, from the outermost to its own, so that a
 * style that ends never ends the one around it.
 */

import type { MarkedToken, Token } from "marked";

import { assertNever, inert } from "../../base/support/index.ts";
import type { Paint, Style } from "./style.ts";

export function inlineText(tokens: readonly Token[], style: Style, paint: Paint): string {
  return tokens.map((token) => tokenText(token as MarkedToken, style, paint)).join("");
}

function tokenText(token: MarkedToken, style: Style, paint: Paint): string {
  const inside = (tokens: readonly Token[], own: Paint): string =>
    inlineText(tokens, style, (text) => paint(own(text)));
  switch (token.type) {
    case "strong":
      return inside(token.tokens, style.bold);
    case "em":
      return inside(token.tokens, style.italic);
    case "del":
      return inside(token.tokens, style.strike);
    case "codespan":
      return painted(token.text, (text) => paint(style.accent(text)));
    case "link":
      return linkText(
        token,
        inside(token.tokens, (text) => style.accent(style.underline(text))),
        style,
      );
    case "image":
      return linkText(token, painted(token.text, paint), style);
    case "br":
      return "\n";
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw.trim()) ? "\n" : painted(token.raw, paint);
    case "checkbox":
      return ""; // the list draws it
    case "text":
      return token.tokens === undefined ? painted(token.text, paint) : inside(token.tokens, (text) => text);
    case "escape":
      return painted(token.text, paint);
    case "blockquote":
    case "code":
    case "def":
    case "heading":
    case "hr":
    case "list":
    case "list_item":
    case "paragraph":
    case "space":
    case "table":
      return painted(token.raw, paint); // blocks never stand inside of text
    default:
      return assertNever(token, "token");
  }
}

/** Shows the target, unless it is the text. */
function linkText(
  token: { readonly href: string; readonly text: string },
  shown: string,
  style: Style,
): string {
  const isShown = token.text === token.href || `mailto:${token.text}` === token.href;
  return isShown ? shown : shown + painted(` (${token.href})`, style.dim);
}

/** Paints each line by itself, because rows are cut at line feeds. `&#27;` has become an escape character by now. */
function painted(text: string, paint: Paint): string {
  return inert(text)
    .split("\n")
    .map((line) => paint(line))
    .join("\n");
}
