/**
 * What a dialect must provide so that the emulator can speak it. The shared flow (`answer-request.ts`) handles faults,
 * keys, the report, the issued record, the prompt cache, scenarios and the built-in model; a dialect reads and judges
 * its requests and turns the reply into its own wire form. To add one, create a folder next to `responses/` and a line
 * in `dialects.ts`.
 */

import type { JsonObject } from "../base/support/index.ts";
import type { Account } from "./accounts.ts";
import type { ApiRefusal } from "./api-refusal.ts";
import type { Engine } from "./engine.ts";
import type { Script } from "./faults/apply.ts";
import type { Fault } from "./faults/fault.ts";
import type { Standing } from "./issued-record.ts";
import type { DialectName } from "./model-traits.ts";
import type { ModelView } from "./model/view.ts";
import type { Reply } from "./output/draft.ts";
import type { StreamEvent, StreamForm } from "./output/stream-event.ts";
import type { Outcome, RequestReport } from "./report.ts";

export interface Dialect {
  readonly name: DialectName;
  /** Whether a path (without `/v1`) gets this dialect's headers and error bodies. */
  owns(path: string, headers: Headers): boolean;
  /** The POST route that makes the model answer. Each such request is an entry in the report and may take a fault. */
  readonly create: RegExp;
  /** All other routes. */
  readonly routes: readonly Route[];
  readonly maxBodyBytes: number;
  /** Identifies the key's account, from this dialect's headers and with its refusals. */
  account(engine: Engine, headers: Headers): Account;
  /** Reads JSON, parameters and model, but nothing about the history yet. */
  read(engine: Engine, call: Call): ReadRequest | ApiRefusal;
  errorBody(refusal: ApiRefusal, requestId: string): unknown;
  /** An `http` fault in this API's own form. */
  refusalOfFault(fault: Extract<Fault, { type: "http" }>): ApiRefusal;
  tooLarge(): ApiRefusal;
  responseHeaders(facts: {
    readonly requestId: string;
    readonly account: string;
    readonly elapsedMs: number;
    readonly engine: Engine;
  }): Readonly<Record<string, string>>;
}

/** Lower case, unredacted. */
export type Headers = Readonly<Record<string, string>>;

export interface Call {
  readonly text: string;
  readonly headers: Headers;
  readonly account: string;
}

export interface ReadRequest {
  readonly model: string;
  readonly inputItems: number;
  judge(): JudgedRequest | ApiRefusal;
}

/** A request that passed everything up to the rules about its history, and what the shared flow needs of it. */
export interface JudgedRequest {
  readonly conversation: string;
  /** All refusals a strict server could have returned, most important first. */
  readonly refusals: readonly ApiRefusal[];
  /**
   * The content before the input (system, tools) as sent, and the exact text of each input item, for the cache and
   * prefix checks.
   */
  readonly head: string;
  readonly texts: readonly string[];
  /** The ids of opaque payloads that were used, and of those that were ignored. */
  readonly sent: readonly string[];
  readonly dropped: readonly string[];
  /**
   * The ids of payloads that came back changed, and of those another model made; only if the judge can tell without
   * refusing.
   */
  readonly modified?: readonly string[];
  readonly foreign?: readonly string[];
  readonly standing: Standing;
  tooLong(tokens: number): ApiRefusal | undefined;
  /** The model's view of the request. */
  view(): ModelView;
  compose(options: ComposeOptions): Answer;
}

export interface ComposeOptions {
  readonly reply: Reply;
  readonly faults: readonly Fault[];
  readonly prompt: { readonly input: number; readonly cached: number };
}

export interface Answer {
  readonly id: string;
  readonly object: JsonObject;
  /** `undefined`: the request did not ask for a stream. */
  readonly stream: { readonly events: readonly StreamEvent[]; readonly form: StreamForm } | undefined;
  readonly outcome: "completed" | "incomplete" | "failed";
  /** Set if the answer turns out to be an error after all; `object` is its body. */
  readonly status?: number;
  /** The same, for a dialect whose errors carry the request id. */
  readonly refusal?: ApiRefusal;
  ended(outcome: Outcome): void;
}

/** The answer on the wire, and its entry for the report. */
export interface WireAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** Rendered later by the dialect, once the request id is known. */
  readonly refusal?: ApiRefusal;
  readonly html?: string;
  readonly script?: Script;
  /** Connection faults for an answer that is not a stream. */
  readonly bodyFaults?: readonly Fault[];
  readonly report: RequestReport | undefined;
  /** How an answer that is not a stream ended, if it was sent whole. */
  readonly outcome?: Outcome;
  /** Called once with the outcome; returns the final entry for the report. */
  readonly ended?: (outcome: Outcome) => RequestReport;
}

export interface RouteRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
  readonly reports: readonly RequestReport[];
}

type Handler = (engine: Engine, request: RouteRequest, account: string, id: string) => WireAnswer;

/** The path without `/v1`; its first group is the id. */
export type Route = readonly [method: string, path: RegExp, handler: Handler];

export function found(json: unknown): WireAnswer {
  return { status: 200, json, report: undefined };
}

export function refused(refusal: ApiRefusal, report: RequestReport | undefined): WireAnswer {
  return {
    status: refusal.status,
    refusal,
    report:
      report === undefined
        ? undefined
        : { ...report, verdict: "refused", rule: refusal.rule, message: refusal.message, outcome: "refused" },
  };
}
