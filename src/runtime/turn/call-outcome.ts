/**
 * How a call ended, as its result says it: what the tool returned, threw or left open. A tool that returns a
 * `ToolOutcome` decides its status and its text itself.
 */

import type { ToolCall, ToolStatus } from "../../base/events/index.ts";
import { assertNever, messageOf } from "../../base/support/index.ts";
import { isToolOutcome, renderToolOutput, type Tool, type ToolOutcome, toolOutcome } from "../tools/index.ts";
import type { Settlement } from "./settle-in-time.ts";

export interface CallOutcome {
  readonly status: ToolStatus;
  readonly value: unknown;
  /** Not checked yet. */
  readonly images: readonly unknown[];
  readonly forPerson?: string | undefined;
}

export interface OutcomeFacts {
  readonly call: ToolCall;
  readonly timeoutMs: number;
  /** Why the turn stops, if it does. */
  readonly why: string;
  readonly mcp: Tool["mcp"];
}

export function readOutcome(settled: Settlement, facts: OutcomeFacts): CallOutcome {
  const { call, timeoutMs, why, mcp } = facts;
  switch (settled.how) {
    case "returned": {
      const outcome = outcomeIn(settled.value);
      if (outcome === undefined) return told("ok", settled.value);
      const { status, text, images, forPerson } = outcome;
      return { status, value: text, images, forPerson };
    }
    case "threw":
      return told("error", failure(call.name, messageOf(settled.error)));
    case "timed_out":
      // The server is another program: that we no longer wait does not mean that it stopped.
      if (mcp !== undefined)
        return told(
          "timeout",
          `the tool "${call.name}" gave no answer within ${timeoutMs} ms; ${mayHaveDone(mcp)}`,
        );
      return told(
        "timeout",
        `the tool "${call.name}" was stopped after ${timeoutMs} ms${settled.stopped ? "" : "; it did not stop, so its outcome is unknown"}`,
      );
    case "aborted":
      if (mcp !== undefined) return told("cancelled", `cancelled: ${why}; ${mayHaveDone(mcp)}`);
      return told(
        "cancelled",
        settled.stopped
          ? `cancelled: ${why} while this tool was running; it may have taken effect in part`
          : `cancelled: ${why}; this tool did not stop in time, so its outcome is unknown`,
      );
    default:
      return assertNever(settled, "outcome");
  }
}

function told(status: ToolStatus, value: unknown): CallOutcome {
  return { status, value, images: [] };
}

function mayHaveDone({ server }: NonNullable<Tool["mcp"]>): string {
  return `the MCP server "${server}" may have done what was asked, so the outcome is unknown`;
}

function failure(name: string, message: string): string {
  return `the tool "${name}" failed: ${message}`;
}

const STATUSES: readonly unknown[] = ["ok", "error", "outcome_unknown"] satisfies ToolOutcome["status"][];

/**
 * Undefined if it is any other value. It may come from another copy of the package or be made by hand, so each field is
 * checked; of an outcome that is not known to be good, we know nothing.
 */
function outcomeIn(value: unknown): ToolOutcome | undefined {
  try {
    if (!isToolOutcome(value)) return undefined;
    const { status, text, images, forPerson } = value as Readonly<Record<keyof ToolOutcome, unknown>>;
    return toolOutcome({
      status: STATUSES.includes(status) ? (status as ToolOutcome["status"]) : "outcome_unknown",
      text: typeof text === "string" ? text : renderToolOutput(text ?? "").text,
      images: Array.isArray(images) ? images : [],
      forPerson: typeof forPerson === "string" && forPerson !== "" ? forPerson : undefined,
    });
  } catch {
    return undefined; // a getter or a proxy of the tool threw
  }
}

/** What a late end of a call is called in a notice. */
export function lateWords(settled: Settlement): string {
  if (settled.how === "threw") return `it failed: ${messageOf(settled.error)}`;
  const status = settled.how === "returned" ? outcomeIn(settled.value)?.status : "outcome_unknown";
  if (status === "error") return "it failed";
  return status === "outcome_unknown" ? "its outcome is unknown" : "it succeeded";
}

/**
 * The ends of the calls that one call wraps, as one value: a list with the text of each. A failure does not affect the
 * others, so the text says it. If the outcome of one is unknown, so is that of the whole call.
 */
export function joinOutcomes(
  names: readonly string[],
  ends: readonly PromiseSettledResult<unknown>[],
): unknown {
  const read = ends.map(
    (end, index): { readonly value: unknown; readonly outcome?: ToolOutcome | undefined } => {
      const name = names[index] ?? "";
      if (end.status === "rejected") return { value: failure(name, messageOf(end.reason)) };
      const outcome = outcomeIn(end.value);
      if (outcome === undefined) return { value: end.value };
      return { value: outcome.status === "error" ? failure(name, outcome.text) : outcome.text, outcome };
    },
  );
  const values = read.map(({ value }) => value);
  const outcomes = read.flatMap(({ outcome }) => outcome ?? []);
  if (outcomes.length === 0) return values;
  const forPerson = outcomes.flatMap((one) => one.forPerson ?? []).join("\n\n");
  return toolOutcome({
    status: outcomes.some(({ status }) => status === "outcome_unknown") ? "outcome_unknown" : "ok",
    // The text is cut to size where the result is made.
    text: renderToolOutput(values, Number.MAX_SAFE_INTEGER).text,
    images: outcomes.flatMap(({ images }) => images),
    forPerson,
  });
}
