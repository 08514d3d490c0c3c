/**
 * The table of a run as text for a terminal, and its cells for the document.
 *
 * @module
 */
import { PEERS } from "./rows.mjs";

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
    ...(ownNode === peerNode ? [] : [{ id: "ours-own", title: `ours N${major(ownNode)}` }]),
    ...PEERS.map((id) => ({ id, title: id })),
  ];
}

export function verdictText({ verdict }, columns) {
  if (verdict === undefined) return "";
  if (verdict.met) return "met";
  const titles = columns.filter(({ id }) => verdict.missed.includes(id)).map(({ title }) => title);
  return `MISSED: ${titles.join(", ")}`;
}

export function targetText({ target, form }) {
  if (target === undefined) return "";
  return `≤ ${form === "ratio" && Number.isInteger(target) ? target.toFixed(1) : target}`;
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

export function textTable(lines, columns) {
  const rows = rowsOf(lines, columns);
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
