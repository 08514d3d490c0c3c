/**
 * Hostile text that arrives in the open page one character at a time: every half of a tag, an attribute, a link, a
 * fence and an entity is drawn on its way. No script runs or is even tried, nothing is fetched, nothing outside of the
 * message changes, and no suspect node is in the document at any moment.
 */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { anyTool } from "../contracts/session-fixture.ts";
import { begin, describePage, openPage, realPage } from "./page-fixture.ts";

const RUN = "window.__ran=1";
const AWAY = "//elsewhere.test/x";

const PAYLOADS: readonly string[] = [
  `<img src=x onerror=${RUN}>`,
  `<img src="x" onerror="${RUN}" alt='a`,
  `<svg/onload=${RUN}>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<svg><style><img src=x onerror=${RUN}></style></svg>`,
  `<svg></p><style><a id="</style><img src=1 onerror=${RUN}>">`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${RUN}&gt;">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
  `<script>${RUN}</script>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `</script><script>${RUN}</script>`,
  `<iframe srcdoc="<script>parent.__ran=1</script>"></iframe>`,
  `<iframe src="javascript:${RUN}">`,
  `<base href="https:${AWAY}/"><a href="y">z</a>`,
  `<meta http-equiv="refresh" content="0;url=https:${AWAY}">`,
  `<link rel=stylesheet href="https:${AWAY}.css">`,
  `<style>@import "https:${AWAY}.css";*{background:url(https:${AWAY})}</style>`,
  `<p style="background:url(https:${AWAY}.png);position:fixed">x</p>`,
  `<input name=innerHTML><a id=location name=body>x</a><form name=cookie>`,
  `<a href="javascript:${RUN}">x</a>`,
  `[x](javascript:${RUN})`,
  `[x](java&#115;cript:${RUN})`,
  `[x](data:text/html;base64,PHNjcmlwdD4=)`,
  `[x](vbscript:msgbox "x")`,
  `[x][r]\n\n[r]: javascript:${RUN} "t"`,
  `<javascript:${RUN}> <https:${AWAY}>`,
  `![x](https:${AWAY}.png "onerror=${RUN}")`,
  `![x](x" onerror="${RUN})`,
  `[![x](https:${AWAY}.png)](javascript:${RUN})`,
  `\`\`\`html\n<img src=x onerror=${RUN}>\n\`\`\`\n<b onclick=${RUN}>y`,
  `\`\`\`"><img src=x onerror=${RUN}>\nx\n\`\`\``,
  `&lt;img src=x onerror=${RUN}&gt; &#60;svg onload=${RUN}&#62;`,
  `| <img src=x onerror=${RUN}> |\n|---|\n| [x](javascript:${RUN}) |`,
  `<!--><img src=x onerror=${RUN}>-->`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<template><img src=x onerror=${RUN}></template>`,
  `<details open ontoggle=${RUN}>x</details>`,
  `www.elsewhere.test/"onmouseover=${RUN} me@elsewhere.test`,
];

/** After these characters half of a construct is on the page: it is drawn before the next character arrives. */
const AWKWARD = /[<>="'()[\]&;:/!`#|-]/;

const real = realPage();

/** Watches from before the page's first script: what was tried, and what was in the document, even for a moment. */
const WATCH = `(() => {
  window.__seen = [];
  document.addEventListener("securitypolicyviolation", (event) => {
    window.__seen.push("refused: " + event.violatedDirective + " " + event.blockedURI);
  });
  const SUSPECT = /^(?:script|iframe|object|embed|form|link|meta|style|img|video|audio|svg|math|base|portal|template|input)$/i;
  const look = (node) => {
    if (!(node instanceof Element) || node.closest(".column") === null || node.closest("form.edit, .icon") !== null) return;
    const attributes = [...node.attributes].filter(({ name, value }) =>
      /^(?:on|style$|srcdoc$|name$)/i.test(name) || /^\\s*(?:javascript|data|vbscript):/i.test(value) && name !== "title");
    if (SUSPECT.test(node.tagName) || attributes.length > 0 || node.closest(".prose") !== null && node.id !== "")
      window.__seen.push(node.outerHTML.slice(0, 200));
  };
  new MutationObserver((records) => {
    for (const record of records) {
      if (record.type === "attributes") look(record.target);
      for (const node of record.addedNodes) {
        look(node);
        if (node instanceof Element) for (const one of node.querySelectorAll("*")) look(one);
      }
    }
  }).observe(document, { subtree: true, childList: true, attributes: true });
})()`;

const FRAME = "new Promise((done) => requestAnimationFrame(() => done()))";
/** The page around the conversation, which a message must not change. */
const OUTSIDE = `[
  [...document.head.children].map((node) => node.tagName === "TITLE" ? "TITLE" : node.outerHTML),
  new URL(document.baseURI).origin,
  typeof document.cookie,
  typeof document.body.append,
  document.querySelectorAll("body > *").length,
]`;

/** The emulator's stream, its deltas cut into single characters; at awkward ones the page draws first. */
function characterByCharacter(drawn: () => Promise<void>): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.body === null) return answer;
    const decoder = new TextDecoder();
    const encoder = new TextEncoder();
    let rest = "";
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, out) {
        rest += decoder.decode(chunk, { stream: true });
        const frames = rest.split("\n\n");
        rest = frames.pop() ?? "";
        for (const frame of frames) {
          const data = /^data: (\{.*)$/m.exec(frame)?.[1];
          const event = (data === undefined ? {} : JSON.parse(data)) as { readonly delta?: unknown };
          if (typeof event.delta !== "string") {
            out.enqueue(encoder.encode(`${frame}\n\n`));
            continue;
          }
          for (const delta of event.delta.split("")) {
            out.enqueue(encoder.encode(`data: ${JSON.stringify({ ...event, delta })}\n\n`));
            if (AWKWARD.test(delta)) await drawn();
          }
        }
      },
      flush: (out) => out.enqueue(encoder.encode(rest)),
    });
    return new Response(answer.body.pipeThrough(cut), { status: answer.status, headers: answer.headers });
  };
}

describePage(real, "text that streams into the open page", () => {
  test("no half of hostile text runs, fetches or reaches out of its message", async () => {
    let page: Page | undefined;
    const drawn = async (): Promise<void> => void (await page?.evaluate(FRAME));
    const opened = await openPage(real, {
      script: [
        {
          output: [
            ...PAYLOADS.map((payload) => ({ reasoning: [`**${payload}**\n\n${payload}`] })),
            { function_call: { name: "look", arguments: { at: PAYLOADS.slice(0, 8).join(" ") } } },
          ],
        },
        { output: PAYLOADS.map((payload) => ({ message: payload })) },
      ],
      tools: [anyTool("look", () => PAYLOADS.join("\n"), { access: "read" })],
      fetch: characterByCharacter(drawn),
    });
    await opened.context.addInitScript(WATCH);
    await opened.page.reload();
    await opened.page.getByRole("button", { name: "New session" }).waitFor();
    const before = await opened.page.evaluate(OUTSIDE);
    page = opened.page;
    await begin(page, "Go on");
    await page.getByText(/2 steps/).waitFor();
    expect(await page.evaluate("window.__ran")).toBeUndefined();
    expect(await page.evaluate("window.__seen")).toEqual([]);
    expect(await page.evaluate(OUTSIDE)).toEqual(before);
    expect(opened.elsewhere).toEqual([]);
    expect(opened.errors).toEqual([]);
    expect(await page.locator(".block.text").count()).toBe(PAYLOADS.length);
  });
});
