/**
 * Untrusted text never moves the cursor: every class of escape sequence, split at every byte over the deltas of a
 * stream, through every place where a model, a tool, a server or a file can put text.
 */

import { expect, test } from "vitest";

import type { CanonicalEvent, SessionEvent } from "../../src/base/events/index.ts";
import { BlockList, NO_MARKS } from "../../src/interface/fragments/index.ts";
import { blockRows } from "../../src/interface/tui/block-rows.ts";
import { argumentRows, createStyle } from "../../src/interface/tui/index.ts";
import { sealed } from "../../src/interface/tui/rows.ts";
import { statusRows } from "../../src/interface/tui/status-line.ts";
import type { View } from "../../src/interface/tui/view-state.ts";
import { emulatorOf, newPlace } from "../cli/harness.ts";
import { KEYS, onScreen } from "./screen-harness.ts";

/** One of each class: C0, C1, CSI, OSC with both ends, DCS, APC, PM, SOS, single escapes, queries, modes, bidi. */
const SEQUENCES: readonly string[] = [
  "\u0000",
  "\u0007",
  "\b",
  "\u000B",
  "\f",
  "\r",
  "\u000E",
  "\u000F",
  "\u0018",
  "\u001A",
  "\u007F",
  "\u0084",
  "\u0085",
  "\u008D",
  "\u0090q\u009C",
  "\u009B2J",
  "\u009D0;t\u009C",
  "\u009E_\u009C",
  "\u009F_\u009C",
  "\u0098x\u009C",
  "\u001B[2J",
  "\u001B[H",
  "\u001B[10A",
  "\u001B[?1049h",
  "\u001B[?2004l",
  "\u001B[6n",
  "\u001B[c",
  "\u001B[>c",
  "\u001B[21t",
  "\u001B[5n",
  "\u001B[31m",
  "\u001B[8m",
  "\u001B[?25l",
  "\u001B[1;1r",
  "\u001B[4h",
  "\u001B[38;2;1;2;3m",
  "\u001B[200~",
  "\u001B]0;title\u0007",
  "\u001B]52;c;aGk=\u001B\\",
  "\u001B]8;;http://x\u001B\\link\u001B]8;;\u001B\\",
  "\u001B]9;9\u0007",
  "\u001BP+q544e\u001B\\",
  "\u001B_Gi=1\u001B\\",
  "\u001B_pi:c\u0007",
  "\u001B^pm\u001B\\",
  "\u001BXsos\u001B\\",
  "\u001Bc",
  "\u001B7",
  "\u001B8",
  "\u001BM",
  "\u001BD",
  "\u001BE",
  "\u001B#8",
  "\u001B(0",
  "\u001B=",
  "\u001B",
  "\u202E",
  "\u2066",
  "\u200F",
  "\u061C",
  "\uFEFF",
  "\u200B",
  "\u{E0041}",
  "\u2028",
  "\uD800",
  "\u00AD",
  "\u034F",
  "\u115F",
  "\u180E",
  "\u2800",
  "\u3164",
  "\uE000",
  "\uFDD0",
  "\uFFA0",
  "\uFFF9",
  "\u{1D173}",
  "\u{E0100}",
  "x\u200D\u200Cy\uFE0F",
];
const styles = createStyle(true);
const view: View = {
  style: styles,
  reasoningOpen: true,
  toolsOpen: true,
  height: 24,
  now: 5000,
  marks: NO_MARKS,
  since: () => 0,
};
const WIDTH = 40;

/** Our own styles are the only sequences; nothing else a terminal could obey. */
function expectInert(rows: readonly string[], what: string): void {
  for (const row of rows) {
    // oxlint-disable-next-line no-control-regex -- our own styles, alone or joined
    const text = row.replaceAll(/\u001B\[(?:(?:0|1|2|3|4|9|22|23|24|29|31|32|33|36|39)[;m])+/g, "");
    expect(text, what).not.toMatch(
      /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u115F\u1160\u2800\u3164\uFFA0]/u,
    );
  }
}

function live(delta: (part: string, at: number) => SessionEvent, text: string): readonly SessionEvent[] {
  // Each character in its own delta: every possible split.
  return Array.from(text.split(""), delta);
}

const at = { turn: "t", response: "r", outputIndex: 0 } as const;
const START = {
  v: 1,
  seq: 0,
  id: "e",
  at: "2026-01-01T00:00:00.000Z",
  epoch: 1,
  turn: "t",
  response: "r",
  type: "response_start",
  step: 1,
  attempt: 1,
  bodyHash: "",
  prefixHash: "",
  origin: { provider: "p", dialect: "openai-responses", model: "m", endpoint: "e", credential: "c" },
} as const satisfies CanonicalEvent;

/** Everything the Markdown renderer treats specially. */
const MARKDOWN: readonly ((text: string) => string)[] = [
  (text) => `\`\`\`${text}\n${text}\n\`\`\``,
  (text) => `[${text}](http://x/${text})`,
  (text) => `![${text}](http://x/${text}) <http://x/${text}>`,
  (text) => `# ${text}`,
  (text) => `| ${text} |\n|---|\n| ${text} |`,
  (text) => `> ${text}`,
  (text) => `- ${text}\n  1. ${text}`,
  (text) => `**${text}** *${text}* ~~${text}~~ \`${text}\``,
  (text) => `<b>${text}</b> &#27;[2J &#x9b;2J`,
];

