/** What this process has counted on a store, for monitoring. Asks the database only for what no counter here knows. */

import type { Metric } from "../log/index.ts";
import type { Engine } from "./engine.ts";
import { nodesOf, within } from "./health.ts";
import { quoted } from "./migrate.ts";

/** A store that is away must not keep its monitoring waiting. */
const ANSWER_MS = 1000;

export async function metricsOf(engine: Engine): Promise<readonly Metric[]> {
  const asked = await Promise.allSettled(
    [inboxMetrics(engine), nodeMetrics(engine)].map((one) => within(ANSWER_MS, one)),
  );
  const answered = asked.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  const isUp = asked.every(({ status }) => status === "fulfilled");
  return [
    gauge("store_up", "Whether the database answered this request.", isUp ? 1 : 0),
    ...countersOf(engine),
    ...answered,
  ];
}

function countersOf({ appender, connections, hints, live, node, watcher, takeovers }: Engine) {
  const { batches, appends, refused, repeated, foundWritten, abandoned, ms: appendMs } = appender.counters;
  return [
    gauge("sessions_held", "Sessions that this node holds for writing.", node.held),
    gauge("turns_running", "Turns that run on this node.", node.turns),
    counter("appends_total", "Appends of sessions that were sent.", appends),
    summary(
      "append_batch_seconds",
      "Statements that wrote appends, each of several sessions.",
      appendMs,
      batches,
    ),
    counter(
      "appends_refused_total",
      "Appends that the database refused, because another node held the session or they were already written.",
      refused,
    ),
    counter("appends_repeated_total", "Statements sent again because no answer came.", repeated),
    counter(
      "appends_found_written_total",
      "Refused appends that had been written before their answer was lost.",
      foundWritten,
    ),
    counter("takeovers_total", "Open turns of dead nodes that this node took over.", takeovers),
    counter(
      "turns_abandoned_total",
      "Turns that were given up because every node that ran them ended.",
      abandoned,
    ),
    gauge("lease_left_seconds", "How long the lease of this node still runs.", node.leftMs / 1000),
    counter("lease_lost_total", "How often the lease of this node ran out.", node.deaths),
    counter("live_rows_total", "Rows of live content that were flushed.", live.counters.rows),
    summary("live_flush_seconds", "Flushes of live content.", live.counters.ms, live.counters.flushes),
    summary("watch_seconds", "Looks at followed sessions.", watcher.counters.ms, watcher.counters.looks),
    gauge("sessions_followed", "Sessions of other nodes that are followed here.", watcher.followers),
    gauge(
      "hints_listening",
      "Whether hints of other nodes arrive. Without them this node polls.",
      hints.state === "listening" ? 1 : 0,
    ),
    gauge("store_connections", "Open connections to the database, without the listener's.", connections.open),
  ];
}

async function inboxMetrics({ connections, schema }: Engine): Promise<readonly Metric[]> {
  const text = `select count(*)::int as n, count(*) filter (where kind = 'send')::int as turns,
                       coalesce(extract(epoch from clock_timestamp() - min(at)), 0)::float8 as age
                  from ${quoted(schema)}.inbox`;
  const [row] = await connections.read({ text }, []);
  return [
    gauge(
      "turns_promised",
      "Turns that were promised and have not ended, running ones included, in all sessions of the store.",
      Number(row?.["turns"]),
    ),
    gauge("inbox_entries", "Turns and commands that wait, in all sessions of the store.", Number(row?.["n"])),
    gauge("inbox_oldest_seconds", "How long the oldest of them has waited.", Number(row?.["age"])),
  ];
}

async function nodeMetrics(engine: Engine): Promise<readonly Metric[]> {
  const { node } = engine;
  const nodes = await nodesOf(engine);
  const others = nodes.filter(
    ({ self, pool, models }) => !self && pool === node.pool && models !== undefined && models !== node.models,
  );
  const own: Metric = {
    ...gauge("models_info", "The fingerprint of the models and keys of this node.", 1),
    labels: { fingerprint: node.models ?? "" },
  };
  return [
    gauge("nodes", "Living nodes of the store.", nodes.length),
    ...(node.models === undefined ? [] : [own]),
    gauge("nodes_other_models", "Living nodes of the same pool with other models or keys.", others.length),
  ];
}

type Plain = Extract<Metric, { readonly value: number }>;

function gauge(name: string, help: string, value: number): Plain {
  return { type: "gauge", name, help, value };
}

function counter(name: string, help: string, value: number): Metric {
  return { type: "counter", name, help, value };
}

function summary(name: string, help: string, ms: number, count: number): Metric {
  return { type: "summary", name, help, sum: ms / 1000, count };
}
