/** A probe: one thing that a Responses server does or does not do. Probes are data with the same interface. */

import { type Acceptance, describe, refusalOf } from "./acceptance.ts";
import type { Context } from "./context.ts";
import type { Reply } from "./reply.ts";

export type Suite = "responses" | "reasoning";

/** Facts that a probe learned in addition to its verdict. The suggested profile is based on them. */
export type Facts = Readonly<Record<string, string | number | boolean>>;

export type Verdict =
  | { readonly result: "holds"; readonly seen: string; readonly facts?: Facts | undefined }
  | {
      readonly result: "differs";
      readonly expected: string;
      readonly seen: string;
      readonly facts?: Facts | undefined;
    }
  | { readonly result: "skipped"; readonly because: string }
  | { readonly result: "error"; readonly code: string; readonly seen: string };

export interface Probe {
  /** `group.name`. */
  readonly id: string;
  readonly suite: Suite;
  readonly title: string;
  /** Entries and sections of the failure catalogue (P01, E03, §2.4 …), laws, and our own rules ("rule R01"). */
  readonly why: string;
  /** Whether a difference counts. Disputed facts and matters of taste are reported and do not count. */
  readonly strict: boolean;
  readonly run: (context: Context) => Promise<Verdict>;
}

export type ProbeRow = Omit<Probe, "id" | "suite" | "strict"> & { readonly strict?: false };

/** The probes of one suite, by id. A difference counts unless the row says otherwise. */
export function probesOf(suite: Suite, rows: Readonly<Record<string, ProbeRow>>): readonly Probe[] {
  return Object.entries(rows).map(([id, row]) => ({ id, suite, strict: true, ...row }));
}

/** Thrown by a probe that cannot decide, because the data it needs is missing. */
export class Skip extends Error {
  override readonly name = "Skip";
}

export const holds = (seen: string, facts?: Facts): Verdict => ({ result: "holds", seen, facts });

export const differs = (expected: string, seen: string, facts?: Facts): Verdict => ({
  result: "differs",
  expected,
  seen,
  facts,
});

/** The verdict on whether a request is accepted, which is also recorded as a fact. */
export function taken(acceptance: Acceptance, expected = "accepted"): Verdict {
  if (acceptance.accepted) return holds("accepted", { accepted: true });
  return differs(expected, `refused: ${describe(acceptance.refusal)}`, { accepted: false });
}

/** A refusal counts as a difference, whatever the probe expected. */
export function unlessRefused(expected: string, reply: Reply, judge: () => Verdict): Verdict {
  const refusal = refusalOf(reply);
  return refusal === undefined ? judge() : differs(expected, describe(refusal));
}

/** An answer that broke off is not judged. */
export function brokenOff({ broken }: Reply): Verdict | undefined {
  return broken === undefined ? undefined : { result: "error", code: broken.code, seen: broken.message };
}

/** Holds if there are no problems; otherwise reports the first three. */
export function verdict(expected: string, problems: readonly string[], seen: string): Verdict {
  if (problems.length === 0) return holds(seen);
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : "";
  return differs(expected, problems.slice(0, 3).join("; ") + more);
}
