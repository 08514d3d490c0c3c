/**
 * Renders a model's Markdown as HTML that cannot run or load anything. Every tag and attribute is written here, and all
 * text from the model is escaped: HTML in Markdown is shown as text, images become their description, and only http and
 * https addresses become links.
 */

import { Marked, type RendererObject, type Tokens } from "marked";

import { inert } from "../inert-text.ts";

/** Longer texts, and texts that the parser cannot take (thousands of nested quotes), are shown as they are. */
const MAX_LENGTH = 200_000;
/** The page's own headings are h1 and h2. */
const FIRST_HEADING = 3;

const renderer: RendererObject = {
  space: () => "",
  html: ({ text }) => escapeHtml(text),
  code: ({ text }) => `<pre><code>${escapeHtml(text)}</code></pre>\n`,
  codespan: ({ text }) => `<code>${escapeHtml(text)}</code>`,
  hr: () => "<hr>\n",
  br: () => "<br>",
  checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  def: () => "",
  blockquote({ tokens }) {
    return `<blockquote>\n${this.parser.parse(tokens)}</blockquote>\n`;
  },
  heading({ tokens, depth }) {
    const level = Math.min(depth + FIRST_HEADING - 1, 6);
    return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
  },
  paragraph({ tokens }) {
    return `<p>${this.parser.parseInline(tokens)}</p>\n`;
  },
  list({ items, ordered, start }) {
    const inner = items.map((item) => this.listitem(item)).join("");
    if (!ordered) return `<ul>\n${inner}</ul>\n`;
    const first = Number(start);
    return `<ol${Number.isSafeInteger(first) && first !== 1 ? ` start="${first}"` : ""}>\n${inner}</ol>\n`;
  },
  listitem({ tokens }) {
    return `<li>${this.parser.parse(tokens)}</li>\n`;
  },
  table({ header, rows }) {
    const row = (cells: readonly Tokens.TableCell[]): string =>
      `<tr>${cells.map((cell) => this.tablecell(cell)).join("")}</tr>\n`;
    return `<div class="wide"><table>\n<thead>\n${row(header)}</thead>\n<tbody>\n${rows.map(row).join("")}</tbody></table></div>\n`;
  },
  tablecell({ tokens, header }) {
    const tag = header ? "th" : "td";
    return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
  },
  strong({ tokens }) {
    return `<strong>${this.parser.parseInline(tokens)}</strong>`;
  },
  em({ tokens }) {
    return `<em>${this.parser.parseInline(tokens)}</em>`;
  },
  del({ tokens }) {
    return `<del>${this.parser.parseInline(tokens)}</del>`;
  },
  link({ href, tokens, raw }) {
    if (!isWebAddress(href)) return escapeHtml(raw);
    const shown = this.parser.parseInline(tokens);
    // A link that says one address and leads to another must show where it leads.
    const target = escapeHtml(href);
    const where = shown === target ? "" : ` <span class="target">(${target})</span>`;
    return `<a href="${target}" rel="noopener noreferrer nofollow">${shown}</a>${where}`;
  },
  image: ({ raw }) => escapeHtml(raw),
  text(token) {
    return "tokens" in token && token.tokens !== undefined
      ? this.parser.parseInline(token.tokens)
      : escapeHtml(inert(token.text), true); // the parser has decoded references by number
  },
};

const marked = new Marked({ gfm: true, breaks: true, async: false });
marked.use({ renderer });

export function answerHtml(markdown: string): string {
  try {
    if (markdown.length <= MAX_LENGTH) return marked.parse(markdown, { async: false });
  } catch {
    // Too deeply nested for the parser; shown as text.
  }
  return `<div class="text">${escapeHtml(markdown)}</div>\n`;
}

function isWebAddress(href: string): boolean {
  return /^https?:\/\/[^\s"'<>`]+$/i.test(href) && URL.canParse(href);
}

/** References to characters that a reader sees. Others could hide or reorder text, which `inert` prevents elsewhere. */
const REFERENCE =
  /&(?!(?:amp|lt|gt|quot|apos|#39|nbsp|copy|reg|trade|hellip|mdash|ndash|times|deg|euro|bull|middot|rarr|larr|[lr][sd]quo|[lr]aquo);)/g;

/** `keepEntities` leaves references such as `&amp;` as they are, which Markdown allows in text. */
export function escapeHtml(text: string, keepEntities = false): string {
  return text
    .replaceAll(keepEntities ? REFERENCE : /&/g, "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
