/**
 * The format of traces and recordings, shared by writer and reader. Each line is a record. The first one describes the
 * file; the others are log events, requests to a provider and its answers, in chronological order (docs/trace.md).
 */

export const FORMAT = 1;

/** Options of a run that are not in its log and that its playback needs. */
export interface RunFacts {
  readonly session: string;
  readonly permissions: string;
  /** The rules of the agent. */
  readonly allow?: readonly string[] | undefined;
  readonly interactive: boolean;
  readonly maxSteps?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  /** The access of each tool, for the permission policy. */
  readonly access: Readonly<Record<string, string>>;
  /** The tools whose calls run one at a time. */
  readonly serial?: readonly string[] | undefined;
}

export interface HeaderRecord {
  readonly v: typeof FORMAT;
  readonly type: "trace" | "recording";
  readonly program: string;
  readonly at: string;
  readonly run: RunFacts;
}
