/**
 * Clients in columns: direct to the strict emulator, and through a proxy in its modes. One line per client and scenario.
 * All scenarios of a client run in one process, each with its own emulator, proxy and folder.
 *
 * @module
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { startEmulator } from "../../src/emulator/index.ts";
import { startProxy } from "../../src/proxy/relay/index.ts";

export const COLUMNS = ["direct", "observe", "repair"];

/** Starts an emulator for each scenario, and a proxy before it. `run(orders)` runs the client and returns what it said of each. */
export async function runColumn({ client, names, column, work, key, run }) {
  const stages = await Promise.all(names.map((name) => stage({ client, name, column, work, key })));
  try {
    const said = await run(stages.map(({ order }) => order));
    return stages.map(({ name, figures }) => ({
      name,
      column,
      ...figures(Object.hasOwn(said, name) ? said[name] : "it did not run"),
    }));
  } finally {
    await Promise.all(stages.map(({ close }) => close()));
  }
}

async function stage({ client, name, column, work, key }) {
  const emulator = await startEmulator({ faults: client.faults?.[name] ?? [] });
  const lines = [];
  const proxy =
    column === "direct"
      ? undefined
      : await startProxy({ to: emulator.url, port: 0, mode: column, onExchange: (line) => lines.push(line) });
  const url = proxy?.url ?? emulator.url;
  const folder = join(work, `${column}-${name}`);
  mkdirSync(folder, { recursive: true });
  return {
    name,
    order: { name, work: folder, url, baseUrl: `${url}/v1`, key },
    figures: (said) => figuresOf({ client, name, said, emulator, lines, column }),
    async close() {
      await proxy?.close();
      await emulator.close();
    },
  };
}

const sum = (list, count) => list.reduce((total, one) => total + count(one), 0);

/** `said` is undefined if the scenario's own check passed. */
function figuresOf({ client, name, said, emulator, lines, column }) {
  const { requests, totals } = emulator.report();
  const refused = requests.filter(({ verdict }) => verdict === "refused");
  const accepted = requests.filter(({ verdict }) => verdict === "accepted");
  const reached = lines.filter(({ status }) => [400, 404, 422].includes(status)).length;
  return {
    client: client.name,
    requests: column === "direct" ? totals.requests : lines.length,
    refused: column === "direct" ? refused.length : reached,
    rules: [...new Set(refused.map(({ rule }) => rule))],
    healed: lines.filter(({ outcome }) => outcome === "healed").length,
    putBack: sum(lines, ({ restored }) => restored),
    unread: lines.filter(({ outcome }) => ["unread", "failed-open", "failed"].includes(outcome)).length,
    recall: totals.recall,
    modified: sum(accepted, ({ modified }) => modified.length),
    foreign: sum(accepted, ({ foreign }) => foreign.length),
    prefixBreaks: totals.prefixBreaks,
    said: said ?? undefined,
    report: { requests, lines, exchanges: emulator.exchanges, name },
  };
}

/** A cell of the table. */
export function cellOf({
  requests,
  refused,
  rules,
  healed,
  putBack,
  unread,
  recall,
  modified,
  foreign,
  prefixBreaks,
  said,
}) {
  return [
    said === undefined
      ? "ok"
      : refused > 0
        ? "refused"
        : /I no longer have my notes/.test(said)
          ? "forgot"
          : "client failed",
    `${requests} req`,
    ...(refused === 0 ? [] : [`${refused} refused (${rules.join(" ")})`]),
    ...(healed === 0 ? [] : [`${healed} healed (${rules.join(" ")})`]),
    ...(putBack === 0 ? [] : [`${putBack} put back`]),
    `recall ${recall.toFixed(2)}`,
    ...(modified === 0 ? [] : [`${modified} modified`]),
    ...(foreign === 0 ? [] : [`${foreign} foreign`]),
    ...(prefixBreaks === 0 ? [] : [`${prefixBreaks} prefix breaks`]),
    ...(unread === 0 ? [] : [`${unread} not read`]),
  ].join(", ");
}

/** Markdown: one line per client and scenario. */
export function tableOf(results, columns) {
  const keys = [...new Set(results.map(({ client, name }) => `${client} | ${name}`))];
  const cells = new Map(results.map((one) => [`${one.client} | ${one.name} | ${one.column}`, cellOf(one)]));
  return [
    `| client | scenario | ${columns.join(" | ")} |`,
    `| --- | --- |${" --- |".repeat(columns.length)}`,
    ...keys.map(
      (key) => `| ${key} | ${columns.map((column) => cells.get(`${key} | ${column}`) ?? "–").join(" | ")} |`,
    ),
  ].join("\n");
}

/** Where a proxy did worse than none, or changed what it only observes, or let a refusal through that it should heal. */
export function shortcomings(results) {
  const direct = new Map(
    results.filter(({ column }) => column === "direct").map((one) => [`${one.client} ${one.name}`, one]),
  );
  return results.flatMap((one) => {
    const without = direct.get(`${one.client} ${one.name}`);
    const where = `${one.client}, ${one.name}, ${one.column}`;
    if (one.column === "repair" && one.refused > 0) return [`${where}: a refusal reached the client`];
    if (without?.said === undefined && one.said !== undefined)
      return [`${where}: fails, and passes without a proxy`];
    if (one.column !== "observe" || without === undefined) return [];
    // Some clients try again after some refusals, so only what was accepted is compared.
    const isSame =
      one.recall === without.recall && one.requests - one.refused === without.requests - without.refused;
    return isSame ? [] : [`${where}: differs from direct`];
  });
}
