/** The labels of a plot's axes: round, few, and never touching. Pure. */

/** Returns 1, 2 or 5 times a power of ten, at least the given value. */
export function roundUp(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const times = [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9)) ?? 10;
  return times * power;
}

export interface Label {
  readonly step: number;
  /** Its middle. */
  readonly x: number;
}

const MOST_LABELS = 7;
/** Digits of 11 pixels, and the space between two labels. */
const DIGIT = 7;
const APART = 6;

/** The labels under `steps` columns of a plot: the first and the last always, round ones between, none that would touch. */
export function stepLabels(steps: number, xOf: (step: number) => number): readonly Label[] {
  const labelOf = (step: number): Label => ({ step, x: xOf(step) });
  if (steps < 1) return [];
  const first = labelOf(1);
  if (steps === 1) return [first];
  const last = labelOf(steps);
  // Too narrow for two: the last one says more.
  if (touch(first, last)) return [last];
  for (let every = 1; every < steps; every = roundUp(every + 1)) {
    const between: Label[] = [];
    for (let step = every === 1 ? 2 : every; step < steps; step += every) {
      if (between.length > MOST_LABELS) break;
      if (step === 1) continue;
      between.push(labelOf(step));
    }
    const fit = between.filter((label) => !touch(first, label) && !touch(label, last));
    const clear = fit.every((label, at) => at === 0 || !touch(fit[at - 1] as Label, label));
    if (clear && between.length <= MOST_LABELS && fit.length + 2 <= MOST_LABELS) return [first, ...fit, last];
  }
  return [first, last];
}

function touch(a: Label, b: Label): boolean {
  return Math.abs(a.x - b.x) < (widthOf(a) + widthOf(b)) / 2 + APART;
}

export function widthOf({ step }: Pick<Label, "step">): number {
  return String(step).length * DIGIT;
}

/** The lines of the other axis, from 0 to above the highest value: two to four steps of a round height. */
export function valueTicks(highest: number): readonly number[] {
  if (!(highest > 0)) return [0, 1];
  const every = roundUp(highest / 3.5);
  const count = Math.max(1, Math.ceil(highest / every - 1e-9));
  // Multiplied, not added: sums of fractions end in noise.
  return Array.from({ length: count + 1 }, (_, index) => Number((index * every).toPrecision(12)));
}

/** "0", "500", "1.5k", "0.05": as many decimals as the ticks need to differ. */
export function tickWords(value: number): string {
  if (value === 0) return "0";
  if (value >= 999_500) return `${trimmed(value / 1_000_000)}M`;
  return value >= 1000 ? `${trimmed(value / 1000)}k` : trimmed(value);
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(6)));
}
