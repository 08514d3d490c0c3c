/**
 * Published clients hold a conversation with tools on the strict emulator. Each is installed into its own folder in the
 * temporary folder (kept for the next run) and runs in its own process. It fails if it throws, if a request is refused, or
 * if its own check fails. Exits with 1 if a client failed.
 *
 *   npm run test:clients                        all of them; needs a network to install them, and loopback to run
 *   npm run test:clients -- --only codex,pi     those whose name contains one of these
 *   npm run test:clients -- --show              also prints the output of each client
 *   npm run test:clients -- --proxy             the conversation and every scenario, direct and through a proxy in each
 *                                               mode, as a table; --proxy=repair and --scenario NAME,… choose,
 *                                               --json FILE also writes every figure and exchange
 */
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { endAll, runToEnd } from "../../bench/processes.mjs";
import { peerNode } from "../../bench/setup.mjs";
import { startEmulator } from "../../src/emulator/index.ts";
import { cellOf, COLUMNS, runColumn, shortcomings, tableOf } from "./columns.mjs";
import { environmentOf, installed, versionsIn } from "./folders.mjs";

const HERE = import.meta.dirname;
const CACHE = join(tmpdir(), "throughline-real-clients");
const RUN_MS = 180_000;
const KEY = "sk-emulator-any-key";

const print = (text) => process.stdout.write(`${text}\n`);

const { values: flags } = parseArgs({
  args: process.argv.slice(2).map((word) => (word === "--proxy" ? `--proxy=${COLUMNS.join()}` : word)),
  options: {
    only: { type: "string" },
    show: { type: "boolean", default: false },
    proxy: { type: "string" },
    scenario: { type: "string" },
    json: { type: "string" },
  },
});
const wordsOf = (text) => text?.split(",").map((word) => word.trim());
const wanted = wordsOf(flags.only);
const columns = wordsOf(flags.proxy);

process.once("SIGINT", () => {
  endAll();
  process.exit(130);
});
process.exitCode = await main();

async function main() {
  const clients = await clientsIn(join(HERE, "clients"));
  const chosen = clients.filter(({ name }) => wanted?.some((word) => name.includes(word)) ?? true);
  if (chosen.length === 0) {
    print(`No client has this name. Clients: ${clients.map(({ name }) => name).join(", ")}.`);
    return 2;
  }
  const node = await peerNode((text) => process.stderr.write(`${text}\n`));
  if (columns !== undefined) return inColumns(chosen, node);
  const counts = { ok: 0, failed: 0, "not installed": 0 };
  for (const client of chosen) {
    // One after the other: next to others, a slow client might look broken.
    const { verdict, words } = await tryClient(client, node);
    counts[verdict] += 1;
    print(`${verdict.padEnd(13)} ${client.name}: ${words}`);
  }
  const told = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
  print(`\n${chosen.length} clients: ${told.join(", ")}.`);
  return counts.failed === 0 ? 0 : 1;
}

async function clientsIn(folder) {
  const files = readdirSync(folder).filter((file) => file.endsWith(".mjs"));
  return Promise.all(
    files.toSorted().map(async (file) => ({ ...(await import(join(folder, file))).client, file })),
  );
}

