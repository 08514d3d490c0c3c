/**
 * Renders a session as one HTML page without scripts or network requests; everything from a model or a tool is escaped
 * text. The page's content security policy forbids the rest.
 */

import { turnEnding } from "../../../base/api/index.ts";
import { type Block, reasoningLabel } from "../../fragments/index.ts";
import { inert, inertLine } from "../inert-text.ts";
import type { ExportView } from "./markdown.ts";

export function toHtml({ title, id, startedAt, blocks, reasoning }: ExportView): string {
  const body = blocks
    .filter((block) => !block.superseded && (reasoning || block.kind !== "reasoning"))
    .map((block) => blockHtml(block))
    .join("\n");
  const name = escaped(inertLine(title, 200) || id);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="throughline">
<title>${name}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${name}</h1>
<p class="about">Session ${escaped(id)}, started <time datetime="${escaped(startedAt)}">${escaped(startedAt)}</time></p>
${body}
</main>
</body>
</html>
`;
}

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}main{max-width:50rem;margin:auto;padding:1rem}
.text,pre{white-space:pre-wrap;overflow-wrap:anywhere}pre{font-size:.9em;background:color-mix(in srgb,currentColor 8%,transparent);padding:.5rem;border-radius:.3rem}
.user{border-inline-start:.25rem solid;padding-inline-start:.75rem;margin-block:1.5rem}.about,.notice,summary{opacity:.75}h2{font-size:1rem;margin:0}`;

function blockHtml(block: Block): string {
  switch (block.kind) {
    case "user":
      return `<section class="user"><h2>${block.by === "person" ? "User" : "Runtime"}</h2><div class="text">${text(block.text)}</div></section>`;
    case "reasoning":
      return `<details><summary>${escaped(inertLine(reasoningLabel(block), 200))}</summary>${block.parts
        .map(
          ({ title, body }) =>
            `${title === undefined ? "" : `<h2>${escaped(inertLine(title, 200))}</h2>`}<div class="text">${text(body)}</div>`,
        )
        .join("")}</details>`;
    case "text":
      return `<section class="answer"><div class="text">${text(block.text)}</div>${block.cut ? '<p class="notice">(cut off)</p>' : ""}</section>`;
    case "tool":
      return `<details><summary>${escaped(inertLine(`${block.name} ${block.result?.status ?? "no result"}`, 200))}</summary><pre>${text(block.arguments)}</pre>${
        block.result === undefined ? "" : `<pre>${text(block.result.text)}</pre>`
      }</details>`;
    case "notice":
      return `<p class="notice">${text(block.text)}</p>`;
    case "turn_end":
      return block.status === "completed"
        ? ""
        : `<p class="notice">The turn ${escaped(`${turnEnding({ status: block.status, reason: block.reason })}${block.reason === undefined ? "" : `: ${block.reason}`}`)}${
            block.error === undefined ? "" : `: ${text(block.error.message)}`
          }</p>`;
    default:
      return "";
  }
}

function text(value: string): string {
  return escaped(inert(value));
}

function escaped(value: string): string {
  return value
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
