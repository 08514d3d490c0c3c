/**
 * Renders Markdown of models and tools as harmless HTML: no scripts, forms, frames or external images, and every link
 * shows its target.
 */

import DOMPurify from "dompurify";
import { Marked } from "marked";

const ALLOWED_TAGS = [
  ..."a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong".split(" "),
  ..."sub sup table tbody td th thead tr ul span".split(" "),
];

/** A tag that models write in Markdown, without attributes. */
const BARE_TAG = String.raw`</?(?:b|br|code|del|em|i|s|strong|sub|sup)\s*/?>`;
const ACTIVE = new RegExp(`${BARE_TAG}|[&<>"']`, "gi");
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const marked = new Marked({ gfm: true, breaks: true, async: false });

// HTML in Markdown is shown as text. The purifier would remove it, but its parser already triggers the page's content
// security policy for inline styles and handlers, so none may get that far.
marked.use({
  renderer: { html: ({ text }) => text.replaceAll(ACTIVE, (found) => ENTITIES[found] ?? found) },
});

/** Our own purifier instance, which hooks of other code do not affect. */
const purifier = DOMPurify(window);

purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  const target = node.getAttribute("href") ?? "";
  // Keep only addresses that a user can judge; the rest becomes text.
  if (!/^https?:\/\//i.test(target)) {
    node.removeAttribute("href");
    return;
  }
  node.setAttribute("rel", "noopener noreferrer nofollow");
  node.setAttribute("target", "_blank");
  node.setAttribute("title", target);
  if (node.textContent !== target) node.append(` (${shortened(target)})`);
});

export function safeHtml(text: string): string {
  const html = marked.parse(text) as string;
  return purifier.sanitize(html, {
    ALLOWED_TAGS,
    ALLOWED_ATTR: ["href", "start", "align"],
    ALLOW_DATA_ATTR: false,
  });
}

function shortened(address: string): string {
  return address.length > 60 ? `${address.slice(0, 57)}…` : address;
}
