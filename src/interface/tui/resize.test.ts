/**
 * Resizes in the middle of an answer, on a terminal emulator that rewraps rows. Whatever the sizes, when the turn has
 * ended, scrollback and screen contain every word of the answer exactly once, in order.
 */

import xterm from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";

import { runs, timeoutFor } from "../../../test/support/runs.ts";
import { type Block, NO_MARKS } from "../fragments/index.ts";
import { footer } from "./footer.ts";
import { Painter } from "./painter.ts";
import { statusRows } from "./status-line.ts";
import { createStyle } from "./style.ts";

const style = createStyle(false);
const usage = { inputTokens: 12_345, cachedTokens: 1000, outputTokens: 640, reasoningTokens: 512 };

interface Size {
  readonly columns: number;
  readonly rows: number;
}

class Run {
  readonly terminal: xterm.Terminal;
  readonly painter: Painter;
  text = "";
  generating = true;
  draft = "";
  /** The size that the process knows: tmux reports a new size after it has applied it. */
  #told: Size;
  #settled: (() => void) | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(columns: number, rows: number) {
    const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
    this.terminal = terminal;
    this.#told = { columns, rows };
    const told = (): Size => this.#told;
    this.painter = new Painter({
      after: (_ms, work) => {
        this.#settled = work;
        return () => (this.#settled = undefined);
      },
      output: {
        get columns() {
          return told().columns;
        },
        get rows() {
          return told().rows;
        },
        write: (data) => {
          this.#last = new Promise((resolve) => {
            terminal.write(data, resolve);
          });
        },
      },
      style,
      now: () => 0,
      marks: () => NO_MARKS,
      blocks: () => this.#blocks(),
      busy: () => false,
      footer: (width, height) =>
        footer(
          {
            queue: [],
            waits: "turn",
            workingMs: this.generating ? 1 : undefined,
            hint: undefined,
            above: [],
            input: {
              rows: [`❯ ${this.draft}`.slice(0, width)],
              cursor: { row: 0, column: Math.min(width - 1, 2 + this.draft.length) },
            },
            status: statusRows(
              {
                directory: "~/a/project",
                session: "what it is about",
                usage,
                costUsd: 0.01,
                model: "openai/gpt-5.6",
                effort: "high",
                context: { usedTokens: 12_000, contextTokens: 400_000, fraction: 0.03 },
                reading: false,
              },
              width,
              style,
            ),
          },
          width,
          height,
          style,
        ),
    });
  }

  async draw(): Promise<void> {
    this.painter.draw();
    await this.#last;
  }

  /** Applies several sizes, like dragging the edge. The first is reported at once, the last after all of them. */
  async resize(sizes: readonly Size[], between: () => Promise<void>): Promise<void> {
    for (const [at, size] of sizes.entries()) {
      this.terminal.resize(size.columns, size.rows);
      if (at === 0 || at === sizes.length - 1) this.#tell(size);
      await between();
    }
    this.#settled?.();
    await this.#last;
  }

  #tell(size: Size): void {
    this.#told = size;
    this.painter.resize();
  }

  async end(): Promise<void> {
    this.painter.end();
    await this.#last;
  }

  /** Everything shown and not erased, with rows that the terminal wrapped joined again. */
  get everything(): string {
    const { active } = this.terminal.buffer;
    let all = "";
    for (let at = 0; at < active.length; at += 1) {
      const line = active.getLine(at);
      if (line === undefined) continue;
      all += `${line.isWrapped ? "" : "\n"}${line.translateToString(!(active.getLine(at + 1)?.isWrapped ?? false))}`;
    }
    return all;
  }

  #blocks(): readonly Block[] {
    const user: Block = {
      id: "u/0",
      kind: "user",
      generating: false,
      superseded: false,
      seq: 0,
      by: "person",
      text: "Say many words.",
    };
    if (this.text === "") return [user];
    return [
      user,
      {
        id: "r/0",
        kind: "text",
        generating: this.generating,
        superseded: false,
        seq: 1,
        text: this.text,
        phase: undefined,
        cut: false,
      },
    ];
  }
}

/** Numbered words in paragraphs, lists and fences. */
function answerOf(shape: readonly ("long" | "short" | "list" | "fence")[]): string {
  let next = 0;
  const words = (count: number): string => Array.from({ length: count }, () => `w${(next += 1)}.`).join(" ");
  return shape
    .map((kind) => {
      if (kind === "short") return words(4);
      if (kind === "long") return words(90);
      const lines = Array.from({ length: 30 }, () => words(2));
      return kind === "list"
        ? lines.map((line) => `- ${line}`).join("\n")
        : `\`\`\`\n${lines.join("\n")}\n\`\`\``;
    })
    .join("\n\n");
}

function tableOf(rows: number): string {
  const cells = Array.from(
    { length: rows },
    (_, at) => `| w${2 * at + 1}. | ${"x".repeat(at)} w${2 * at + 2}. |`,
  );
  return ["| a | b |", "|---|--:|", ...cells].join("\n");
}

/** Ignores spaces, because a word that was half written when its row left the window continues in the next row. */
const numbersIn = (text: string): readonly number[] =>
  [...text.replaceAll(/\s/g, "").matchAll(/w(\d+)\./g)].map(([, n]) => Number(n));

const shapes = fc.array(fc.constantFrom("long", "short", "list", "fence"), { minLength: 1, maxLength: 4 });
const size = fc.record({
  columns: fc.integer({ min: 20, max: 120 }),
  rows: fc.integer({ min: 18, max: 50 }),
});

const changes = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    sizes: fc.array(size, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Writes the answer in small pieces, with the changes in between, to its end. */
async function written(
  run: Run,
  answer: string,
  between: readonly { readonly at: number; readonly sizes: readonly Size[] }[],
): Promise<void> {
  const write = async (until: number): Promise<void> => {
    run.text = answer.slice(0, Math.min(until, run.text.length + 37));
    await run.draw();
  };
  for (const { at, sizes } of between.toSorted((a, b) => a.at - b.at)) {
    const until = Math.floor(at * answer.length);
    while (run.text.length < until) await write(until);
    await run.resize(sizes, () => write(answer.length));
  }
  while (run.text.length < answer.length) await write(answer.length);
  run.generating = false;
  await run.draw();
  await run.end();
}

const RUNS = 30;

test(
  "after any resizes in the middle of it, an answer is shown once, whole and in order",
  { timeout: timeoutFor(RUNS) },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        shapes,
        size,
        changes,
        fc.string({ maxLength: 15, unit: "grapheme-ascii" }),
        async (shape, first, between, draft) => {
          const answer = answerOf(shape);
          const run = new Run(first.columns, first.rows);
          run.draft = draft.trim();
          await written(run, answer, between);
          expect(numbersIn(run.everything)).toEqual(numbersIn(answer));
          expect(run.everything).not.toMatch(/❯|● Working|gpt-5/); // the footer is gone too
        },
      ),
      runs(RUNS),
    );
  },
);

test(
  "after any resizes in the middle of it, a table is shown whole at the end",
  { timeout: timeoutFor(RUNS) },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), size, changes, async (rows, first, between) => {
        const run = new Run(first.columns, first.rows);
        await written(run, `Here it is, w0.\n\n${tableOf(rows)}`, between);
        const [begin, ...numbers] = numbersIn(run.everything);
        expect(begin).toBe(0);
        expect(numbers.slice(-2 * rows)).toEqual(Array.from({ length: 2 * rows }, (_, at) => at + 1));
      }),
      runs(RUNS),
    );
  },
);
