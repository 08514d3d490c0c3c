/** Draws a small bar chart over days for a terminal, with axes and a unit. Pure. */

import { isoTime } from "../../../base/support/index.ts";

export interface PlotPoint {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly value: number;
}

export interface PlotOptions {
  readonly unit: string;
  /** The width of the terminal. */
  readonly width: number;
}

const HEIGHT = 6;
const MOST_COLUMNS = 20;
/** The length of a rounded figure such as 2.5M or 500k. */
const LONGEST_LABEL = 4;
const EIGHTHS = " ▁▂▃▄▅▆▇█";
const DAY_MS = 86_400_000;

export function plot(points: readonly PlotPoint[], { unit, width }: PlotOptions): string {
  if (!points.some(({ value }) => value > 0)) return `${unit} per day: none yet`;
  const room = Math.max(1, Math.min(MOST_COLUMNS, width - LONGEST_LABEL - 2));
  const days = filled(points);
  const perColumn = Math.ceil(days.length / room);
  const columns = grouped(days, perColumn);
  const scale = roundedUp(Math.max(...columns.map(({ value }) => value)));
  const margin = Math.max(shortly(scale).length, shortly(scale / 2).length);
  const title = `${unit} ${perColumn === 1 ? "per day" : `per ${perColumn} days`} (UTC)`;
  const rows = Array.from({ length: HEIGHT }, (_, index) => {
    const row = HEIGHT - 1 - index;
    const label = row === HEIGHT - 1 ? shortly(scale) : row === HEIGHT / 2 - 1 ? shortly(scale / 2) : "";
    const bars = columns.map(({ value }) => cell(value / scale, row)).join("");
    return `${label.padStart(margin)} ${label === "" ? "│" : "┤"}${bars}`.trimEnd();
  });
  const axis = `${"0".padStart(margin)} └${"─".repeat(columns.length)}`;
  return [title, ...rows, axis, `${" ".repeat(margin + 2)}${span(columns, width - margin - 2)}`].join("\n");
}

/** The part of a bar that falls in a row. A value above zero is always visible. */
function cell(share: number, row: number): string {
  const eighths = share === 0 ? 0 : Math.max(1, Math.round(share * HEIGHT * 8));
  return EIGHTHS[Math.min(8, Math.max(0, eighths - row * 8))] ?? " ";
}

/** A longer span comes from a wrong clock, so its gaps are not filled. */
const MOST_DAYS = 36_500;

/** Adds the days without work, so that they show as gaps. */
function filled(points: readonly PlotPoint[]): readonly PlotPoint[] {
  const values = new Map(points.map(({ day, value }) => [day, value]));
  const days = [...values.keys()].toSorted();
  const [first, last] = [Date.parse(days[0] ?? ""), Date.parse(days.at(-1) ?? "")];
  if (!(last - first <= MOST_DAYS * DAY_MS)) return days.map((day) => ({ day, value: values.get(day) ?? 0 }));
  const all: PlotPoint[] = [];
  for (let at = first; at <= last; at += DAY_MS) {
    const day = isoTime(at).slice(0, 10);
    all.push({ day, value: values.get(day) ?? 0 });
  }
  return all;
}

function grouped(days: readonly PlotPoint[], size: number): readonly PlotPoint[] {
  const columns: PlotPoint[] = [];
  for (let at = 0; at < days.length; at += size) {
    const group = days.slice(at, at + size);
    columns.push({ day: group[0]?.day ?? "", value: group.reduce((sum, { value }) => sum + value, 0) });
  }
  return columns;
}

function span(columns: readonly PlotPoint[], room: number): string {
  const first = columns[0]?.day.slice(5) ?? "";
  const last = columns.at(-1)?.day.slice(5) ?? "";
  if (columns.length === 1) return first;
  const gap = columns.length - first.length - last.length;
  const both = `${first}${gap >= 1 ? " ".repeat(gap) : "…"}${last}`;
  return both.length <= room ? both : first.slice(0, Math.max(0, room));
}

/** Rounds up to one leading digit, so that the axis has round labels. */
function roundedUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const lead = [1, 2, 4, 5, 6, 8, 10].find((one) => one * power >= value) ?? 10;
  return lead * power;
}

/** 1234 → 1.2k. */
export function shortly(value: number): string {
  for (const [size, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (value >= size) return `${Math.round((value / size) * 10) / 10}${letter}`;
  }
  return String(Math.round(value * 10) / 10);
}
