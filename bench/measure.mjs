/**
 * Takes the samples: all variants in turn, then all again, so that a disturbance of the machine affects all of them.
 *
 * @module
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { expectationOf, problemsOf } from "./check-totals.mjs";
import { installSample } from "./install-size.mjs";
import { fileStoreTemplate } from "./open-template.mjs";
import { runSample, startServer } from "./processes.mjs";
import { importSample, versionSample } from "./starts.mjs";

/**
 * Resolves to { results, problems }. A result is { sample, variant, rep, ...costs }; a sample whose totals are wrong, or
 * that failed, is a problem and not a result.
 */
export async function measure({ samples, variants, nodes, library, reps, say }) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  const clean = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", clean); // even if a signal ends the run
  const server = await startServer(nodes.own);
  const results = [];
  const problems = [];
  const context = { folder, server, nodes, library: pathToFileURL(library).href, libraryPath: library };
  try {
    for (const sample of samples) {
      await prepare(sample, context);
      const expected = expectationOf(sample);
      const count = reps ?? sample.reps;
      const taking = variants.filter((variant) => takesPart(sample, variant));
      const broken = new Set();
      for (let rep = 0; rep < count; rep += 1) {
        for (const variant of taking) {
          const peer = !["floor", "ours"].includes(variant.adapter);
          if (broken.has(variant.id) || (peer && rep >= (sample.peerReps ?? count))) continue;
          say(`${sample.id} ${rep + 1}/${count} ${variant.id}`, true);
          const taken = await take(sample, variant, { ...context, rep, results }).catch((error) => ({
            failed: String(error.message),
          }));
          const wrong =
            taken.failed === undefined
              ? problemsOf(variant.adapter, expectedOf(expected, variant), taken, taken.server)
              : [taken.failed];
          if (wrong.length === 0) {
            const { totals: _totals, server: _server, ...costs } = taken;
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

/** The floor opens a file and has no session to send from. */
function expectedOf(expected, { adapter }) {
  const { events } = expected.totals;
  return adapter === "floor" && events !== undefined ? { totals: { events } } : expected;
}

function takesPart({ only, cap = [], noFile = false }, { adapter, store }) {
  return (only?.includes(adapter) ?? true) && !cap.includes(adapter) && !(noFile && store === "file");
}

/** Prepares everything that a sample needs before it is measured. */
async function prepare(sample, { server, folder, nodes, library }) {
  if (sample.scenario !== undefined) await server.prepare(sample.scenario);
  await server.prepare("tiny");
  if (sample.file !== undefined) {
    const made = await fileStoreTemplate(nodes.own, { folder, library, events: sample.file });
    Object.assign(sample, made);
  }
}

let runs = 0;

async function take(sample, variant, { folder, server, nodes, library, libraryPath, rep, results }) {
  const node = nodes[variant.node];
  if (sample.kind === "import") return importSample(node, variant.adapter, library);
  if (sample.kind === "version") return versionSample(node, variant.adapter, libraryPath);
  if (sample.kind === "install") return installSample(variant.adapter, folder);
  runs += 1;
  const own = join(folder, `run-${runs}`);
  mkdirSync(own, { mode: 0o700 });
  try {
    const order = {
      adapter: variant.adapter,
      kind: sample.kind,
      dist: library,
      store: variant.store,
      folder: own,
    };
    Object.assign(order, sample.order);
    if (sample.scenario !== undefined) {
      order.url = `${server.base}/${sample.scenario}/r${runs}/v1`;
      order.warmUrl = `${server.base}/tiny/warm/v1`;
    }
    if (sample.template !== undefined) {
      order.file = join(own, "big.jsonl");
      copyFileSync(sample.template, order.file);
    }
    if (variant.id === "floor-file") Object.assign(order, writtenByOurs(results, sample.id, rep));
    const result = await runSample(node, order);
    if (sample.scenario === undefined) return result;
    const seen = await server.seen(`r${runs}`);
    const tailMs = Number(BigInt(result.doneAt) - BigInt(seen.endedAt)) / 1e6;
    return { ...result, tailMs, sentBytes: seen.bytes, server: seen };
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** The bytes and syncs of our sample in this repetition. Its floor has to write as much. */
function writtenByOurs(results, sample, rep) {
  const ours = results.find((one) => one.sample === sample && one.variant === "ours-file" && one.rep === rep);
  if (ours === undefined) throw new Error("there is no sample of ours for the floor to match");
  return { syncs: ours.syncs, logBytes: ours.logBytes };
}
