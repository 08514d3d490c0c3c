/**
 * Takes text screenshots of the terminal interface: the built command line on a pseudo-terminal against the emulator.
 * Writes each screen as an SVG to docs/screens. Run it after `npm run build`: node scripts/screenshots.mjs
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

const COLUMNS = 88;
const ROWS = 18;
const CELL = { width: 8.4, height: 18, font: 14 };
const PALETTE = ["#1e1e1e", "#f14c4c", "#23d18b", "#e5c07b", "#3b8eea", "#d670d6", "#29b8db", "#d4d4d4"];
const BACKGROUND = "#1e1e1e";
const FOREGROUND = "#d4d4d4";

const cli = resolve(process.argv[2] ?? "dist/cli/main.js");
const { loadScenario, startEmulator } = await import(resolve(process.argv[3] ?? "dist/emulator/index.js"));

const thought = {
  reasoning: [
    "**Locating the failing step**\n\nThe build has three steps; the second one fails.",
    "**Reading the build log**\n\nThe log shows a missing export in `src/index.ts`. The `types` entry may be the reason, since everything else resolves.",
  ],
};
const answer = {
  message:
    "The `exports` field lacks a `types` entry.\n\n1. I looked at the build log.\n2. I compared it with `package.json`.\n\nAdd the entry and the build passes.",
};
const call = { function_call: { name: "run_command", arguments: { command: "npm run build" } } };
const CONTROL_T = "\u0014";

const SCREENS = [
  { name: "generating", steps: [{ output: [thought, answer] }], stall: 60, until: "Reading the build log…" },
  {
    name: "unfolded",
    steps: [{ output: [thought, answer] }],
    stall: 60,
    until: "Reading the build log…",
    keys: CONTROL_T,
    after: "✓ Locating",
  },
  { name: "done", steps: [{ output: [thought, answer] }], until: "─ Worked for" },
  { name: "question", steps: [{ output: [thought, call] }], until: "? Allow run_command" },
];

mkdirSync("docs/screens", { recursive: true });
for (const screen of SCREENS) writeFileSync(`docs/screens/${screen.name}.svg`, await take(screen));

async function take({ steps, stall, until, keys, after }) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-screens-"));
  const work = join(folder, "app");
  mkdirSync(work);
  const emulator = await startEmulator({
    scenario: loadScenario(JSON.stringify({ steps }), "screens.json"),
    ...(stall === undefined
      ? {}
      : { faults: [{ type: "stall", at: { where: "after", unit: "event", index: stall } }] }),
  });
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  const pty = spawn(process.execPath, [cli, "why does the build fail?"], {
    name: "xterm-256color",
    cols: COLUMNS,
    rows: ROWS,
    cwd: work,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      THROUGHLINE_HOME: join(folder, "home"),
      OPENAI_BASE_URL: emulator.baseUrl,
      OPENAI_API_KEY: "sk-screens",
      THROUGHLINE_MODEL: "openai/emu-reasoner:high",
      TERM: "xterm-256color",
    },
  });
  let look = ignore;
  pty.onData((data) => terminal.write(data, () => look()));
  const shows = (text) =>
    new Promise((done) => {
      look = () => {
        const seen = textOf(terminal);
        if (seen.includes(text) && (stall !== undefined || !seen.includes("● Working"))) done();
      };
      look();
    });
  await shows(until);
  if (keys !== undefined) {
    pty.write(keys);
    await shows(after);
  }
  const svg = svgOf(terminal);
  pty.kill("SIGKILL");
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
  return svg;
}

function ignore() {
  return undefined;
}

function textOf(terminal) {
  const { active } = terminal.buffer;
  return Array.from(
    { length: ROWS },
    (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
  ).join("\n");
}

function svgOf(terminal) {
  const { active } = terminal.buffer;
  const rows = Array.from({ length: ROWS }, (_, row) => runsOf(active.getLine(active.baseY + row)));
  const used = rows.findLastIndex((runs) => runs.length > 0) + 1;
  const width = COLUMNS * CELL.width + 24;
  const height = used * CELL.height + 24;
  const texts = rows.slice(0, used).flatMap((runs, row) =>
    runs.map(({ column, length, text, style }) => {
      const x = (12 + column * CELL.width).toFixed(1);
      const y = 12 + row * CELL.height + 13;
      return `<text x="${x}" y="${y}" textLength="${(length * CELL.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(text)}</text>`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${CELL.font}" fill="${FOREGROUND}" style="white-space: pre">
${texts.join("\n")}
</g>
</svg>
`;
}

/** Adjacent cells with the same style. */
function runsOf(line) {
  const runs = [];
  for (let column = 0; column < COLUMNS; column += 1) {
    const cell = line?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const char = cell.getChars() || " ";
    const style = styleOf(cell);
    const last = runs.at(-1);
    if (last !== undefined && last.style === style && last.column + last.length === column) {
      last.text += char;
      last.length += cell.getWidth();
    } else {
      runs.push({ column, length: cell.getWidth(), text: char, style });
    }
  }
  return runs
    .filter(({ text }) => text.trim() !== "")
    .map(({ column, length, text, style }) => {
      const before = text.length - text.trimStart().length;
      const after = text.length - text.trimEnd().length;
      return { column: column + before, length: length - before - after, text: text.trim(), style };
    });
}

function styleOf(cell) {
  const colour = cell.isFgPalette() ? ` fill="${PALETTE[cell.getFgColor()] ?? FOREGROUND}"` : "";
  return `${colour}${cell.isBold() ? ' font-weight="bold"' : ""}${cell.isDim() ? ' opacity="0.6"' : ""}${cell.isItalic() ? ' font-style="italic"' : ""}`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
