/** Two plots of a session: tokens per step and time per step, as stacked bars, each with a table of its figures. */

import type { RequestFacts } from "../../../runtime/facts/index.ts";
import { compact } from "../numbers.ts";
import { type StepFigures, stepFigures } from "../step-figures.ts";

export function Plots({ requests }: { readonly requests: readonly RequestFacts[] }) {
  const steps = stepFigures(requests);
  if (steps.length === 0) return <p class="empty">No step has ended yet, so there is nothing to plot.</p>;
  return (
    <section>
      <StackedBars
        title="Tokens per step"
        series={["fresh input", "cached input", "reasoning", "answer"]}
        colours={["fresh", "cached", "thought", "answer"]}
        rows={steps.map(({ tokens }) => [tokens.fresh, tokens.cached, tokens.reasoning, tokens.answer])}
        steps={steps}
        format={compact}
      />
      <StackedBars
        title="Time per step, in seconds"
        series={["thinking", "tools", "answer"]}
        colours={["thought", "tools", "answer"]}
        rows={steps.map(({ time }) => [time.thinking / 1000, time.tools / 1000, time.answer / 1000])}
        steps={steps}
        format={seconds}
      />
    </section>
  );
}

function seconds(value: number): string {
  if (value === 0) return "0";
  return value.toFixed(value < 1 ? 2 : value < 10 ? 1 : 0);
}

interface BarsProps {
  readonly title: string;
  readonly series: readonly string[];
  /** Both plots use the same colour for the same thing. */
  readonly colours: readonly string[];
  readonly rows: readonly (readonly number[])[];
  readonly steps: readonly StepFigures[];
  readonly format: (value: number) => string;
}

const WIDTH = 320;
const HEIGHT = 160;
const LEFT = 44;
const BOTTOM = 24;

function StackedBars({ title, series, colours, rows, steps, format }: BarsProps) {
  const totals = rows.map((row) => row.reduce((sum, value) => sum + value, 0));
  const top = roundTop(Math.max(...totals));
  const slot = (WIDTH - LEFT) / rows.length;
  const bar = Math.max(1, Math.min(24, slot * 0.7));
  const plotHeight = HEIGHT - BOTTOM - 8;
  // At most 12 labels fit under the axis without touching.
  const every = Math.ceil(rows.length / 12);
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${title}: the table below has the figures`}
      >
        {[0, 0.5, 1].map((part) => {
          const y = 8 + plotHeight * (1 - part);
          return (
            <g key={part}>
              <line x1={LEFT} x2={WIDTH} y1={y} y2={y} class="grid" />
              <text x={LEFT - 4} y={y + 4} class="axis end">
                {format(top * part)}
              </text>
            </g>
          );
        })}
        {rows.map((row, index) => {
          let below = 0;
          const x = LEFT + slot * index + (slot - bar) / 2;
          return (
            <g key={index}>
              {row.map((value, at) => {
                const height = (value / top) * plotHeight;
                const y = 8 + plotHeight - below - height;
                below += height;
                return <rect key={at} x={x} y={y} width={bar} height={height} class={`of-${colours[at]}`} />;
              })}
              {index % every === 0 ? (
                <text x={x + bar / 2} y={HEIGHT - 8} class="axis middle">
                  {steps[index]?.label}
                </text>
              ) : null}
            </g>
          );
        })}
        <text x={WIDTH} y={HEIGHT - 8} class="axis end">
          step
        </text>
      </svg>
      <ul class="legend">
        {series.map((name, at) => (
          <li key={name}>
            <span class={`swatch of-${colours[at]}`} aria-hidden="true" /> {name}
          </li>
        ))}
      </ul>
      <details>
        <summary>Figures</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">step</th>
              {series.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                <th scope="row">{steps[index]?.label}</th>
                {row.map((value, at) => (
                  <td key={at}>{format(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** Rounds up so that the end and the middle of the axis are round numbers. */
function roundTop(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return power * ([1, 2, 4, 6, 8, 10].find((times) => times * power >= most) ?? 10);
}
