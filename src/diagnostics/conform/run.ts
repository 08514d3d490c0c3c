/**
 * Runs probes against a server, a few at a time, and reports each result as it arrives. It throws only if the whole run is
 * pointless: no server, no key, an unknown model, or a web page.
 */

import {
  asErrorCode,
  type Clock,
  codedError,
  codeOf,
  type ErrorCode,
  messageOf,
  systemClock,
} from "../../base/support/index.ts";
import { describe, type Refusal } from "./acceptance.ts";
import { Context } from "./context.ts";
import { type Facts, type Verdict, type Probe, Skip, type Suite } from "./probe.ts";
import { PROBES } from "./probes/index.ts";
import { suggestProfile, type Suggestion } from "./suggest-profile.ts";

export interface ConformOptions {
  /** The base URL with `/v1`, as clients expect it. */
  readonly baseUrl: string;
  readonly model: string;
  /** The second model of the probe that sends one model's reasoning to another. */
  readonly secondModel?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly suite?: Suite | "all";
  /** Ids of probes, or of their groups (the part before the dot). */
  readonly only?: readonly string[];
  /** The time limit for one request in milliseconds. Default: 120,000. */
  readonly timeoutMs?: number;
  /** The number of probes that run at the same time. Default: 1. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly onResult?: (result: ProbeResult, done: number, all: number) => void;
}

export interface ProbeResult extends Omit<Probe, "run"> {
  readonly result: Verdict["result"];
  readonly seen: string;
  readonly expected?: string | undefined;
  readonly code?: string | undefined;
  readonly facts?: Facts | undefined;
  readonly durationMs: number;
}

export interface ConformReport {
  readonly baseUrl: string;
  readonly model: string;
  readonly suite: Suite | "all";
  /** In the order of the list, not in the order they ran. */
  readonly results: readonly ProbeResult[];
  readonly counts: Readonly<Record<Verdict["result"], number>>;
  /** The run was completed, no strict probe differs, and none failed. */
  readonly conforms: boolean;
  readonly profile: Suggestion;
  /** The run was stopped before its end. */
  readonly stopped: boolean;
}

const MAX_TEXT = 600;

export async function conform(options: ConformOptions): Promise<ConformReport> {
  const suite = options.suite ?? "all";
  const probes = selectProbes(suite, options.only ?? []);
  const clock = options.clock ?? systemClock;
  const signal = options.signal ?? new AbortController().signal;
  const context = new Context({
    endpoint: {
      url: `${options.baseUrl.replace(/\/+$/, "")}/responses`,
      key: options.apiKey,
      timeoutMs: options.timeoutMs ?? 120_000,
      signal,
      clock,
    },
    model: options.model,
    otherModel: options.secondModel,
  });
  const results = new Map<string, ProbeResult>();
  try {
    await reach(context);
    const waiting = [...probes];
    const work = async (): Promise<void> => {
      for (let probe = waiting.shift(); probe !== undefined && !signal.aborted; probe = waiting.shift()) {
        const started = clock.monotonic();
        const verdict = await verdictOf(probe, context);
        if (signal.aborted) return; // an aborted probe says nothing about the server
        const durationMs = Math.round(clock.monotonic() - started);
        const result = secretFree(toResult(probe, verdict, durationMs), options.apiKey);
        results.set(probe.id, result);
        options.onResult?.(result, results.size, probes.length);
      }
    };
    await Promise.all(Array.from({ length: Math.max(1, options.concurrency ?? 1) }, work));
  } catch (error) {
    if (!signal.aborted) throw secretFreeError(error, options.apiKey);
  }
  const ordered = probes.flatMap(({ id }) => results.get(id) ?? []);
  const counts = { holds: 0, differs: 0, skipped: 0, error: 0 };
  for (const { result } of ordered) counts[result] += 1;
  return {
    baseUrl: options.baseUrl,
    model: options.model,
    suite,
    results: ordered,
    counts,
    conforms:
      !signal.aborted &&
      !ordered.some(({ strict, result }) => result === "error" || (strict && result === "differs")),
    profile: suggestProfile(ordered),
    stopped: signal.aborted,
  };
}

const groupOf = (id: string): string => id.slice(0, id.indexOf("."));

/** Throws ThroughlineError "probe_unknown" with the list of probes. */
export function selectProbes(suite: Suite | "all", only: readonly string[]): readonly Probe[] {
  for (const name of only) {
    if (PROBES.some(({ id }) => id === name || groupOf(id) === name)) continue;
    throw codedError(
      "probe_unknown",
      `there is no probe "${name}"; groups: ${[...new Set(PROBES.map(({ id }) => groupOf(id)))].join(", ")}; probes: ${PROBES.map(({ id }) => id).join(", ")}`,
    );
  }
  return PROBES.filter(
    (probe) =>
      (suite === "all" || probe.suite === suite) &&
      (only.length === 0 || only.includes(probe.id) || only.includes(groupOf(probe.id))),
  );
}

/** Checks that a usable server answers. */
async function reach(context: Context): Promise<void> {
  const plain = await context.minimal();
  if (plain.accepted) return;
  const [code, what] = reasonOf(plain.refusal);
  throw codedError(code, `${what}: ${describe(plain.refusal)}`);
}

function reasonOf(refusal: Refusal): readonly [code: ErrorCode, what: string] {
  const { status, code, shape } = refusal;
  if (status === 401 || status === 403) return ["api_key_refused", "the server refuses the key"];
  if (code === "model_not_found") return ["model_not_found", "the server does not have this model"];
  if (status === 404) return ["not_an_api", "there is no Responses API here: check the base URL"];
  if (status === 429) return ["rate_limited", "the server is busy"];
  if (status >= 500 && shape === "other")
    return ["not_an_api", "the server does not answer like an API: check the base URL"];
  return ["request_refused", "the server refuses the smallest possible request"];
}

async function verdictOf(probe: Probe, context: Context): Promise<Verdict> {
  try {
    return await probe.run(context);
  } catch (error) {
    if (error instanceof Skip) return { result: "skipped", because: error.message };
    return { result: "error", code: codeOf(error) ?? "internal", seen: messageOf(error) };
  }
}

function toResult(probe: Probe, verdict: Verdict, durationMs: number): ProbeResult {
  const { id, suite, title, why, strict } = probe;
  return {
    id,
    suite,
    title,
    why,
    strict,
    result: verdict.result,
    durationMs,
    seen: bounded(verdict.result === "skipped" ? verdict.because : verdict.seen),
    expected: verdict.result === "differs" ? bounded(verdict.expected) : undefined,
    code: verdict.result === "error" ? verdict.code : undefined,
    facts: "facts" in verdict ? verdict.facts : undefined,
  };
}

const bounded = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;

/** A server may quote the key. It is never printed. A short key ("x", "none") is removed only where it is a separate word. */
function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key === "") return text;
  if (key.length >= 8) return text.replaceAll(key, "[key]");
  const literal = key.replaceAll(/[^\w]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(`(?<![\\w-])${literal}(?![\\w-])`, "g"), "[key]");
}

function secretFree(result: ProbeResult, key: string | undefined): ProbeResult {
  return {
    ...result,
    seen: withoutKey(result.seen, key),
    expected: result.expected === undefined ? undefined : withoutKey(result.expected, key),
  };
}

function secretFreeError(error: unknown, key: string | undefined): unknown {
  const message = messageOf(error);
  const safe = withoutKey(message, key);
  if (safe === message) return error;
  return codedError(asErrorCode(codeOf(error), "internal"), safe);
}