async function tryClient(client, node) {
  let dir;
  try {
    dir = await installed({ client, node, cache: CACHE });
  } catch (error) {
    return { verdict: "not installed", words: shortly(error) };
  }
  const versions = versionsIn(dir, client.packages);
  // The client's file is next to its packages, so that its imports find them.
  cpSync(HERE, join(dir, "real-clients"), { recursive: true });
  const work = mkdtempSync(join(tmpdir(), `client-${client.name}-`));
  const emulator = await startEmulator();
  try {
    const order = { dir, work, url: emulator.url, baseUrl: emulator.baseUrl, key: KEY };
    const { stdout } = await runToEnd(
      node,
      [join(dir, "real-clients/run-client.mjs"), client.file, JSON.stringify(order)],
      { cwd: work, env: environmentOf({ ...order, node }), timeoutMs: client.timeoutMs ?? RUN_MS },
    );
    if (flags.show) print(stdout.trimEnd().replaceAll(/^/gm, "    "));
    const words = judge(client, emulator);
    return { verdict: "ok", words: `${words} (${versions})` };
  } catch (error) {
    const refused = emulator.report().requests.filter(({ verdict }) => verdict === "refused");
    const why = refused.map(({ rule, message }) => `\n      refused ${rule}: ${message}`).join("");
    return { verdict: "failed", words: `${shortly(error)}${why} (${versions})` };
  } finally {
    await emulator.close();
    rmSync(work, { recursive: true, force: true });
  }
}

/** Prints the table. Returns 1 if a proxy did worse than none, or let a refusal through. */
async function inColumns(chosen, node) {
  const results = [];
  for (const client of chosen) {
    let dir;
    try {
      dir = await installed({ client, node, cache: CACHE });
    } catch (error) {
      print(`not installed ${client.name}: ${shortly(error)}`);
      continue;
    }
    cpSync(HERE, join(dir, "real-clients"), { recursive: true });
    print(`${client.name} (${versionsIn(dir, client.packages)})`);
    for (const column of columns) {
      for (const one of await clientInColumn({ client, dir, node, column })) {
        results.push(one);
        print(
          `  ${one.name}, ${column}: ${cellOf(one)}${one.said === undefined ? "" : `\n      ${one.said.split("\n", 1)[0].slice(0, 200)}`}`,
        );
      }
    }
  }
  if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify(results));
  print(`\n${tableOf(results, columns)}`);
  const short = shortcomings(results);
  print(
    `\n${results.length} runs, ${short.length} shortcomings.${short.map((one) => `\n- ${one}`).join("")}`,
  );
  return short.length === 0 ? 0 : 1;
}

async function clientInColumn({ client, dir, node, column }) {
  const known = ["conversation", ...Object.keys(client.scenarios ?? {})];
  const names = known.filter((name) => wordsOf(flags.scenario)?.includes(name) ?? true);
  if (names.length === 0) return [];
  const work = mkdtempSync(join(tmpdir(), `client-${client.name}-`));
  const run = async (orders) => {
    const [first] = orders;
    const { stdout } = await runToEnd(
      node,
      [
        join(dir, "real-clients/run-client.mjs"),
        client.file,
        JSON.stringify(orders.map((order) => ({ ...order, dir }))),
      ],
      { cwd: work, env: environmentOf({ ...first, work, node }), timeoutMs: names.length * RUN_MS },
    );
    if (flags.show) print(stdout.trimEnd().replaceAll(/^/gm, "    "));
    return JSON.parse(stdout.trimEnd().split("\n").at(-1));
  };
  try {
    return await runColumn({ client, names, column, work, key: KEY, run });
  } catch (error) {
    print(`  ${column}: ${shortly(error)}`);
    return [];
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Runs the checks for every client, then this client's own. */
function judge(client, emulator) {
  const { requests, totals } = emulator.report();
  if (totals.requests === 0) throw new Error("it sent no request to the emulator");
  const refused = requests.filter(({ verdict }) => verdict === "refused");
  const allowed = client.refusals ?? 0;
  if (refused.length > allowed) throw new Error(`${refused.length} requests were refused`);
  const more = client.check?.({ report: emulator.report(), exchanges: emulator.exchanges });
  return [
    `${totals.requests} requests`,
    `recall ${totals.recall.toFixed(2)}`,
    ...(totals.prefixBreaks === 0 ? [] : [`${totals.prefixBreaks} prefix breaks`]),
    ...(more === undefined ? [] : [more]),
  ].join(", ");
}

function shortly(error) {
  const text = error instanceof Error ? error.message : String(error);
  return text.length > 1500 ? `${text.slice(0, 1500)} …` : text;
}
