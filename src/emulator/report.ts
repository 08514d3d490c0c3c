/**
 * The emulator's report on the requests it saw: verdicts, recall, retention, prefix stability. These are the shapes of
 * `GET /__emulator/report` and of recorded exchanges; property tests and the conformance report rely on them.
 */

import type { JsonObject } from "../base/support/index.ts";
import type { DialectName } from "./model-traits.ts";

/** How a response ended, as far as the server knows. Only `completed` adds items to the accepted set. */
export type Outcome =
  | "completed"
  | "incomplete"
  | "failed"
  | "refused"
  | "cut"
  | "stalled"
  | "no_terminal"
  | "client_left"
  | "http_error"
  | "open";

/** The emulator's verdict on one request. */
export interface RequestReport {
  /** The index among requests that make the model answer, from 0. */
  readonly request: number;
  readonly dialect: DialectName;
  readonly conversation: string;
  readonly model: string;
  readonly account: string;
  readonly verdict: "accepted" | "refused" | "fault";
  /** The rule id of the refusal (failures.md or X-…). */
  readonly rule: string | null;
  readonly message: string | null;
  /** In lenient mode, what a strict server would have refused. */
  readonly tolerated: readonly string[];
  /** The ids of opaque payloads that were accepted and used. */
  readonly sent: readonly string[];
  /** The ids of payloads it would have accepted in this very request. */
  readonly acceptable: readonly string[];
  /** acceptable − sent. */
  readonly missing: readonly string[];
  /** Everything issued so far in completed responses of this conversation, to any model or account. */
  readonly issued: readonly string[];
  /** Sent and readable, but ignored because the prefix changed (H06) or another model made it (C10). */
  readonly dropped: readonly string[];
  /** Sent and made by this model, but not as issued: changed, or in another message or field (V07, V08). */
  readonly modified: readonly string[];
  /** Sent and made by another model: a leak, even where no API refuses it (V06). */
  readonly foreign: readonly string[];
  /** sent ∩ acceptable ÷ acceptable; 1 when nothing was acceptable. */
  readonly recall: number;
  /** sent ÷ issued; 1 when nothing was issued. */
  readonly retention: number;
  /** Whether the input starts with this model's previous input in this conversation, byte for byte. */
  readonly prefixStable: boolean;
  /** The index of the first input item that differs from the previous request, or null. */
  readonly prefixDiffersAt: number | null;
  readonly inputItems: number;
  readonly cachedTokens: number;
  readonly faults: readonly string[];
  readonly responseId: string | null;
  readonly outcome: Outcome;
}

/** The emulator's verdicts on all requests, and their totals. */
export interface Report {
  readonly emulator: "throughline";
  readonly mode: "strict" | "lenient";
  readonly requests: readonly RequestReport[];
  readonly totals: {
    readonly requests: number;
    readonly accepted: number;
    readonly refused: number;
    /** Over all accepted requests: payloads sent ÷ payloads that would have been accepted. */
    readonly recall: number;
    readonly retention: number;
    readonly prefixBreaks: number;
  };
}

/** A request that the emulator received, and its answer. */
export interface RecordedExchange {
  /** Counted from 0. */
  readonly index: number;
  readonly method: string;
  readonly path: string;
  /** Lower case; the key is redacted. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestText: string;
  readonly status: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The events of a stream as sent, in order. */
  readonly events: readonly JsonObject[];
  /** The body, if it was not a stream. */
  readonly responseText: string;
  readonly report: RequestReport | null;
}

export function toReport(mode: "strict" | "lenient", requests: readonly RequestReport[]): Report {
  const accepted = requests.filter((one) => one.verdict === "accepted");
  const sum = (count: (one: RequestReport) => number): number =>
    accepted.reduce((total, one) => total + count(one), 0);
  const acceptable = sum((one) => one.acceptable.length);
  const issued = sum((one) => one.issued.length);
  return {
    emulator: "throughline",
    mode,
    requests,
    totals: {
      requests: requests.length,
      accepted: accepted.length,
      refused: requests.filter((one) => one.verdict === "refused").length,
      recall: acceptable === 0 ? 1 : (acceptable - sum((one) => one.missing.length)) / acceptable,
      retention: issued === 0 ? 1 : Math.min(1, sum((one) => one.sent.length) / issued),
      prefixBreaks: accepted.filter((one) => !one.prefixStable).length,
    },
  };
}
