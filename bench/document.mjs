/**
 * Writes the generated part of docs/performance.md: the facts of the run, the sentences that compare, the tables, the
 * spread, the growth. All of it comes from the record of the run (bench/results/latest.json), and a test compares the
 * two. The rest of the document is written by hand.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { KNOWN_DIFFERENCES } from "./check-totals.mjs";
import { targetFor } from "./evaluate.mjs";
import { growthPlot, ratioPlot } from "./plot.mjs";
import { changeSentence, growthSentence, librarySentences } from "./sentences.mjs";
import { beforeRows, columnsOf, figure, floorRows, rowsOf, targetText } from "./table.mjs";

const BEGIN = "<!-- bench: from here on written by `npm run bench` -->";
const END = "<!-- bench: up to here -->";

export function writeDocument(root, record) {
  const file = join(root, "docs/performance.md");
  const before = readFileSync(file, "utf8");
  const [from, to] = [before.indexOf(BEGIN), before.indexOf(END)];
  if (from === -1 || to < from)
    throw new Error(`docs/performance.md has lost its marks "${BEGIN}" and "${END}"`);
  writeFileSync(file, `${before.slice(0, from)}${BEGIN}\n\n${documentPart(record)}\n\n${before.slice(to)}`);
  const images = join(root, "docs/images");
  mkdirSync(images, { recursive: true });
  writeFileSync(join(images, "performance.svg"), ratioPlot(record.lines));
  writeFileSync(join(images, "performance-growth.svg"), growthPlot(record.growth));
}

/** The generated part of a document. */
export function partOf(text) {
  return text.slice(text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)).trim();
}

/** The part of the document that a record makes. */
export function documentPart({ lines, growth, facts }) {
  const columns = columnsOf(facts.versions);
  const met = lines.filter(({ verdict }) => verdict?.met === true).length;
  const judged = lines.filter(({ verdict }) => verdict !== undefined).length;
  return [
    factsText(facts),
    "### Compared with the libraries",
    'Two figures are "level" if neither is more than a tenth below the other. The libraries have no store, so with the file store (+ file) Throughline is compared with the plain floor, as they are, and does more than they do.',
    [...librarySentences(lines, columns), ...growthSentence(lines)].join("\n"),
    "### All rows",
    `${met} of ${judged} targets are met with the store off, with the file store on, and on every Node that was measured. Ratios are medians; the spread follows. A row that starts with "…" belongs to the row above it.`,
    "![Every ratio to the floor on a logarithmic axis, with the targets; the figures are in the table below](images/performance.svg)",
    markdown(rowsOf(lines, columns, { withSpread: false })),
    ...missedText(lines, columns),
    ...filesText(lines, columns),
    ...beforeText(lines, columns, facts),
    "### Spread",
    "Lowest..highest over the repetitions; a single repetition has no spread.",
    markdown(spreadRows(lines, columns)),
    "### Growth",
    "CPU in ms at each size, and the power of the size by which it grows (1 is linear, 2 is quadratic), between the two largest measured sizes.",
    "![CPU time against the size of the arguments and against the steps of a tool loop, both axes logarithmic; the figures are in the tables below](images/performance-growth.svg)",
    ...growth.flatMap((one) => [`**${one.title}** (${one.of})`, markdown(growthRows(one))]),
  ].join("\n\n");
}

function factsText({ date, versions, peers, machine, minutes, command, load }) {
  const packages = Object.entries(peers).map(([name, version]) => `${name} ${version}`);
  const rules = KNOWN_DIFFERENCES.map(({ name }) => name);
  const also =
    versions.ownNode === versions.peerNode
      ? ""
      : `; Throughline and the floor also on Node ${versions.ownNode}`;
  return [
    `- Run on ${date} with \`${command}\` in ${minutes.toFixed(1)} minutes; load average ${load} at the start.`,
    `- Machine: ${machine}.`,
    `- Throughline, the floor and the peers on Node ${versions.peerNode}${also}.`,
    `- Peers: ${packages.join(", ")}.`,
    `- Known differences, subtracted before totals are compared: ${rules.join("; ")}.`,
  ].join("\n");
}

/** The missed targets and by how much, the worst first. */
function missedText(lines, columns) {
  const titles = new Map(columns.map(({ id, title }) => [id, title]));
  const missed = lines
    .filter(({ verdict }) => verdict?.met === false)
    .map((line) => {
      const cells = line.verdict.missed.map((id) => ({ id, title: titles.get(id), ...line.cells[id] }));
      const worst = Math.max(
        ...cells.map((cell) => (cell.wrong ? Infinity : cell.median / targetFor(line, cell.id))),
      );
      const figures = cells.map((cell) => `${cell.title} ${cell.wrong ? "wrong" : figure(cell.median)}`);
      const factor = worst === Infinity ? "failed" : `${figure(worst)} times the target`;
      return {
        worst,
        text: `- ${line.alone ?? line.title}: ${targetText(line)}, ${figures.join(", ")} (${factor})`,
      };
    })
    .toSorted((a, b) => b.worst - a.worst);
  return missed.length === 0 ? [] : ["### Missed targets", missed.map(({ text }) => text).join("\n")];
}

/** The file store against the floor that syncs as much, and against the one that has no disk. */
function filesText(lines, columns) {
  const rows = floorRows(lines, columns);
  if (rows.length === 0) return [];
  return [
    "### The file store against both floors",
    "The syncing floor appends as many bytes with as many syncs as Throughline; the plain floor has no disk.",
    markdown(rows),
  ];
}

function beforeText(lines, columns, { before }) {
  const rows = beforeRows(lines, columns);
  if (rows.length === 0) return [];
  return [
    "### Before and after",
    `Before is ${before}. Both builds took every sample in turn, in the same repetitions, against the same floors. ${changeSentence(lines, columns, before)}`,
    markdown(rows),
  ];
}

function range(cell) {
  if (cell === undefined || cell.wrong === true || cell.count < 2) return "–";
  return `${figure(cell.min)}..${figure(cell.max)}`;
}

function spreadRows(lines, columns) {
  const head = ["row", "floor", ...columns.map(({ title }) => title)];
  return [
    head,
    ...lines.map((line) => [
      line.title,
      range(line.floor),
      ...columns.map(({ id }) => range(line.cells[id])),
    ]),
  ];
}

function growthRows({ sizes, series }) {
  const head = ["", ...sizes.map((size) => figure(size)), "power"];
  const body = series.map(({ variant, points, order }) => {
    const costs = new Map(points);
    const power = order === undefined ? "–" : order.toFixed(2);
    return [variant, ...sizes.map((size) => figure(costs.get(size))), power];
  });
  return [head, ...body];
}

function row(cells) {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Columns with text; the others have figures. */
const WORDS = new Set(["", "row", "unit", "verdict", "file store", "before → after"]);

function markdown([head, ...body]) {
  return [row(head), row(head.map((name) => (WORDS.has(name) ? "---" : "---:"))), ...body.map(row)].join(
    "\n",
  );
}
