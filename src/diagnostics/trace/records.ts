/**
 * What writer and reader of traces and recordings agree on. One record a line: the first says what the file is; the rest
 * are the log's own events and the requests and answers of a provider, in the order in which they happened (docs/trace.md).
 */

export const FORMAT = 1;

/** What a run was told that is not in its log, and that its playback must know. */
export interface RunFacts {
  readonly session: string;
  readonly permissions: string;
  readonly interactive: boolean;
  readonly maxSteps?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  /** What each tool may do: the permission policy looks at it. */
  readonly access: Readonly<Record<string, string>>;
}

export interface HeaderRecord {
  readonly v: typeof FORMAT;
  readonly type: "trace" | "recording";
  readonly program: string;
  readonly at: string;
  readonly run: RunFacts;
}
