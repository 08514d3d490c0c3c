/**
 * Plants a fault at every function of the proxy in turn, and compares what a client and a provider see with what they
 * see without a proxy. Its bundle is made by planted-build.ts. Prints `report {json}`.
 *
 * @module
 */

import { cpSync, mkdtempSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type RunningProxy, startProxy } from "../../../src/proxy/relay/index.ts";
import { cleanUpTest } from "../../support/clean-up.ts";
import { inTime, scenario, startReplay } from "./fail-open-scenario.ts";
import { ownStreams } from "./streams.ts";

export interface PlantedReport {
  /** Points that were reached while the proxy started, and while it served. */
  readonly starting: readonly string[];
  readonly serving: readonly string[];
  /** Point → what was different. */
  readonly failed: Readonly<Record<string, string>>;
  readonly degraded: readonly string[];
}

const reached = new Set<string>();
let fault = "";
Object.assign(globalThis, {
  plant: (point: string): void => {
    if (point === fault) throw new Error("planted");
    reached.add(point);
  },
});

/** Each of these ends the process of a user. */
const fatal: string[] = [];
process.on("unhandledRejection", (error) => fatal.push(`unhandled rejection: ${String(error)}`));
process.on("uncaughtException", (error) => fatal.push(`uncaught exception: ${String(error)}`));

const skipped = new RegExp(process.argv[2] ?? "^$");
const folder = mkdtempSync(join(tmpdir(), "throughline-planted-"));
const [streams, plain] = [await ownStreams(true), await ownStreams(false)];
const upstream = await startReplay(streams, plain);

const open = (ledger: string): Promise<RunningProxy> => startProxy({ to: upstream.origin, port: 0, ledger });

/** A ledger that knows something already. */
const known = join(folder, "known");
const first = await open(known);
await scenario(first.port, upstream, { streams, plain });
await first.close();

let copies = 0;
function copyOfKnown(): string {
  copies += 1;
  const copy = join(folder, `copy ${copies}`);
  cpSync(known, copy, { recursive: true });
  return copy;
}

/** What was different with this fault; undefined if nothing was. */
async function run(
  point: string,
  when: "starting" | "serving",
  degraded: string[],
): Promise<string | undefined> {
  fatal.length = 0;
  if (when === "starting") fault = point;
  let proxy: RunningProxy;
  try {
    proxy = await open(copyOfKnown());
  } catch (error) {
    fault = "";
    return `the proxy does not start: ${String(error)}`;
  }
  fault = point;
  if (proxy.health === "degraded") degraded.push(point);
  const steps = stepsAt.get(point);
  const difference = await scenario(proxy.port, upstream, {
    streams,
    plain,
    wanted: (step) => steps?.has(step) ?? true,
  });
  await new Promise((resolve) => setImmediate(resolve));
  fault = "";
  const closed = proxy.close().then(
    () => true,
    (error: unknown) => String(error),
  );
  const ended = await inTime(closed);
  if (ended !== true) fatal.push(`close: ${ended ?? "does not end"}`);
  return difference ?? fatal[0];
}

reached.clear();
const proxy = await open(copyOfKnown());
const starting = [...reached];
reached.clear();
/** The steps that reach a point: the first and the last few of them. */
const stepsAt = new Map<string, Set<string>>();
const reachedIn: (readonly [step: string, points: ReadonlySet<string>])[] = [];
const difference = await scenario(proxy.port, upstream, {
  streams,
  plain,
  done: (step) => {
    reachedIn.push([step, new Set(reached)]);
    reached.clear();
  },
});
const serving = [...new Set(reachedIn.flatMap(([, points]) => [...points]))];
for (const point of serving) {
  const all = reachedIn.flatMap(([step, points]) => (points.has(point) ? [step] : []));
  stepsAt.set(point, new Set([...all.slice(0, 2), ...all.slice(-3)]));
}
await proxy.close();
if (difference !== undefined) throw new Error(`without a fault: ${difference}`);

const failed: Record<string, string> = {};
const degraded: string[] = [];
for (const [when, points] of [
  ["starting", starting],
  ["serving", serving],
] as const)
  for (const point of points.filter((one) => !skipped.test(one))) {
    const found = await run(point, when, degraded);
    if (found !== undefined) failed[`${point}, ${when}`] = found;
  }
const report: PlantedReport = { starting, serving, failed, degraded };
writeSync(1, `report ${JSON.stringify(report)}\n`);
rmSync(folder, { recursive: true, force: true });
await cleanUpTest();
process.exit(0);
