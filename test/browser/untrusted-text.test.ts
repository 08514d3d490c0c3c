/**
 * Two hundred ways to run a script, through every text the page shows: none runs, nothing is fetched from elsewhere.
 */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { anyTool } from "../contracts/session-fixture.ts";
import { describePage, openPage, realPage, say } from "./page-fixture.ts";

const RUN = "window.__ran=1";
const AWAY = "https://elsewhere.test/x";

const HANDLERS = [
  "onerror",
  "onload",
  "onclick",
  "onfocus",
  "ontoggle",
  "onmouseover",
  "onanimationstart",
  "onbegin",
];
const TAGS = [
  "img src=x",
  "svg",
  "body",
  "input autofocus",
  "details open",
  "video><source",
  "audio src=x",
  "marquee",
  "isindex type=image src=1",
];
const ADDRESSES = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  `&#106;avascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `vbscript:${RUN}`,
  `//elsewhere.test/x`,
  `\u0001javascript:${RUN}`,
];

/**
 * Tags with handlers, addresses in every place that takes one, remote resources, broken markup, markdown of all kinds.
 */
const PAYLOADS: readonly string[] = [
  ...TAGS.flatMap((tag) => HANDLERS.map((handler) => `<${tag} ${handler}="${RUN}">`)),
  ...TAGS.flatMap((tag) => [
    `<${tag} onerror=${RUN} x=`,
    `<${tag}/onerror='${RUN}'//`,
    `"><${tag} onload=${RUN}>`,
  ]),
  ...ADDRESSES.flatMap((address) => [
    `<a href="${address}">x</a>`,
    `[x](${address})`,
    `![x](${address})`,
    `<iframe src="${address}"></iframe>`,
    `<form action="${address}"><button>x</button></form>`,
    `<object data="${address}"></object>`,
    `<math><a xlink:href="${address}">x</a></math>`,
    `<svg><a xlink:href="${address}"><text>x</text></a></svg>`,
  ]),
  `<script>${RUN}</script>`,
  `<script src="${AWAY}.js"></script>`,
  `<SCRIPT>${RUN}</SCRIPT >`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<img src="${AWAY}.png">`,
  `![a](${AWAY}.png)`,
  `![a][r]\n\n[r]: ${AWAY}.png`,
  `<link rel=stylesheet href="${AWAY}.css">`,
  `<style>@import "${AWAY}.css";</style>`,
  `<div style="background:url(${AWAY}.png)">x</div>`,
  `<meta http-equiv=refresh content="0;url=${AWAY}">`,
  `<base href="${AWAY}/">`,
  `<template><img src=x onerror=${RUN}></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<math><mtext><table><mglyph><style><img src=x onerror=${RUN}>`,
  `<svg><style><img src=x onerror=${RUN}></style></svg>`,
  `<form id=x></form><button form=x formaction="javascript:${RUN}">x</button>`,
  `<input name=innerHTML><form><input name=nodeName></form>`,
  `<a id=location href="${AWAY}">x</a>`,
  `\`\`\`html\n<img src=x onerror=${RUN}>\n\`\`\``,
  `<!--><img src=x onerror=${RUN}>-->`,
  `<![CDATA[<img src=x onerror=${RUN}>]]>`,
  `<textarea></textarea><img src=x onerror=${RUN}>`,
  `</pre><img src=x onerror=${RUN}>`,
  `</title><script>${RUN}</script>`,
  `<xmp><img src=x onerror=${RUN}></xmp>`,
  `<plaintext><img src=x onerror=${RUN}>`,
  `<svg><script href="data:,${RUN}" /></svg>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<svg><foreignObject><iframe srcdoc="<script>parent.__ran=1</script>"></iframe></foreignObject></svg>`,
  `<portal src="${AWAY}"></portal>`,
  `<embed src="${AWAY}">`,
  `<video poster="${AWAY}.png"></video>`,
  `<picture><source srcset="${AWAY}.png"><img src=x></picture>`,
  `<p contenteditable onfocus=${RUN} autofocus>`,
  `<button popovertarget=p onclick=${RUN}>x</button>`,
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `<x onclick=${RUN}>click</x>`,
  `\u202e<img src=x onerror=${RUN}>`,
  `\u0000<img src=x onerror=${RUN}>`,
  `<img src=x\u0000onerror=${RUN}>`,
];

