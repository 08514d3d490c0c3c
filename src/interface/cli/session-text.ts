/** Renders a session as text, from the same blocks that every interface draws. */

import {
  type Block,
  formatDuration,
  reasoningLabel,
  type ThoughtMarks,
  toolLabel,
  toolTitle,
  type UserBlock,
  workedMs,
} from "../fragments/index.ts";
import { inert, inertLine } from "./inert-text.ts";

export interface SessionTextOptions {
  /** Shows reasoning with its text, as one line each, or not at all. */
  readonly reasoning: "full" | "title" | "none";
  /** Which thoughts the next request does not carry. */
  readonly marks?: ThoughtMarks | undefined;
}

const WIDTH = 110;
/** Errors are long enough to need this limit: they must not be cut. */
const SENTENCE = 2000;

export function sessionText(blocks: readonly Block[], options: SessionTextOptions): string {
  return [...sessionLines(blocks, options)].join("\n");
}

/** Yields lines one by one, because a large session can exceed the maximum length of a string. */
export function* sessionLines(blocks: readonly Block[], options: SessionTextOptions): Generator<string> {
  for (const block of blocks) if (!block.superseded || seenOnly(block)) yield* linesOf(block, options);
}

/** The user saw the text of an attempt that was replaced, and it appears nowhere else (law 9). */
function seenOnly(block: Block): boolean {
  return block.kind === "text" && block.cut && block.text !== "";
}

function linesOf(block: Block, options: SessionTextOptions): readonly string[] {
  switch (block.kind) {
    case "user":
      return ["", `${signOf(block)} ${inert(block.text)}  [${block.seq}]`];
    case "reasoning": {
      if (options.reasoning === "none") return [];
      const unsent = options.marks?.of(block);
      const label = `▸ ${reasoningLabel(block)}${unsent === undefined ? "" : ` · Not sent · ${inertLine(unsent.words, 200)}`}`;
      if (options.reasoning === "title") return [label];
      return [
        label,
        ...block.parts.flatMap(({ title, body }) => [title, body]).flatMap((text) => indented(text)),
      ];
    }
    case "text":
      return [inert(block.text) + (block.cut ? ` …(cut${block.superseded ? "; retried" : ""})` : "")];
    case "tool":
      return [
        `▸ ${inertLine(`${toolLabel(block)}(${block.arguments})`, WIDTH)}`,
        ...(block.result === undefined
          ? []
          : [
              `  ${toolTitle(block).outcome === "ok" ? "✓" : "✗"} ${inertLine(block.result.text, WIDTH)}`,
              ...(block.result.forPerson === undefined
                ? []
                : [`  for you: ${inertLine(block.result.forPerson, WIDTH)}`]),
              ...(block.result.sessions ?? []).map((id) => `  sub-agent session ${inertLine(id, WIDTH)}`),
            ]),
      ];
    case "notice":
      return [`! ${inertLine(block.text, SENTENCE)}`];
    case "turn_end":
      return [
        `─ ${block.status}${block.reason === undefined ? "" : `: ${block.reason}`}${block.error === undefined ? "" : `: ${inertLine(block.error.message, SENTENCE)}`} · ${formatDuration(workedMs(block))}`,
      ];
    default:
      return [];
  }
}

function indented(text: string | undefined): readonly string[] {
  return text === undefined || text === ""
    ? []
    : inert(text)
        .split("\n")
        .map((line) => `  ${line}`);
}

function signOf({ by, steer }: UserBlock): string {
  if (by !== "person") return "‹runtime›";
  return steer === true ? "↪" : "›";
}
