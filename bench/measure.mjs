/**
 * Takes the samples: all variants in turn, then all again, so that a disturbance of the machine affects all of them.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { expectationOf, problemsOf } from "./check-totals.mjs";
import { idleServerSample } from "./idle-server.mjs";
import { installSample } from "./install-size.mjs";
import { runSample, startServer } from "./processes.mjs";
import { importSample, versionSample } from "./starts.mjs";
import { lastOf, median } from "./statistics.mjs";
import { templateOf } from "./templates.mjs";
import { PEERS } from "./variants.mjs";

/**
 * Resolves to { results, problems }. A result is { sample, variant, rep, ...costs }; a sample whose totals are wrong, or
 * that failed, is a problem and not a result. `libraries` has the path of each build.
 */
export async function measure({ samples, variants, nodes, libraries, reps, say }) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  const clean = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", clean); // even if a signal ends the run
  const server = await startServer(nodes.own);
  await server.prepare("tiny");
  const results = [];
  const problems = [];
  const context = { folder, server, nodes, libraries, results };
  try {
    for (const sample of samples) {
      if (sample.scenario !== undefined) await server.prepare(sample.scenario);
      const count = reps ?? sample.reps;
      const taking = variants.filter((variant) => takesPart(sample, variant));
      const broken = new Set();
      for (let rep = 0; rep < count; rep += 1) {
        for (const variant of taking) {
          if (broken.has(variant.id) || rep >= repsOf({ ...sample, reps: count }, variant, reps)) continue;
          say(`${sample.id} ${rep + 1}/${count} ${variant.id}`, true);
          const { costs, wrong } = await take(sample, variant, { ...context, rep });
          if (wrong.length === 0) {
            results.push({ sample: sample.id, variant: variant.id, rep, ...costs });
          } else {
            broken.add(variant.id);
            problems.push({ sample: sample.id, row: sample.row, variant: variant.id, rep, wrong });
            say(`FAILED ${sample.id} ${variant.id}: ${wrong.join("; ")}`);
          }
        }
      }
    }
  } finally {
    server.close();
    clean();
  }
  return { results, problems };
}

/** How many of the repetitions a variant takes. A number that was asked for is for all. */
function repsOf({ reps, peerReps = reps, ownReps = 2 }, { adapter, node }, asked) {
  if (asked !== undefined) return asked;
  if (PEERS.includes(adapter)) return peerReps;
  return node === "own" ? Math.min(reps, ownReps) : reps;
}

function takesPart({ only, cap = [], noFile = false, noBefore = false }, { adapter, store, build }) {
  return (
    (only?.includes(adapter) ?? true) &&
    !cap.includes(adapter) &&
    !(noFile && store === "file") &&
    !(noBefore && build === "before")
  );
}

/** Resolves to the costs of the sample, and to what was wrong with it. */
async function take(sample, variant, context) {
  try {
    const { template, ...made } = await templateFor(sample, variant, context);
    const { totals, server, ...costs } = await run(sample, variant, { ...context, template });
    const expected = expectationOf(
      { ...sample, ...made },
      { adapter: variant.adapter, rounds: costs.rounds },
    );
    return { costs, wrong: problemsOf(variant.adapter, expected, { totals }, server) };
  } catch (error) {
    return { costs: {}, wrong: [String(error.message)] };
  }
}

/** What a sample begins with, written by the build that reads it. The floor reads what ours wrote. */
async function templateFor({ begins }, { build = "after", adapter }, { folder, nodes, libraries }) {
  if (begins === undefined || (begins.make === "drafts" && adapter !== "ours")) return {};
  const library = pathToFileURL(libraries[build]).href;
  const { path: template, ...made } = await templateOf(nodes.own, { folder, library, what: begins });
  return { template, ...made };
}

let runs = 0;

async function run(sample, variant, { folder, server, nodes, libraries, template, rep, results }) {
  const node = nodes[variant.node];
  const libraryPath = libraries[variant.build ?? "after"];
  const library = pathToFileURL(libraryPath).href;
  if (sample.kind === "import") return importSample(node, variant.adapter, library);
  if (sample.kind === "version") return versionSample(node, variant.adapter, libraryPath);
  if (sample.kind === "install") return installSample(variant.adapter, folder, libraryPath);
  runs += 1;
  const own = join(folder, `run-${runs}`);
  mkdirSync(own, { mode: 0o700 });
  try {
    if (sample.kind === "idle")
      return await idleServerSample(node, libraryPath, { folder: own, ...sample.order });
    const order = {
      adapter: variant.adapter,
      kind: sample.kind,
      dist: library,
      store: variant.store,
      folder: own,
      warm: sample.warm,
      warmUrl: `${server.base}/tiny/warm/v1`,
      ...(sample.begins?.make === "drafts" ? { drafts: template } : { template }),
      ...sample.order,
      ...(variant.matches === undefined ? {} : writtenBy(variant.matches, results, sample.id, rep)),
    };
    if (sample.scenario !== undefined) order.url = `${server.base}/${sample.scenario}/r${runs}/v1`;
    const { doneAt, ...result } = await runSample(node, order);
    if (sample.scenario === undefined || result.server !== undefined) return result;
    const { endedAt, ...seen } = await server.seen(`r${runs}`);
    return withTails({ ...result, sentBytes: seen.bytes / result.rounds, server: seen }, doneAt, endedAt);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** The time from the server's last byte of a round to its result. */
function withTails(result, doneAt, endedAt) {
  const requests = endedAt.length / doneAt.length;
  const tails = doneAt.map((time, round) => {
    const ended = endedAt[(round + 1) * requests - 1];
    return ended === undefined ? undefined : Number(BigInt(time) - BigInt(ended)) / 1e6;
  });
  const [tailMs, ...warm] = tails;
  const warmed = result.warm === undefined ? {} : { warm: { ...result.warm, tailMs: median(lastOf(warm)) } };
  return { ...result, tailMs, ...warmed };
}

/** The bytes and syncs of our sample in this repetition. Its floor has to write as much. */
function writtenBy(variant, results, sample, rep) {
  const ours = results.find((one) => one.sample === sample && one.variant === variant && one.rep === rep);
  if (ours === undefined) throw new Error("there is no sample of ours for the floor to match");
  return { syncs: ours.syncs, logBytes: ours.logBytes };
}
