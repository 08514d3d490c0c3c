/**
 * `--trace FILE` and `--record FILE`: writes what a run sends, receives and logs as it happens. Off by default; a message
 * says when it is on.
 */

import { extname } from "node:path";

import { codedError, systemClock, VERSION } from "../../base/support/index.ts";
import {
  createPrivateFile,
  type LogSink,
  tapFetch,
  tapStore,
  TraceWriter,
  type TraceWriterOptions,
  type WireSink,
} from "../../diagnostics/trace/index.ts";
import { secretsOf, type Store } from "../../runtime/log/index.ts";
import type { Tool } from "../../runtime/tools/index.ts";
import { say, type Terminal } from "./terminal.ts";

export interface TraceFlags {
  readonly trace?: string;
  readonly record?: string;
}

export interface TracedRun {
  readonly permissions: string;
  readonly allow: readonly string[];
  readonly interactive: boolean;
  readonly maxSteps: number | undefined;
  readonly maxCostUsd: number | undefined;
  readonly tools: readonly Tool[];
  /** Keys of the models in use. */
  readonly secrets: () => readonly string[];
}

export interface Tracing {
  /** Options for the agent; empty if nothing is recorded. */
  readonly agent: { readonly fetch?: typeof fetch };
  readonly store: Store;
}

export function startTracing(flags: TraceFlags, store: Store, run: TracedRun, terminal: Terminal): Tracing {
  const sinks: (WireSink & LogSink)[] = [];
  if (flags.trace !== undefined) {
    const form = formOf(flags.trace);
    const what = "every request, answer and event";
    sinks.push(new TraceWriter(writerOptions("trace", form, flags.trace, what, run, terminal)));
  }
  if (flags.record !== undefined) {
    const what = "every answer and event for --playback";
    sinks.push(new TraceWriter(writerOptions("recording", "jsonl", flags.record, what, run, terminal)));
  }
  if (sinks.length === 0) return { agent: {}, store };
  const all = together(sinks);
  return { agent: { fetch: tapFetch(all) }, store: tapStore(store, all) };
}

function writerOptions(
  kind: TraceWriterOptions["kind"],
  form: TraceWriterOptions["form"],
  path: string,
  what: string,
  { permissions, allow, interactive, maxSteps, maxCostUsd, tools, secrets }: TracedRun,
  terminal: Terminal,
): TraceWriterOptions {
  return {
    kind,
    form,
    program: `throughline/${VERSION}`,
    clock: systemClock,
    secrets: () => [...secrets(), ...secretsOf(process.env)],
    run: {
      permissions,
      ...(allow.length === 0 ? {} : { allow }),
      interactive,
      maxSteps,
      maxCostUsd,
      access: Object.fromEntries(tools.map(({ name, access }) => [name, access])),
      serial: serialNames(tools),
    },
    open() {
      const flag = kind === "trace" ? "--trace" : "--record";
      const file = createPrivateFile(path, flag, (error) =>
        say(terminal, `${error.message} [${error.code}]`),
      );
      say(terminal, `writing ${what} to ${path}; keys are removed, messages are not`);
      return file;
    },
  };
}

/** Undefined if there are none, as in the recordings of earlier versions. */
function serialNames(tools: readonly Tool[]): readonly string[] | undefined {
  const names = tools.filter(({ parallel }) => parallel === false).map(({ name }) => name);
  return names.length === 0 ? undefined : names;
}

function formOf(path: string): "jsonl" | "yaml" {
  const extension = extname(path).toLowerCase();
  if (extension === ".yaml" || extension === ".yml") return "yaml";
  if (extension === ".jsonl" || extension === ".ndjson") return "jsonl";
  throw codedError(
    "trace_form_unknown",
    `--trace ${path}: unknown format: use a name that ends in .jsonl or .yaml`,
  );
}

function together(sinks: readonly (WireSink & LogSink)[]): WireSink & LogSink {
  return {
    request: (...args) => sinks.forEach((sink) => sink.request(...args)),
    response: (...args) => sinks.forEach((sink) => sink.response(...args)),
    data: (...args) => sinks.forEach((sink) => sink.data(...args)),
    end: (...args) => sinks.forEach((sink) => sink.end(...args)),
    opened: (...args) => sinks.forEach((sink) => sink.opened(...args)),
    appended: (...args) => sinks.forEach((sink) => sink.appended(...args)),
    blob: (...args) => sinks.forEach((sink) => sink.blob(...args)),
  };
}
