import xterm from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";

import { Screen } from "./screen.ts";

const COLUMNS = 20;
const ROWS = 8;

function createTerminal(): {
  readonly terminal: xterm.Terminal;
  readonly screen: Screen;
  readonly written: () => Promise<void>;
  readonly lines: () => readonly string[];
  readonly bytes: () => string;
} {
  const terminal = new xterm.Terminal({
    cols: COLUMNS,
    rows: ROWS,
    scrollback: 1000,
    allowProposedApi: true,
  });
  let last = Promise.resolve();
  let bytes = "";
  const write = (data: string): void => {
    bytes += data;
    last = new Promise((resolve) => {
      terminal.write(data, resolve);
    });
  };
  const screen = new Screen({
    get columns() {
      return terminal.cols;
    },
    get rows() {
      return terminal.rows;
    },
    write,
  });
  const { active } = terminal.buffer;
  const lines = (): readonly string[] => {
    const all = Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true) ?? "",
    );
    return all.slice(0, all.findLastIndex((line) => line !== "") + 1);
  };
  return { terminal, screen, written: () => last, lines, bytes: () => bytes };
}

test("rows that leave the window stay in the scrollback; the rest is repainted", async () => {
  const { screen, written, lines } = createTerminal();
  const said = Array.from({ length: 20 }, (_, at) => `row ${at}`);
  for (let count = 1; count <= said.length; count += 1) {
    screen.draw({ rows: [...said.slice(0, count), "input", "status"], cursor: { row: count, column: 2 } });
  }
  await written();
  expect(lines()).toEqual([...said, "input", "status"]);
  screen.draw({ rows: [...said.slice(0, 18), "changed", "input"], cursor: { row: 19, column: 5 } });
  await written();
  expect(lines()).toEqual([...said.slice(0, 18), "changed", "input"]);
});

test("the terminal shows the frame, for any frames that change only rows in the window", async () => {
  const row = fc.stringMatching(/^[a-z]{0,20}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(row, { minLength: 1, maxLength: ROWS + 6 }), { maxLength: 12 }),
      async (frames) => {
        const { terminal, screen, written, lines } = createTerminal();
        let fixed: readonly string[] = [];
        let shown: readonly string[] = [];
        for (const frame of frames) {
          fixed = shown.slice(0, screen.gone);
          shown = [...fixed, ...frame];
          screen.draw({ rows: shown, cursor: { row: Math.max(0, shown.length - 1), column: 1 } });
          await written();
          const seen = lines();
          const expected = shown.slice(0, shown.findLastIndex((text) => text !== "") + 1);
          expect(seen).toEqual(expected);
          const { baseY, cursorY } = terminal.buffer.active;
          if (shown.length > 0) expect(baseY + cursorY).toBe(shown.length - 1);
        }
      },
    ),
  );
});

test("a row as wide as the terminal keeps its last column, and a wider one is cut", async () => {
  const { screen, written, lines, bytes } = createTerminal();
  const full = "x".repeat(COLUMNS);
  screen.draw({ rows: [full, "日".repeat(COLUMNS / 2), "y".repeat(COLUMNS + 5), "end"], cursor: undefined });
  await written();
  expect(lines()).toEqual([full, "日".repeat(COLUMNS / 2), `${"y".repeat(COLUMNS - 1)}…`, "end"]);
  // After a full row, xterm's cursor is still on the last column and would erase it (this emulator's would not).
  expect(bytes()).not.toContain("\u001B[K");
});

test("only text and styles reach the terminal, whatever a component returns", async () => {
  const { terminal, screen, written } = createTerminal();
  let replies = "";
  terminal.onData((data) => {
    replies += data;
  });
  const hostile = [
    "\u001B[6n",
    "\u001B[2J",
    "\u001B]0;t\u0007",
    "\u009B6n",
    "a\rb\nc",
    "\u001B[31mred\u001B[0m",
    "\u001Bc",
  ];
  screen.draw({ rows: [...hostile, "end"], cursor: undefined });
  await written();
  expect(replies).toBe("");
  expect(terminal.buffer.active.getLine(7)?.translateToString(true)).toBe("end");
  expect(terminal.buffer.active.getLine(5)?.translateToString(true)).toBe("red");
});
