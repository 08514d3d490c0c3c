/**
 * The benchmark: Throughline, its peers and the floor on the same generated load. docs/performance.md says what the rows
 * mean. Progress goes to standard error, the table to standard output.
 *
 *   npm run bench                                     all rows; writes bench/results/latest.json and docs/performance.md
 *   npm run bench -- ROW [...] [--reps N] [--only ours,floor,openai] [--quick]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { evaluate } from "./evaluate.mjs";
import { linesOf } from "./lines.mjs";
import { measure } from "./measure.mjs";
import { endAll, here, runToEnd } from "./processes.mjs";
import { ADAPTERS, PEERS, ROWS, samplesOf, VARIANTS } from "./rows.mjs";
import { builtLibrary, installPeers, peerNode } from "./setup.mjs";
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

function orderOf(args) {
  let parsed;
  try {
    parsed = parseArgs({
      args,
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

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    endAll();
    process.exit(130);
  });
}
process.on("exit", endAll);

const order = orderOf(process.argv.slice(2));
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
  const { results, problems } = await measure({ samples, variants, nodes, library, reps: order.reps, say });
  const lines = evaluate(linesOf(order), results, problems);
  const columns = columnsOf(versions);
  const minutes = (performance.now() - began) / 60_000;
  say("");
  process.stdout.write(`${textTable(lines, columns)}\n`);
  const whole = order.rows.length === 0 && order.only === undefined && !order.quick;
  mkdirSync(here("results"), { recursive: true });
  const file = here(`results/${whole ? "latest" : "partial"}.json`);
  const record = { versions, minutes, problems, results };
  writeFileSync(file, `${JSON.stringify(record, undefined, 2)}\n`);
  for (const { sample, variant, wrong } of problems)
    process.stderr.write(`FAILED ${sample} ${variant}: ${wrong.join("; ")}\n`);
  process.exit(problems.length === 0 ? 0 : 1);
} catch (error) {
  endAll();
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}
