/**
 * The benchmark: Throughline, its peers and the floor on the same generated load. docs/performance.md explains
 * the rows. Progress goes to standard error, the table to standard output.
 *
 *   npm run bench                                     all rows; writes bench/results/latest.json and docs/performance.md
 *   npm run bench -- ROW [...] [--reps N] [--only ours,floor,openai] [--quick]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, loadavg, platform, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { writeDocument } from "./document.mjs";
import { evaluate } from "./evaluate.mjs";
import { growthOf } from "./growth.mjs";
import { linesOf } from "./lines.mjs";
import { measure } from "./measure.mjs";
import { endAll, here, runToEnd } from "./processes.mjs";
import { ADAPTERS, PEERS, ROWS, samplesOf, VARIANTS } from "./rows.mjs";
import { builtLibrary, installPeers, PACKAGES, peerNode, ROOT, versionsOf } from "./setup.mjs";
import { columnsOf, textTable } from "./table.mjs";

function say(text, passing = false) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}${passing ? "" : "\n"}`);
  else if (text !== "") process.stderr.write(`${text}\n`);
}

function misuse(message) {
  process.stderr.write(
    `${message}\nrows: ${ROWS.join(", ")}\nadapters: ${ADAPTERS.join(", ")}\n` +
      "usage: npm run bench -- [ROW ...] [--reps N] [--only ours,floor,openai] [--quick]\n",
  );
  process.exit(2);
}

function orderOf(given) {
  let parsed;
  try {
    parsed = parseArgs({
      args: given,
      allowPositionals: true,
      options: { reps: { type: "string" }, only: { type: "string" }, quick: { type: "boolean" } },
    });
  } catch (error) {
    misuse(error.message);
  }
  const { positionals: rows, values } = parsed;
  const unknown = rows.find((row) => !ROWS.includes(row));
  if (unknown !== undefined) misuse(`there is no row "${unknown}"`);
  const only = values.only?.split(",").map((name) => name.trim());
  const stranger = only?.find((name) => !ADAPTERS.includes(name));
  if (stranger !== undefined) misuse(`there is no adapter "${stranger}"`);
  const reps = values.reps === undefined ? undefined : Number(values.reps);
  if (reps !== undefined && !(Number.isInteger(reps) && reps >= 1 && reps <= 100))
    misuse(`--reps takes a number from 1 to 100, not "${values.reps}"`);
  return { rows, reps, only, quick: values.quick === true };
}

/** Rounds figures to a thousandth and removes intermediate values. */
function plain(key, value) {
  if (typeof value === "number") return Number(value.toFixed(3));
  return key === "doneAt" ? undefined : value;
}

/** All data that the document is made from. */
function recordOf(record) {
  return `${JSON.stringify(record, plain)}\n`;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    endAll();
    process.exit(130);
  });
}
process.on("exit", endAll);

const args = process.argv.slice(2);
const order = orderOf(args);
const began = performance.now();
try {
  const nodes = { own: process.execPath, 24: await peerNode(say) };
  // A ratio needs its floor.
  const adapters = new Set(order.only === undefined ? ADAPTERS : [...order.only, "floor"]);
  if (PEERS.some((peer) => adapters.has(peer))) await installPeers(nodes[24], say);
  const library = await builtLibrary(say);
  const { stdout: peerVersion } = await runToEnd(nodes[24], ["-p", "process.version"]);
  const versions = { peerNode: peerVersion.trim(), ownNode: process.version };
  const same = versions.peerNode === versions.ownNode;
  const variants = VARIANTS.filter(
    ({ adapter, node, id }) =>
      adapters.has(adapter) && !(same && node === "own") && !(id === "floor-file" && !adapters.has("ours")),
  );
  const samples = samplesOf(order).filter(({ row }) => order.rows.length === 0 || order.rows.includes(row));
  say(
    `ours and floor on ${versions.peerNode}${same ? "" : ` and ${versions.ownNode}`}, peers on ${versions.peerNode}`,
  );
  const load = loadavg()[0].toFixed(1);
  const { results, problems } = await measure({ samples, variants, nodes, library, reps: order.reps, say });
  const lines = evaluate(linesOf(order), results, problems);
  const columns = columnsOf(versions);
  say("");
  process.stdout.write(`${textTable(lines, columns)}\n`);
  const facts = {
    date: new Date().toISOString().slice(0, 10),
    command: ["npm run bench", ...(args.length === 0 ? [] : ["--", ...args])].join(" "),
    minutes: (performance.now() - began) / 60_000,
    load,
    machine: `${availableParallelism()} cores (${arch()}), ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()}`,
    versions,
    peers: versionsOf(PACKAGES),
  };
  const growth = growthOf(results, order);
  const whole = order.rows.length === 0 && order.only === undefined && !order.quick;
  mkdirSync(here("results"), { recursive: true });
  const file = here(`results/${whole ? "latest" : "partial"}.json`);
  writeFileSync(file, recordOf({ facts, lines, growth, results, problems }));
  if (whole) {
    writeDocument(ROOT, { lines, columns, growth, facts });
    await runToEnd(join(ROOT, "node_modules/.bin/oxfmt"), [file, join(ROOT, "docs/performance.md")]);
  }
  for (const { sample, variant, wrong } of problems)
    process.stderr.write(`FAILED ${sample} ${variant}: ${wrong.join("; ")}\n`);
  process.exit(problems.length === 0 ? 0 : 1);
} catch (error) {
  endAll();
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}
