/**
 * Renders a session as Markdown. Tool texts are in code fences that they cannot close; a model's answer is inserted as its
 * own Markdown. Control characters are made visible.
 */

import { turnEnding } from "../../../base/api/index.ts";
import type { Usage } from "../../../base/events/index.ts";
import { type Block, reasoningLabel, toolLabel } from "../../fragments/index.ts";
import { inert, inertLine } from "../inert-text.ts";

export interface ExportView {
  readonly title: string;
  readonly id: string;
  readonly startedAt: string;
  readonly endedAt: string;
  /** Every model that answered, in the order of its first request. */
  readonly models: readonly string[];
  readonly turns: number;
  readonly usage: Usage;
  /** Undefined if a price is unknown. */
  readonly costUsd: number | undefined;
  readonly blocks: readonly Block[];
  readonly reasoning: boolean;
}

export function toMarkdown({ title, id, startedAt, blocks, reasoning }: ExportView): string {
  const body = blocks
    .filter((block) => !block.superseded && (reasoning || block.kind !== "reasoning"))
    .map((block) => blockText(block))
    .filter((text) => text !== "");
  return `${[`# ${inertLine(title, 200) || id}`, `Session ${id}, started ${startedAt}.`, ...body].join("\n\n")}\n`;
}

function blockText(block: Block): string {
  switch (block.kind) {
    case "user":
      return `## ${block.by === "person" ? "User" : "Runtime"}\n\n${quoted(block.text)}`;
    case "reasoning":
      return `<details><summary>${escaped(reasoningLabel(block))}</summary>\n\n${block.parts
        .flatMap(({ title, body }) => [
          ...(title === undefined ? [] : [`**${inertLine(title, 200)}**`]),
          body,
        ])
        .filter((text) => text !== "")
        .map((text) => quoted(text))
        .join("\n\n")}\n\n</details>`;
    case "text":
      return `${inert(block.text)}${block.cut ? "\n\n*(cut off)*" : ""}`;
    case "tool":
      return `**Tool ${inertLine(toolLabel(block), 100)}**\n\n${fenced(block.arguments, "json")}${
        block.result === undefined
          ? ""
          : `\n\nResult (${block.result.status}):\n\n${fenced(block.result.text, "")}`
      }${
        block.result?.forPerson === undefined
          ? ""
          : `\n\nFor the person, not sent to the model:\n\n${fenced(block.result.forPerson, "")}`
      }`;
    case "notice":
      return `> *${escaped(inertLine(block.text, 500))}*`;
    case "turn_end":
      return block.status === "completed"
        ? ""
        : `> *The turn ${turnEnding({ status: block.status, reason: block.reason })}${block.reason === undefined ? "" : `: ${block.reason}`}${
            block.error === undefined ? "" : `: ${escaped(inertLine(block.error.message, 500))}`
          }*`;
    default:
      return "";
  }
}

function quoted(text: string): string {
  return inert(text)
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

/** Uses a fence longer than any run of backticks in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${inert(text)}\n${fence}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("*", "\\*");
}
