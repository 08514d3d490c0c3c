/**
 * What another node can do, and how soon: two `throughline serve` on one database. A turn runs on the first; the second is
 * asked to cancel it, or to answer its question. Then the first is ended: with SIGTERM, and with SIGKILL. All times end
 * with what a provider sees: the cancelled request is given up, the next request is sent. Needs `npm run build` and
 * PostgreSQL.
 *
 *   node --import tsx bench/postgres/commands.mjs [times=60] [ends=10] [takeovers=5]
 *
 * @module
 */
import { startDatabase } from "./database.mjs";
import { latency, machine, number, pause, report, say } from "./figures.mjs";
import { startProvider } from "./provider.mjs";
import { startNode } from "./serve-node.mjs";

const NOWHERE = "postgres://nobody@127.0.0.1:1/nothing";
const DEFAULT_LEASE_MS = 15_000;
const SHORT_LEASE_MS = 2000;

const [times = 60, ends = 10, takeovers = 5] = process.argv.slice(2).map(Number);
const database = await startDatabase();
const provider = await startProvider();
let made = 0;
const results = {};
try {
  for (const [way, directUrl] of [
    ["hints", undefined],
    ["polling", NOWHERE],
  ]) {
    const nodes = await Promise.all(["one", "two"].map((name) => started(`${name}-${way}`, { directUrl })));
    if (way === "polling") await pause(2500); // until both know that no hint arrives
    results[`cancel, ${way}`] = await repeat(times, `cancel, ${way}`, () => cancel(...nodes));
    results[`decide, ${way}`] = await repeat(times, `decide, ${way}`, () => decide(...nodes));
    await Promise.all(nodes.map(end));
  }
  results["hand-over"] = await repeat(ends, "hand-over", () => leave("SIGTERM", {}));
  results.short = await repeat(takeovers, "takeover, short lease", () =>
    leave("SIGKILL", { leaseMs: SHORT_LEASE_MS }),
  );
  results.usual = await repeat(takeovers, "takeover, default lease", () => leave("SIGKILL", {}));
  print();
} finally {
  provider.close();
  await database.close();
}

function started(name, options) {
  return startNode(name, { url: database.url, provider, ...options });
}

async function end(node) {
  node.signal("SIGTERM");
  await node.ended;
}

async function repeat(count, name, work) {
  const all = [];
  for (let n = 0; n < count; n += 1) all.push(await work());
  const shown = all.map(({ effect }) => number(effect, 0)).join(" ");
  say(`${name}: ${shown} ms; ${machine()}`);
  return all;
}

/** A session whose turn streams on that node. */
async function streaming(node) {
  made += 1;
  const id = `s${made}`;
  await node.ask("/sessions", { id });
  const { turn } = await node.ask(`/sessions/${id}/turns`, { input: `stream ${id}`, turn: `t${made}` });
  await provider.noted("request", id);
  await pause(200 + Math.random() * 300); // at no particular moment of the other node's timers
  return { id, turn };
}

async function cancel(one, two) {
  const { id } = await streaming(one);
  const from = performance.now();
  const answered = two.ask(`/sessions/${id}/cancel`, {}).then(() => performance.now());
  const left = await provider.noted("left", id, from);
  return { effect: left - from, answer: (await answered) - from };
}

async function decide(one, two) {
  made += 1;
  const id = `s${made}`;
  await one.ask("/sessions", { id });
  await one.ask(`/sessions/${id}/turns`, { input: `ask ${id}`, turn: `t${made}` });
  let request;
  while (request === undefined) {
    request = (await two.events(id)).find(({ type }) => type === "permission_request");
    await pause(50);
  }
  await pause(Math.random() * 300);
  const from = performance.now();
  const path = `/sessions/${id}/permissions/${request.requestId}`;
  const answered = two.ask(path, { decision: "allow" }).then(() => performance.now());
  const next = await provider.noted("request", id, from);
  return { effect: next - from, answer: (await answered) - from };
}

/** From the signal until another node has sent the next request of the turn. */
async function leave(signal, options) {
  const two = await started("two", options);
  const one = await started("one", options);
  const { id, turn } = await streaming(one);
  const from = performance.now();
  one.signal(signal);
  const next = await provider.noted("request", id, from);
  await one.ended;
  const ended = performance.now();
  await two.ask(`/sessions/${id}/cancel`, { turn });
  await end(two);
  return { effect: next - from, answer: ended - from };
}

function row(name, figure, target, limit) {
  const effect = latency(results[name].map((one) => one.effect));
  const answer = latency(results[name].map((one) => one.answer));
  return {
    figure,
    target,
    measured: `p50 ${number(effect.p50, 0)} ms, p99 ${number(effect.p99, 0)} ms (answered: p50 ${number(answer.p50, 0)} ms)`,
    ...(limit === undefined ? {} : { met: effect.p99 <= limit }),
  };
}

function rowOfEnd(name, figure, limit) {
  const effect = results[name].map((one) => one.effect);
  const { p50 } = latency(effect);
  const most = Math.max(...effect);
  return {
    figure,
    target: `≤ ${number(limit / 1000, 0)} s`,
    measured: `p50 ${number(p50 / 1000, 2)} s, most ${number(most / 1000, 2)} s of ${effect.length}`,
    met: most <= limit,
  };
}

function print() {
  report(`Two nodes; PostgreSQL ${database.version}, ${database.settings}; ${machine()}`, [
    row("cancel, hints", "cancel from the other node", "p99 ≤ 300 ms", 300),
    row("cancel, polling", "… with polling alone"),
    row("decide, hints", "permission from the other node, until its call has run"),
    row("decide, polling", "… with polling alone"),
    rowOfEnd("hand-over", "hand-over after SIGTERM, no tool running", 2000),
    rowOfEnd("short", "takeover after SIGKILL, lease of 2 s", SHORT_LEASE_MS + 3000),
    rowOfEnd("usual", "takeover after SIGKILL, default lease of 15 s", DEFAULT_LEASE_MS + 3000),
  ]);
}
