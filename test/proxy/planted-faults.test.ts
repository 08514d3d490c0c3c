import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { temporaryFolder } from "../contracts/file-fixture.ts";
import type { PlantedReport } from "./support/fail-open-child.ts";
import { buildPlanted } from "./support/planted-build.ts";

/** Where a fault cannot be planted fairly. */
const SKIPPED = [
  // The way of the bytes itself, which nothing can replace.
  "relay/(start-proxy|handle-request|upstreams|pipe-through|relay-answer|own-answers)\\.ts",
  "relay/routes\\.ts (routeFrom|dialectOf|upstreamPath)",
  "relay/content-coding\\.ts narrowedCodings",
  // The shells around everything else, whose own first statement cannot be inside them.
  "relay/answer-watch\\.ts (constructor|feed|close|answer)$",
  "relay/exchange\\.ts (constructor|told|carriesPayloads|prepare|refused|refusedInStream|accepted|record|withdraw|end|#safely|#failed)$",
  "ledger/ledger\\.ts (constructor|onProblem|problem|record$)|ledger/segments\\.ts #flush$|ledger/secret\\.ts markWith$",
  // Getters of a field, and callbacks that only hand on what the system gives them.
  "relay/exchange\\.ts aside$|relay/answer-watch\\.ts (end|seen|begun|isWhole|refusal)$|relay/content-coding\\.ts failed|ledger/segments\\.ts problem",
  "ledger/segments\\.ts (writtenWhole|synced) \\d|relay/content-coding\\.ts (constructor \\d|feed 3|done)",
].join("|");

test("a fault in any function of the proxy changes nothing for the client, and never ends the process", async () => {
  const program = join(temporaryFolder(), "planted.mjs");
  await buildPlanted("test/proxy/support/fail-open-child.ts", program);
  const child = spawn(process.execPath, [program, SKIPPED], { stdio: ["ignore", "pipe", "pipe"] });
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const line = out.split("\n").find((one) => one.startsWith("report "));
  if (line === undefined) throw new Error(`no report: ${errors}`);
  const { starting, serving, failed, degraded } = JSON.parse(line.slice(7)) as PlantedReport;
  const tried = [...starting, ...serving].filter((point) => !new RegExp(SKIPPED).test(point));
  expect(failed).toEqual({});
  expect(tried.length).toBeGreaterThanOrEqual(60);
  // Every folder of the proxy is among them.
  expect(new Set(tried.map((point) => point.split("/")[0]))).toEqual(
    new Set(["marks", "ledger", "restore", "heal", "relay"]),
  );
  expect(degraded.length).toBeGreaterThan(0);
});
