/** Two plots of a session, tokens per step and seconds per step, each with its figures as a table. */

import { useMemo, useState } from "preact/hooks";

import type { RequestFacts } from "../../../runtime/facts/index.ts";
import { compact } from "../numbers.ts";
import { counted } from "./figures.ts";
import { StackedColumns } from "./stacked-columns.tsx";
import { type Column, columnsOf, stepFigures } from "./step-figures.ts";

interface Series {
  readonly name: string;
  /** Both plots use the same colour for the same thing. */
  readonly colour: "cached" | "fresh" | "thinking" | "answer";
}

const TOKENS: readonly Series[] = [
  { name: "cached input", colour: "cached" },
  { name: "fresh input", colour: "fresh" },
  { name: "reasoning", colour: "thinking" },
  { name: "answer", colour: "answer" },
];

const SECONDS: readonly Series[] = [
  { name: "thinking", colour: "thinking" },
  { name: "tools", colour: "fresh" },
  { name: "answer", colour: "answer" },
];

export function Plots({ requests }: { readonly requests: readonly RequestFacts[] }) {
  const ended = requests.reduce((count, { end }) => (end === undefined ? count : count + 1), 0);
  // The result of a call comes after the end of its response.
  const results = requests.at(-1)?.tools.filter(({ result }) => result !== undefined).length ?? 0;
  const { columns, size } = useMemo(() => columnsOf(stepFigures(requests)), [requests, ended, results]);
  if (columns.length === 0) return <p class="empty">No step has ended yet, so there is nothing to plot.</p>;
  return (
    <>
      <Plot
        title="Tokens per step"
        series={TOKENS}
        columns={columns}
        size={size}
        of={({ tokens }) => tokens}
        words={compact}
      />
      <Plot
        title="Seconds per step"
        series={SECONDS}
        columns={columns}
        size={size}
        of={({ seconds }) => seconds}
        words={secondsWords}
      />
    </>
  );
}

function secondsWords(value: number): string {
  if (value === 0) return "0";
  return value.toFixed(value < 1 ? 2 : value < 10 ? 1 : 0);
}

interface PlotProps {
  readonly title: string;
  readonly series: readonly Series[];
  readonly columns: readonly Column[];
  /** How many steps a column stands for. */
  readonly size: number;
  readonly of: (column: Column) => readonly number[];
  readonly words: (value: number) => string;
}

function Plot({ title, series, columns, size, of, words }: PlotProps) {
  const [asTable, setAsTable] = useState(false);
  const binned = size === 1 ? "" : `Each column is the mean of ${size} steps.`;
  return (
    <figure class="plot">
      <figcaption class="section">
        <h2>{title}</h2>
        <button
          type="button"
          class="link"
          aria-expanded={asTable}
          aria-label={`Figures: ${title.toLowerCase()}`}
          onClick={() => setAsTable(!asTable)}
        >
          Figures
        </button>
      </figcaption>
      <StackedColumns
        label={summaryOf({ title, columns, of, words })}
        columns={columns}
        values={columns.map(of)}
        colours={series.map(({ colour }) => colour)}
      />
      <ul class="legend">
        {series.map(({ name, colour }) => (
          <li key={name}>
            <i class={colour} aria-hidden="true" />
            {name}
          </li>
        ))}
      </ul>
      {binned === "" ? null : <p class="binned">{binned}</p>}
      {asTable ? (
        <FigureTable title={title} series={series} columns={columns} size={size} of={of} words={words} />
      ) : null}
    </figure>
  );
}

/** "Tokens per step, 5 steps; the most in step 5 with 4.9k". */
function summaryOf({
  title,
  columns,
  of,
  words,
}: Pick<PlotProps, "title" | "columns" | "of" | "words">): string {
  let most: { readonly column: Column; readonly sum: number } | undefined;
  for (const column of columns) {
    const sum = of(column).reduce((total, value) => total + value, 0);
    if (most === undefined || sum > most.sum) most = { column, sum };
  }
  const steps = counted(columns.at(-1)?.last ?? 0, "step");
  return most === undefined
    ? title
    : `${title}, ${steps}; the most in step ${nameOf(most.column)} with ${words(most.sum)}`;
}

function nameOf({ first, last }: Column): string {
  return first === last ? String(first) : `${first}–${last}`;
}

function FigureTable({ title, series, columns, size, of, words }: PlotProps) {
  return (
    <div class="figure-table" tabIndex={0} role="region" aria-label={`Figures: ${title.toLowerCase()}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{size === 1 ? "step" : "steps"}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => (
            <tr key={column.first}>
              <th scope="row">{nameOf(column)}</th>
              {of(column).map((value, at) => (
                <td key={at}>{words(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
