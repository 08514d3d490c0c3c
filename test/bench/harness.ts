/**
 * The benchmark's modules with types: they are plain scripts that the compiler does not check.
 *
 * @module
 */

import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const BENCH = resolve(import.meta.dirname, "../../bench");

interface Cell {
  readonly median?: number;
  readonly min?: number;
  readonly max?: number;
  readonly count?: number;
  readonly plain?: Cell;
  readonly size?: string;
  readonly wrong?: boolean;
}

export interface Result {
  readonly sample: string;
  readonly variant: string;
  readonly rep: number;
  readonly cpuMs?: number;
  readonly medianMs?: number;
  readonly tailMs?: number;
  readonly warm?: Readonly<Record<string, number>>;
  readonly rounds?: number;
  readonly syncs?: number;
  readonly logBytes?: number;
}

interface Problem {
  readonly sample: string;
  readonly variant: string;
  readonly wrong: readonly string[];
}

interface Line {
  readonly id: string;
  readonly title: string;
  readonly sample: string;
  readonly target?: number;
  readonly fileTarget?: number | null;
  readonly cells?: Readonly<Record<string, Cell>>;
  readonly verdict?: { readonly met: boolean; readonly missed: readonly string[] };
}

interface Evaluated {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly form: string;
  readonly cells: Readonly<Record<string, Cell>>;
}

interface Column {
  readonly id: string;
  readonly title: string;
}

interface Sample {
  readonly id: string;
  readonly row: string;
  readonly kind: string;
  readonly scenario?: string;
  readonly reps: number;
  readonly order?: Readonly<Record<string, unknown>>;
}

export interface Expectation {
  readonly totals: Readonly<Record<string, unknown>>;
  readonly server?: Readonly<Record<string, unknown>>;
  readonly truth?: { readonly summaryParts: number };
}

interface Modules {
  readonly "statistics.mjs": {
    readonly median: (values: readonly number[]) => number | undefined;
    readonly orderOfGrowth: (points: readonly (readonly [number, number])[]) => number | undefined;
  };
  readonly "evaluate.mjs": {
    readonly evaluate: (
      lines: readonly Line[],
      results: readonly Result[],
      problems?: readonly Problem[],
    ) => readonly Required<Line>[];
  };
  readonly "lines.mjs": { readonly linesOf: (options?: { readonly quick?: boolean }) => readonly Line[] };
  readonly "variants.mjs": {
    readonly VARIANTS: readonly { readonly id: string; readonly adapter: string }[];
    readonly variantsFor: (options: {
      readonly adapters: ReadonlySet<string>;
      readonly hasBefore: boolean;
      readonly sameNode: boolean;
    }) => readonly { readonly id: string }[];
  };
  readonly "rows.mjs": {
    readonly ROWS: readonly string[];
    readonly samplesOf: (options?: { readonly quick?: boolean }) => readonly Sample[];
  };
  readonly "check-totals.mjs": {
    readonly expectationOf: (sample: Sample) => Expectation;
    readonly problemsOf: (
      adapter: string,
      expected: Expectation,
      result: { readonly totals: Readonly<Record<string, unknown>> },
      server?: Readonly<Record<string, unknown>>,
    ) => readonly string[];
  };
  readonly "sentences.mjs": {
    readonly librarySentences: (lines: readonly Evaluated[], columns: readonly Column[]) => readonly string[];
    readonly growthSentence: (lines: readonly Evaluated[]) => readonly string[];
    readonly changeSentence: (
      lines: readonly Evaluated[],
      columns: readonly Column[],
      label: string,
    ) => string;
  };
  readonly "measure.mjs": {
    readonly measure: (options: {
      readonly samples: readonly Sample[];
      readonly variants: readonly unknown[];
      readonly nodes: Readonly<Record<string, string>>;
      readonly libraries: Readonly<Record<string, string>>;
      readonly reps: number;
      readonly say: (text: string) => void;
    }) => Promise<{ readonly results: readonly Result[]; readonly problems: readonly Problem[] }>;
  };
}

export async function load<Name extends keyof Modules>(name: Name): Promise<Modules[Name]> {
  return (await import(pathToFileURL(join(BENCH, name)).href)) as Modules[Name];
}
