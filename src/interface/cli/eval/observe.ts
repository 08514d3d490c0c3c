/**
 * Observes a run from outside: its requests as sent, the emulator's verdicts if one answered, and the log. Recall and
 * prefix stability come from the emulator if it saw every request, otherwise from these observations.
 */

import { type LoggedEvent, sameOrigin } from "../../../base/events/index.ts";
import { isObject, tryParseJson } from "../../../base/support/index.ts";
import type { SeenRequest, WireSink } from "../../../diagnostics/trace/index.ts";
import type { Emulator } from "../../../emulator/index.ts";
import { factsOf, type RequestFacts } from "../../../runtime/facts/index.ts";

export interface Observed {
  /** The error texts of rejected requests, one per request. */
  readonly refused: readonly string[];
  /** 1 if there was no reasoning to send back. */
  readonly recall: number;
  readonly recallFrom: "the emulator" | "the log";
  /** The number of requests that did not start like the previous one. */
  readonly prefixBreaks: number;
}

interface Sent {
  readonly url: string;
  readonly body: unknown;
}

const ignore = (): void => undefined;

export class Observer implements WireSink {
  readonly #sent: Sent[] = [];

  request(_n: number, { url, body }: SeenRequest): void {
    this.#sent.push({ url, body: tryParseJson(Buffer.from(body).toString("utf8")) });
  }

  // Only requests matter here; the log has their outcomes.
  readonly response = ignore;
  readonly data = ignore;
  readonly end = ignore;

  observe(events: readonly LoggedEvent[], emulators: readonly Emulator[]): Observed {
    const judged = emulators.flatMap((one) => one.report().requests);
    const origins = new Set(emulators.map(({ url }) => new URL(url).origin));
    const foreign = this.#sent.filter(({ url }) => !origins.has(new URL(url).origin));
    const accepted = judged.filter(({ verdict }) => verdict === "accepted");
    const acceptable = accepted.reduce((sum, one) => sum + one.acceptable.length, 0);
    const missing = accepted.reduce((sum, one) => sum + one.missing.length, 0);
    const fromJudge = judged.length > 0 && foreign.length === 0;
    const { requests } = factsOf(events);
    return {
      refused: refusalsIn(requests),
      recall: fromJudge ? (acceptable === 0 ? 1 : (acceptable - missing) / acceptable) : recallIn(requests),
      recallFrom: fromJudge ? "the emulator" : "the log",
      prefixBreaks: accepted.filter(({ prefixStable }) => !prefixStable).length + breaksIn(foreign),
    };
  }
}

/** Error classes that say nothing about the content of a request. */
const NOT_ABOUT_THE_REQUEST: ReadonlySet<string> = new Set(["RATE", "TRUNC"]);
/** Error classes that may concern the content; the HTTP status decides. */
const UNCLEAR: ReadonlySet<string> = new Set(["OTHER", "FATAL"]);

/** Lists rejected requests, including those rejected inside a stream or healed later, but not those of a busy server. */
function refusalsIn(requests: readonly RequestFacts[]): readonly string[] {
  return requests.flatMap(({ end }) => {
    if (end?.error === undefined) return [];
    const { code, message, status = 0, class: kind = "OTHER" } = end.error;
    if (NOT_ABOUT_THE_REQUEST.has(kind)) return [];
    const refused = !UNCLEAR.has(kind) || (status >= 400 && status < 500);
    return refused ? [`[${code}] ${message}`] : [];
  });
}

/** Returns the share of earlier reasoning with a payload and the same origin that requests did not leave out. */
function recallIn(requests: readonly RequestFacts[]): number {
  let could = 0;
  let left = 0;
  for (const { start, leftOut } of requests) {
    const out = leftOut.flatMap(({ seqs }) => seqs);
    const before = requests.filter(
      (one) =>
        one.end?.status === "completed" &&
        one.end.seq < start.seq &&
        sameOrigin(one.start.origin, start.origin),
    );
    for (const { seq } of before.flatMap(({ thoughts }) => thoughts.filter(({ opaque }) => opaque))) {
      could += 1;
      if (out.some(([from, to]) => seq >= from && seq <= to)) left += 1;
    }
  }
  return could === 0 ? 1 : (could - left) / could;
}

/** Counts requests that do not start with the previous list. Cache marks may move and are ignored. */
function breaksIn(sent: readonly Sent[]): number {
  const last = new Map<string, readonly string[]>();
  let breaks = 0;
  for (const { url, body } of sent) {
    if (!isObject(body)) continue;
    const list = body["input"] ?? body["messages"];
    if (!Array.isArray(list)) continue;
    const lines = list.map((one) => JSON.stringify(one, withoutMarks));
    const key = `${url} ${String(body["model"])}`;
    const before = last.get(key) ?? [];
    if (before.some((line, index) => line !== lines[index])) breaks += 1;
    last.set(key, lines);
  }
  return breaks;
}

function withoutMarks(key: string, value: unknown): unknown {
  return key === "cache_control" ? undefined : value;
}