const real = realPage();

/** Nodes that could run or fetch, if the page had let them through. */
const SUSPECTS = `[...document.querySelectorAll("*")].filter((node) =>
  /^(?:script|iframe|object|embed|form|link|meta|style|img|video|audio|svg|math|base|portal|template)$/i.test(node.tagName) &&
    node.closest(".scroller, .sessions-pane, .head, aside") !== null &&
    node.closest(".mark, .ring, .inspector svg[role=img]") === null &&
    !(node.tagName.toLowerCase() === "form" && node.classList.contains("edit")) ||
  [...node.attributes].some(({ name, value }) => /^on/i.test(name) || /^\\s*(?:javascript|data|vbscript):/i.test(value) && name !== "title"),
).map((node) => node.outerHTML.slice(0, 200)).filter((html) => !html.startsWith('<link rel="icon"'))`;

/** All at once: each click by the debugger waits for the whole long page. */
const UNFOLD = `for (const details of document.querySelectorAll(".row details")) details.open = true`;

/** Opens every block that hides something, one after the other; returns suspect nodes seen meanwhile. */
const INSPECT_ALL = `(async () => {
  const seen = [];
  for (const button of document.querySelectorAll('button[aria-label^="Inspect this"]')) {
    button.click();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    seen.push(...${SUSPECTS});
  }
  return seen;
})()`;

async function harmless(
  page: Page,
  seen: { readonly elsewhere: readonly string[]; readonly errors: readonly string[] },
): Promise<void> {
  expect(await page.evaluate("window.__ran")).toBeUndefined();
  expect(await page.evaluate(SUSPECTS)).toEqual([]);
  expect(seen.elsewhere).toEqual([]);
  expect(seen.errors).toEqual([]);
}

describePage(real, "untrusted text", () => {
  const all = PAYLOADS.join("\n\n");

  test("there are two hundred ways to run a script", () => {
    expect(new Set(PAYLOADS).size).toBeGreaterThanOrEqual(200);
  });

  test("none works through the message, the title, the answer, the thought, the call, its result and the error", async () => {
    const opened = await openPage(real, {
      script: [
        {
          output: [
            { reasoning: [`**<img src=x onerror=${RUN}>**\n\n${all}`, all] },
            { function_call: { name: "look", arguments: { at: all } } },
          ],
        },
        { output: [{ message: all }] },
        { output: [{ refusal: all }] },
      ],
      tools: [anyTool("look", () => all, { access: "read" })],
    });
    const { page } = opened;
    await say(page, `<img src=x onerror=${RUN}> ${PAYLOADS.slice(0, 40).join(" ")}`);
    await page.getByText(/2 steps/).waitFor();
    await page.evaluate(UNFOLD);
    await say(page, all);
    await page.getByText(/1 step/).waitFor();
    opened.emulator.addFaults({ type: "http", status: 403, message: PAYLOADS.slice(0, 60).join(" ") });
    await say(page, "And an error");
    await page.locator(".ending.bad").waitFor();
    await page.getByRole("button", { name: "Inspector", exact: true }).click();
    for (const tab of ["Request", "Trace", "Plots", "Events"]) {
      await page.getByRole("tab", { name: tab }).click();
      await harmless(page, opened);
    }
    expect(await page.evaluate(INSPECT_ALL)).toEqual([]);
    await harmless(page, opened);
    await page.reload();
    await page.getByText(/2 steps/).waitFor();
    await harmless(page, opened);
  });

  test("none works through an address and a search", async () => {
    const opened = await openPage(real);
    const { page } = opened;
    await page.getByRole("searchbox").fill(`<img src=x onerror=${RUN}>`);
    await page.getByText("Nothing found.").waitFor();
    await page.goto(`${opened.server.url}/s/${encodeURIComponent(`"><img src=x onerror=${RUN}>`)}`);
    await page.getByRole("alert").waitFor();
    await harmless(page, opened);
  });
});
