import { describe, expect, test } from "vitest";

import { answerHtml } from "./answer-html.ts";

describe("rendered Markdown", () => {
  test("has headings below the page's own, lists, tables, code and links", () => {
    const html = answerHtml(
      "# Plan\n\n1. **first** `a < b`\n2. *second*\n\n- [x] done\n\n| a | b |\n| - | - |\n| 1 | ~~2~~ |\n\n```js\nif (a < b) {}\n```\n\n> quoted\n\nhttps://example.com/a?b=1&c=2 and [text](https://example.com)",
    );
    expect(html).toContain("<h3>Plan</h3>");
    expect(html).toMatch(/<ol>\n<li>(?:<p>)?<strong>first<\/strong> <code>a &lt; b<\/code>/);
    expect(html).toContain("☑ done");
    expect(html).toContain("<tr><td>1</td><td><del>2</del></td></tr>");
    expect(html).toContain("<pre><code>if (a &lt; b) {}</code></pre>");
    expect(html).toMatch(/<blockquote>\n<p>quoted<\/p>/);
    expect(html).toContain('<a href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer nofollow">');
    expect(html).toContain('text</a> <span class="target">(https://example.com)</span>');
  });

  test("keeps the references that Markdown allows, and shows others", () => {
    expect(answerHtml("a &amp; b &lt;i&gt; &nonsense c & d")).toBe(
      "<p>a &amp; b &lt;i&gt; &amp;nonsense c &amp; d</p>\n",
    );
  });

  test("shows invisible characters that are written as references", () => {
    expect(answerHtml("a &#x202E;b &#8203;c &rlm;d &copy; e")).toBe(
      String.raw`<p>a \u{202E}b \u{200B}c &amp;rlm;d &copy; e</p>` + "\n",
    );
  });

  test("answers in Arabic, emoji and code of any language stay text", () => {
    expect(answerHtml("مرحبا 👋🏽 `x`")).toBe("<p>مرحبا 👋🏽 <code>x</code></p>\n");
  });
});

const ALLOWED = new Set(
  "a blockquote br code del div em h3 h4 h5 h6 hr li ol p pre span strong table tbody td th thead tr ul".split(
    " ",
  ),
);

describe("hostile text", () => {
  test.for([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <b onclick=alert(1)>b</b> <style>*{display:none}</style>",
    "<pre><script>alert(1)</script></pre>",
    "<!-- --><svg/onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x) [y](file:///etc/passwd) [z](//evil.test/x)",
    '[x](https://a.test/"onmouseover="alert(1))',
    "[x](<https://a.test/' onmouseover='alert(1)>)",
    '[x](https://a.test "title\\" onmouseover=\\"alert(1)")',
    "![x](https://evil.test/pixel.png)",
    '![x" onerror="alert(1)](https://evil.test/pixel.png)',
    "[![x](https://evil.test/p.png)](https://evil.test)",
    "[x]: javascript:alert(1)\n\n[x]",
    "```html\n</code></pre><script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "`</code><script>alert(1)</script>`",
    "| <script>x</script> |\n| - |\n| <img src=x> |",
    "# <iframe src=//evil.test>",
    "- <form action=//evil.test><input>",
    "<https://a.test/<script>>",
    "www.evil.test/<script>",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
    "</main></body><script>alert(1)</script>",
    "9999999999999999. x\n\n1000000000. y",
  ])("%j runs nothing and loads nothing", (text) => {
    const html = answerHtml(text);
    for (const [, tag = "", rest = ""] of html.matchAll(/<\/?([a-z][a-z0-9]*)([^>]*)>/gi)) {
      expect(ALLOWED, html).toContain(tag);
      expect(rest, html).toMatch(
        /^(?:| class="(?:wide|target|text)"| start="\d+"| href="https?:\/\/[^"<>\s]+" rel="noopener noreferrer nofollow")$/,
      );
    }
    expect(html.replaceAll(/<\/?[a-z][a-z0-9]*[^>]*>/gi, "")).not.toMatch(/[<>]/);
  });

  test("text that the parser cannot take is shown as it is", () => {
    for (const text of ["> ".repeat(20_000), `${"[".repeat(50_000)}<x>`, "word <b> ".repeat(40_000)]) {
      const html = answerHtml(text);
      expect(html).not.toMatch(/<[bx]>/);
    }
  });
});
