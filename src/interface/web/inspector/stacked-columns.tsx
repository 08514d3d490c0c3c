/** Stacked columns, drawn at the width that there is, so that text keeps its size. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { stepLabels, tickWords, valueTicks } from "./axis.ts";
import type { Column } from "./step-figures.ts";

interface Props {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly values: readonly (readonly number[])[];
  readonly colours: readonly string[];
}

const HEIGHT = 84;
const ABOVE = 8;
const BELOW = 24;
const LEFT = 36;
const WIDEST = 28;
const GAP = 1;
/** What is there can be seen, however little it is. */
const LOWEST = 0.8;

export function StackedColumns({ label, columns, values, colours }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const sums = values.map((row) => row.reduce((sum, value) => sum + value, 0));
  const ticks = valueTicks(Math.max(...sums));
  const top = ticks.at(-1) ?? 1;
  const slot = (width - LEFT) / columns.length;
  const thick = Math.max(1, Math.min(WIDEST, slot >= 4 ? slot * 0.7 : slot - 0.5));
  const middleOf = (at: number): number => LEFT + slot * (at + 0.5);
  const steps = columns.at(-1)?.last ?? 0;
  const size = columns[0] === undefined ? 1 : columns[0].last - columns[0].first + 1;
  return (
    <div class="columns" ref={box}>
      <svg
        viewBox={`0 ${-ABOVE} ${width} ${ABOVE + HEIGHT + BELOW}`}
        width={width}
        height={ABOVE + HEIGHT + BELOW}
        role="img"
        aria-label={label}
      >
        {ticks.map((tick) => {
          const y = HEIGHT * (1 - tick / top);
          return (
            <g key={tick}>
              <line class={tick === 0 ? "base" : ""} x1={LEFT} x2={width} y1={y} y2={y} />
              <text x={LEFT - 8} y={y + 4} text-anchor="end">
                {tickWords(tick)}
              </text>
            </g>
          );
        })}
        {values.map((row, at) => (
          <g key={at}>
            {segmentsOf(row, top).map(({ series, y, height }) => (
              <rect
                key={series}
                class={colours[series]}
                x={middleOf(at) - thick / 2}
                y={y}
                width={thick}
                height={height}
                rx={thick < 6 ? 0 : 1}
              />
            ))}
          </g>
        ))}
        {stepLabels(steps, (step) => middleOf(Math.floor((step - 1) / size))).map(({ step, x }) => (
          <text key={step} class="step" x={x} y={HEIGHT + 18} text-anchor="middle">
            {step}
          </text>
        ))}
      </svg>
    </div>
  );
}

interface Segment {
  readonly series: number;
  readonly y: number;
  readonly height: number;
}

/** From the bottom up, with a pixel of background between two. */
function segmentsOf(row: readonly number[], top: number): readonly Segment[] {
  const segments: Segment[] = [];
  let below = HEIGHT;
  for (const [series, value] of row.entries()) {
    if (value <= 0) continue;
    const height = Math.max(LOWEST, (value / top) * HEIGHT - GAP);
    below -= height + GAP;
    segments.push({ series, y: below, height });
  }
  return segments;
}

/** As in the pictures, until the real width is known. */
const USUAL = 440;

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(USUAL);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.max(120, Math.floor(element.clientWidth))));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
