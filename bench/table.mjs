/**
 * The table of a run as text for a terminal, and its cells for the document.
 *
 * @module
 */
import { PAIRS, PEERS } from "./variants.mjs";

export function figure(value) {
  if (value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 100) return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
  if (size >= 10) return value.toFixed(0);
  if (size >= 1) return value.toFixed(1);
  return size >= 0.1 ? value.toFixed(2) : value.toFixed(3);
}

/** The median and, for more than one repetition, the minimum and the maximum. */
export function cellText(cell, { withSpread = true } = {}) {
  if (cell === undefined) return "–";
  if (cell.wrong === true) return "WRONG";
  const middle = `${figure(cell.median)}${cell.size === undefined ? "" : ` at ${cell.size}`}`;
  return withSpread && cell.count > 1 ? `${middle} (${figure(cell.min)}..${figure(cell.max)})` : middle;
}

function major(version) {
  return version.replace(/^v(\d+).*/, "$1");
}

export function columnsOf({ peerNode, ownNode }) {
  return [
    { id: "ours", title: `ours N${major(peerNode)}` },
    { id: "ours-file", title: `ours N${major(peerNode)} + file` },
    ...(ownNode === peerNode
      ? []
      : [
          { id: "ours-own", title: `ours N${major(ownNode)}` },
          { id: "ours-own-file", title: `ours N${major(ownNode)} + file` },
        ]),
    ...PEERS.map((id) => ({ id, title: id })),
  ];
}

export function verdictText({ verdict }, columns) {
  if (verdict === undefined) return "";
  if (verdict.met) return "met";
  const titles = columns.filter(({ id }) => verdict.missed.includes(id)).map(({ title }) => title);
  return `MISSED: ${titles.join(", ")}`;
}

export function targetText({ target, fileTarget, form }) {
  const text = (value) => `≤ ${form !== "amount" && Number.isInteger(value) ? value.toFixed(1) : value}`;
  const own = target === undefined ? [] : [text(target)];
  const file = typeof fileTarget === "number" ? [`${text(fileTarget)} + file`] : [];
  return [...own, ...file].join(", ");
}

export function rowsOf(lines, columns, options) {
  const head = ["row", "unit", "floor", ...columns.map(({ title }) => title), "target", "verdict"];
  const body = lines.map((line) => [
    line.title,
    line.unit,
    line.floor === undefined || line.floor.median === 0
      ? "–"
      : `${figure(line.floor.median)} ${line.floorUnit}`,
    ...columns.map(({ id }) => cellText(line.cells[id], options)),
    targetText(line),
    verdictText(line, columns),
  ]);
  return [head, ...body];
}

/** Before → after, for each Node and store. Empty if no earlier build was measured. */
export function beforeRows(lines, columns) {
  const pairs = PAIRS.flatMap(({ before, after }) => {
    const column = columns.find(({ id }) => id === after);
    const measured = lines.some(({ cells }) => cells[before] !== undefined);
    return column === undefined || !measured ? [] : [{ before, after, title: column.title }];
  });
  if (pairs.length === 0) return [];
  const head = ["before → after", "unit", ...pairs.map(({ title }) => title), "target"];
  const body = lines
    .filter(({ cells }) => pairs.some(({ before }) => cells[before] !== undefined))
    .map((line) => [
      line.alone ?? line.title,
      line.unit,
      ...pairs.map(({ before, after }) => changeText(line.cells[before], line.cells[after])),
      targetText(line),
    ]);
  return [head, ...body];
}

/** The file store against both floors: the one that syncs as much, and the one without a disk. Empty without either. */
export function floorRows(lines, columns) {
  const stores = columns.filter(({ id }) => lines.some(({ cells }) => cells[id]?.plain !== undefined));
  if (stores.length === 0) return [];
  const text = { withSpread: false };
  const head = ["file store", "unit", ...stores.flatMap(({ title }) => [`${title} ÷ syncing`, "÷ plain"])];
  const body = lines
    .filter(({ cells }) => stores.some(({ id }) => cells[id]?.plain !== undefined))
    .map((line) => [
      line.alone ?? line.title,
      line.unit,
      ...stores.flatMap(({ id }) => [cellText(line.cells[id], text), cellText(line.cells[id]?.plain, text)]),
    ]);
  return [head, ...body];
}

function changeText(before, after) {
  if (before === undefined && after === undefined) return "–";
  const plain = { withSpread: false };
  return `${cellText(before, plain)} → ${cellText(after, plain)}`;
}

export function textTable(rows) {
  const used = rows[0].map((_, at) => at === 0 || rows.slice(1).some((row) => !["–", ""].includes(row[at])));
  const kept = rows.map((row) => row.filter((_, at) => used[at]));
  const widths = kept[0].map((_, at) => Math.max(...kept.map((row) => row[at].length)));
  return kept
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
