/**
 * Renders a session as one HTML page without scripts or network requests. Answers are rendered Markdown whose every tag
 * answer-html.ts writes; everything else from a model or a tool is escaped text. The page's content security policy
 * forbids the rest. Thoughts and tool calls are folded; printing unfolds them.
 */

import { turnEnding } from "../../../base/api/index.ts";
import {
  type Block,
  exitCode,
  formatDuration,
  reasoningLabel,
  type ToolBlock,
  toolLabel,
  workedMs,
} from "../../fragments/index.ts";
import { inert, inertLine } from "../inert-text.ts";
import { answerHtml, escapeHtml } from "./answer-html.ts";
import type { ExportView } from "./markdown.ts";

export function toHtml(view: ExportView): string {
  const { title, id, blocks, reasoning } = view;
  const body = blocks
    .filter((block) => !block.superseded && (reasoning || block.kind !== "reasoning"))
    .map((block) => blockHtml(block))
    .filter((html) => html !== "")
    .join("\n");
  const name = line(title) || escapeHtml(id);
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
<header>
<h1>${name}</h1>
${aboutHtml(view)}
</header>
<main>
${body}
</main>
</body>
</html>
`;
}

const STYLE = `:root{color-scheme:light dark;--line:color-mix(in srgb,CanvasText 20%,Canvas);--soft:color-mix(in srgb,CanvasText 6%,Canvas);--quiet:color-mix(in srgb,CanvasText 70%,Canvas)}
body{font:16px/1.55 system-ui,sans-serif;margin:0;background:Canvas;color:CanvasText}header,main{max-width:46rem;margin:auto;padding:1rem}header{padding-top:2rem;border-bottom:1px solid var(--line)}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem;overflow-wrap:anywhere}h2{font-size:.875rem;margin:0;color:var(--quiet)}h3{font-size:1.2rem}h4,h5,h6{font-size:1rem}h3,h4,h5,h6{margin:1.25em 0 .5em}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0;font-size:.875rem}dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}
.user{background:var(--soft);border-inline-start:.25rem solid var(--line);border-radius:.25rem;padding:.6rem .9rem;margin-block:2rem 1rem}.answer{margin-block:1rem;overflow-wrap:anywhere}
.text,pre{white-space:pre-wrap;overflow-wrap:anywhere}pre{font-size:.875em;line-height:1.45;background:var(--soft);padding:.6rem .8rem;border-radius:.25rem;margin:.6rem 0}code{font-family:ui-monospace,monospace}:not(pre)>code{background:var(--soft);padding:.1em .3em;border-radius:.2em;font-size:.9em}
blockquote{margin:.75em 0;padding-inline-start:.9rem;border-inline-start:.2rem solid var(--line);color:var(--quiet)}.wide{overflow-x:auto}table{border-collapse:collapse;margin:.75em 0}th,td{border:1px solid var(--line);padding:.3rem .6rem;text-align:start}
details{margin:.6rem 0;border:1px solid var(--line);border-radius:.25rem;padding:.35rem .75rem;font-size:.9375rem}summary{color:var(--quiet);cursor:pointer;overflow-wrap:anywhere}details[open]>summary{margin-bottom:.5rem}details h2{margin-top:.6rem}
.notice,.target{color:var(--quiet);font-size:.875rem}hr{border:0;border-top:1px solid var(--line);margin:1.5em 0}
@media print{:root{color-scheme:light}body{font-size:11pt}header,main{max-width:none;padding-inline:0}details::details-content{display:block;content-visibility:visible}pre,.user,tr{break-inside:avoid}h1,h2,h3,h4,summary{break-after:avoid}}`;

/** What the session used. A cost is given only if every price is known. */
function aboutHtml({ id, startedAt, endedAt, models, turns, usage, costUsd }: ExportView): string {
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = usage;
  const cached = cachedTokens === 0 ? "" : ` (${count(cachedTokens)} cached)`;
  const thought = reasoningTokens === 0 ? "" : ` (${count(reasoningTokens)} reasoning)`;
  const rows: readonly (readonly [string, string])[] = [
    [models.length === 1 ? "Model" : "Models", models.map((name) => line(name)).join(", ") || "none"],
    ["Tokens", `${count(inputTokens)} in${cached}, ${count(outputTokens)} out${thought}`],
    ["Cost", costUsd === undefined ? "unknown" : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`],
    ["Turns", count(turns)],
    ["Started", time(startedAt)],
    ["Last event", time(endedAt)],
    ["Session", escapeHtml(id)],
  ];
  return `<dl>\n${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("\n")}\n</dl>`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** In UTC, as the log has it: the page is read anywhere. */
function time(at: string): string {
  const shown = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(at) ? `${at.slice(0, 10)} ${at.slice(11, 16)} UTC` : at;
  return `<time datetime="${escapeHtml(at)}">${escapeHtml(shown)}</time>`;
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case "user":
      return `<section class="user"><h2>${block.by === "person" ? "User" : "Runtime"}</h2><div class="text">${text(block.text)}</div></section>`;
    case "reasoning":
      return `<details><summary>${line(reasoningLabel(block))}</summary>${block.parts
        .map(
          ({ title, body }) =>
            `${title === undefined ? "" : `<h2>${line(title)}</h2>`}${body === "" ? "" : answerHtml(inert(body))}`,
        )
        .join("")}</details>`;
    case "text":
      return `<section class="answer">${answerHtml(inert(block.text))}${block.cut ? '<p class="notice">(cut off)</p>' : ""}</section>`;
    case "tool":
      return toolHtml(block);
    case "notice":
      return `<p class="notice">${text(block.text)}</p>`;
    case "turn_end":
      return block.status === "completed"
        ? ""
        : `<p class="notice">The turn ${escapeHtml(`${turnEnding({ status: block.status, reason: block.reason })}${block.reason === undefined ? "" : `: ${block.reason}`}`)}${
            block.error === undefined ? "" : `: ${text(block.error.message)}`
          }</p>`;
    default:
      return "";
  }
}

function toolHtml(block: ToolBlock): string {
  const { arguments: given, result } = block;
  const worked = workedMs(block);
  const took = worked === undefined ? "" : `, ${formatDuration(worked)}`;
  const code = exitCode(block) ?? 0;
  const outcome = code === 0 ? (result?.status ?? "no result") : `exit ${code}`;
  const summary = `Tool ${toolLabel(block)}: ${outcome}${took}`;
  const output = result === undefined ? "" : `<h2>Result</h2><pre>${text(result.text)}</pre>`;
  const person =
    result?.forPerson === undefined
      ? ""
      : `<h2>For the person, not sent to the model</h2><pre>${text(result.forPerson)}</pre>`;
  return `<details><summary>${line(summary)}</summary><h2>Arguments</h2><pre>${text(given)}</pre>${output}${person}</details>`;
}

function text(value: string): string {
  return escapeHtml(inert(value));
}

function line(value: string): string {
  return escapeHtml(inertLine(value, 200));
}
