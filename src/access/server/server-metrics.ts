/** What the server itself counts, whatever its store is. */

import { VERSION } from "../../base/support/index.ts";
import type { Metric } from "../../runtime/log/index.ts";
import type { StreamCounters } from "./event-stream.ts";
import type { TenantHosts } from "./tenant-hosts.ts";

export interface Counted {
  readonly hosts: TenantHosts;
  readonly counters: StreamCounters;
  readonly connections: number;
  readonly loopDelayMs: number;
}

export function serverMetrics({ hosts, counters, connections, loopDelayMs }: Counted): readonly Metric[] {
  const all = hosts.all();
  const sum = (of: (host: (typeof all)[number]) => number): number =>
    all.reduce((total, host) => total + of(host), 0);
  return [
    { ...gauge("build_info", "The version of the program.", 1), labels: { version: VERSION } },
    gauge("tenants", "Tenants whose sessions were used since the start.", all.length),
    gauge(
      "sessions_busy",
      "Sessions with a turn that runs or waits here.",
      sum(({ busy }) => busy),
    ),
    gauge("streams_open", "Open event streams.", counters.open),
    {
      type: "counter",
      name: "streams_dropped_total",
      help: "Event streams that were ended because their client did not read.",
      value: counters.dropped,
    },
    gauge("connections_open", "Open connections of clients.", connections),
    gauge(
      "loop_delay_seconds",
      "The longest delay of the event loop in the last seconds.",
      loopDelayMs / 1000,
    ),
  ];
}

function gauge(name: string, help: string, value: number): Extract<Metric, { readonly value: number }> {
  return { type: "gauge", name, help, value };
}
