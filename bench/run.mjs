/**
 * The benchmark: Throughline, its peers and the floor on the same generated load. docs/performance.md explains
 * the rows. Progress goes to standard error, the table to standard output.
 *
 *   npm run bench                                     all rows; writes bench/results/latest.json and docs/performance.md
 *   npm run bench -- ROW [...] [--reps N] [--only ours,floor,openai] [--quick]
 *   npm run bench -- --before DIST --before-label "0.1.0"   an earlier build (its dist/index.js) takes part in every row
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, loadavg, platform, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { writeDocument } from "./document.mjs";
import { evaluate } from "./evaluate.mjs";
import { growthOf } from "./growth.mjs";
import { linesOf } from "./lines.mjs";
import { measure } from "./measure.mjs";
import { endAll, here, runToEnd } from "./processes.mjs";
import { ROWS, samplesOf } from "./rows.mjs";
import { builtLibrary, installPeers, PACKAGES, peerNode, ROOT, versionsOf } from "./setup.mjs";
import { beforeRows, columnsOf, floorRows, rowsOf, textTable } from "./table.mjs";
import { ADAPTERS, PEERS, variantsFor } from "./variants.mjs";

function say(text, passing = false) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}${passing ? "" : "\n"}`);
  else if (text !== "") process.stderr.write(`${text}\n`);
}

function misuse(message) {
  process.stderr.write(
    `${message}\nrows: ${ROWS.join(", ")}\nadapters: ${ADAPTERS.join(", ")}\n` +
      "usage: npm run bench -- [ROW ...] [--reps N] [--only ours,floor,openai] [--quick]\n" +
      "                        [--before DIST/index.js [--before-label TEXT]]\n",
  );
  process.exit(2);
}

function orderOf(given) {
  let parsed;
  try {
    parsed = parseArgs({
      args: given,
      allowPositionals: true,
      options: {
        reps: { type: "string" },
        only: { type: "string" },
        quick: { type: "boolean" },
        before: { type: "string" },
        "before-label": { type: "string" },
      },
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
  const before = values.before === undefined ? undefined : resolve(values.before);
  if (before !== undefined && !existsSync(before)) misuse(`--before: there is no ${values.before}`);
  const label = values["before-label"] ?? "an earlier build";
  if (before === undefined && values["before-label"] !== undefined)
    misuse("--before-label names the build that --before gives");
  return { rows, reps, only, quick: values.quick === true, before, label };
}

/** Rounds figures to a thousandth. */
function plain(_key, value) {
  return typeof value === "number" ? Number(value.toFixed(3)) : value;
}

/** The command, without the path of the earlier build: nobody else has it. */
function commandOf(given) {
  const shown = given.map((arg, at) =>
    given[at - 1] === "--before" ? "DIST" : arg.replace(/^--before=.*/, "--before=DIST"),
  );
  return ["npm run bench", ...(given.length === 0 ? [] : ["--", ...shown.map(quoted)])].join(" ");
}

function quoted(arg) {
  return /^[\w=,./-]+$/.test(arg) ? arg : `"${arg}"`;
}

/** All data that the document is made from, and the figures of every sample: one list of repetitions for each. */
function recordOf({ results, ...record }) {
  const samples = new Map();
  for (const { sample, variant, rep: _rep, warm = {}, ...figures } of results) {
    const key = `${sample} ${variant}`;
    if (!samples.has(key)) samples.set(key, { sample, variant });
    const warmed = Object.entries(warm).map(([name, value]) => [`warm ${name}`, value]);
    for (const [name, value] of [...Object.entries(figures), ...warmed])
      if (typeof value === "number") (samples.get(key)[name] ??= []).push(value);
  }
  return `${JSON.stringify({ ...record, samples: [...samples.values()] }, plain)}\n`;
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
  const libraries = { after: await builtLibrary(say), before: order.before };
  const { stdout: peerVersion } = await runToEnd(nodes[24], ["-p", "process.version"]);
  const versions = { peerNode: peerVersion.trim(), ownNode: process.version };
  const same = versions.peerNode === versions.ownNode;
  const variants = variantsFor({ adapters, hasBefore: order.before !== undefined, sameNode: same });
  const samples = samplesOf(order).filter(({ row }) => order.rows.length === 0 || order.rows.includes(row));
  say(
    `ours and floor on ${versions.peerNode}${same ? "" : ` and ${versions.ownNode}`}, peers on ${versions.peerNode}`,
  );
  const load = loadavg()[0].toFixed(1);
  const { results, problems } = await measure({ samples, variants, nodes, libraries, reps: order.reps, say });
  const lines = evaluate(linesOf(order), results, problems);
  const columns = columnsOf(versions);
  say("");
  const tables = [rowsOf, floorRows, beforeRows]
    .map((of) => of(lines, columns))
    .filter(({ length }) => length > 0);
  process.stdout.write(`${tables.map(textTable).join("\n\n")}\n`);
  const facts = {
    date: new Date().toISOString().slice(0, 10),
    command: commandOf(args),
    ...(order.before === undefined ? {} : { before: order.label }),
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
  const record = recordOf({ facts, lines, growth, results, problems });
  writeFileSync(file, record);
  if (whole) {
    writeDocument(ROOT, JSON.parse(record));
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