function frames(events: readonly SessionEvent[], what: string): void {
  const list = new BlockList();
  list.add([START]);
  for (const event of events) {
    list.add([event]);
    for (const open of [true, false]) {
      for (const block of list.view({ writerAlive: true })) {
        expectInert(blockRows(block, WIDTH, { ...view, reasoningOpen: open, toolsOpen: open }), what);
      }
    }
  }
}

test.for(SEQUENCES.map((sequence) => [JSON.stringify(sequence), sequence] as const))(
  "%s is inert in thoughts, titles, answers, calls, arguments, results, notices, errors and the status",
  ([name, sequence]) => {
    const text = `a ${sequence} b`;
    const thinking = (delta: string): SessionEvent => ({ ...at, type: "reasoning_delta", part: 0, delta });
    frames(
      [
        { ...at, type: "reasoning_start" },
        { ...at, type: "reasoning_part_start", part: 0, kind: "summary", title: text },
        ...live(thinking, `**${text}**\n\n${text}`),
      ],
      name,
    );
    const answering = (delta: string): SessionEvent => ({ ...at, type: "text_delta", delta });
    frames([{ ...at, type: "text_start" }, ...live(answering, text)], name);
    for (const markdown of MARKDOWN) frames([{ ...at, type: "text_start" }, answering(markdown(text))], name);
    const calling = (delta: string): SessionEvent => ({ ...at, type: "tool_call_delta", delta });
    const call = JSON.stringify({ path: text, [text]: [text] });
    frames([{ ...at, type: "tool_call_start", name: text }, ...live(calling, text)], name);
    frames([{ ...at, type: "tool_call_start", name: text }, calling(call)], name);
    const end = { seq: 1, id: "x", at: START.at, epoch: 1, v: 1 } as const;
    const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0 };
    frames(
      [
        { ...end, type: "notice", code: "x", message: text },
        { ...end, type: "user_message", by: "person", content: [{ type: "text", text }] },
        {
          turn: "t",
          response: "r",
          type: "retry",
          attempt: 2,
          delayMs: 9000,
          error: { code: text, message: text },
        },
        {
          ...end,
          type: "turn_end",
          turn: "t",
          status: "failed",
          error: { code: text, message: text },
          steps: 1,
          usage,
          durationMs: 1,
        },
      ],
      name,
    );
    expectInert(argumentRows(JSON.stringify({ [text]: text, n: [text] }), WIDTH), name);
    expectInert(argumentRows(text, WIDTH), name);
    expectInert(
      statusRows(
        {
          directory: text,
          session: text,
          usage,
          costUsd: 1,
          model: text,
          effort: text,
          context: undefined,
          reading: true,
        },
        WIDTH,
        styles,
      ),
      name,
    );
    expectInert([sealed(`${text}\n\t`, WIDTH)], name);
  },
);

test("a question shows every character that could be mistaken for another, and all of a long name", () => {
  const rows = argumentRows(
    JSON.stringify({ command: "rm\u3164-rf\u00A0p\u0430th 👩\u200D🔬", ["n".repeat(150)]: "x" }),
    60,
  );
  expect(rows[0]).toBe(String.raw`command: rm\u{3164}-rf\u{A0}p\u{430}th 👩\u{200D}🔬`);
  expect(rows.slice(1).join("")).toBe(`${"n".repeat(150)}:│ x`);
});

test("on a real terminal, the cursor stays ours, the terminal gets no query, and the title is not set", async () => {
  const evil = SEQUENCES.filter((sequence) => !/[\uD800]/.test(sequence)).join("|");
  const place = newPlace();
  place.write("evil.txt", evil);
  const { env } = await emulatorOf({
    steps: [
      {
        output: [
          { reasoning: [`**A ${evil} title**\n\n${evil}`] },
          { function_call: { name: "read_file", arguments: { path: "evil.txt" } } },
        ],
      },
      { output: [{ message: `text ${evil}\n\n\`\`\`\n${evil}\n\`\`\`\n\nThe last line.` }] },
      { output: [], status: "failed", error: { code: "invalid_prompt", message: `error ${evil}` } },
    ],
  });
  const run = onScreen(place, ["go"], { env, rows: 50 });
  let titles = 0;
  run.terminal.onTitleChange(() => {
    titles += 1;
  });
  run.press(KEYS.controlT + KEYS.controlO);
  await run.shows("The last line.");
  await run.ready();
  expect(run.terminal.buffer.active.type).toBe("normal");
  expect(run.terminal.modes.bracketedPasteMode).toBe(true);
  await run.say("again");
  await run.shows("✗ Failed: error");
  await run.ready();
  expect(await run.leave()).toBe(0);
  expect(titles).toBe(0);
  expect(run.replies).toBe("");
  const allowed = /\u001B\[(?:\d*[ABCJ]|2?K|[\d;]*m|\?2026[hl]|\?25[hl]|\?2004[hl]|\?u|<u)/g; // oxlint-disable-line no-control-regex
  expect(run.bytes.replaceAll(allowed, "")).not.toMatch(/(?![\r\n])[\p{Cc}\p{Bidi_Control}]/u);
});
