/**
 * How late a delta is on another node. Two processes share a database: one holds the sessions and writes deltas, the
 * other follows all of them. Prints the delay of a delta, what it costs the server and both nodes, and the delay of the
 * appends beside it, with hints (LISTEN) and with polling alone. Needs `npm run build` and PostgreSQL.
 *
 *   node --import tsx bench/postgres/live.mjs [sessions=200] [perSecond=20] [seconds=15] [rounds=3]
 *
 * "Polling alone" gives both nodes an address for LISTEN at which no server answers, as behind a pooler.
 *
 * @module
 */
import { startDatabase } from "./database.mjs";
import { latency, machine, number, over, pause, report, say, start } from "./figures.mjs";

const APPENDS_PER_SECOND = 100;
/** How long a response streams before its deltas are cleared. */
const RESPONSE_MS = 10_000;
const NOWHERE = "postgres://nobody@127.0.0.1:1/nothing";
const WARM_UP_MS = 4000;

const [sessions = 200, perSecond = 20, seconds = 15, rounds = 3] = process.argv.slice(2).map(Number);
const database = await startDatabase();
const kinds = {
  alone: { perSecond: 0, directUrl: "" },
  hints: { perSecond, directUrl: "" },
  polling: { perSecond, directUrl: NOWHERE },
};
const results = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
let made = 0;
try {
  for (let round = 1; round <= rounds; round += 1) {
    for (const [kind, { perSecond: rate, directUrl }] of Object.entries(kinds)) {
      const result = await measure(rate, directUrl);
      results[kind].push(result);
      say(
        `round ${round} ${kind}: delta p50 ${number(result.delta.p50)} p99 ${number(result.delta.p99)} ms (${number(result.seenRate, 0)}/s), ` +
          `server ${number(result.server, 1)} %, holder ${number(result.holder, 1)} %, viewer ${number(result.viewer, 1)} %, ` +
          `WAL ${number(result.wal, 0)} KB/s, append p50 ${number(result.append.p50)} p99 ${number(result.append.p99)} ms; ${machine()}`,
      );
    }
  }
  print();
} finally {
  await database.close();
}

async function measure(rate, directUrl) {
  made += 1;
  const ids = Array.from({ length: sessions }, (_, n) => `live${made}_${n}`);
  const holder = start("live-node.mjs", [database.url, directUrl, "holder"]);
  const viewer = start("live-node.mjs", [database.url, directUrl, "viewer"]);
  await holder.ask("hold", ids);
  await viewer.ask("follow", ids);
  const write = { perSecond: rate, appendsPerSecond: APPENDS_PER_SECOND, responseMs: RESPONSE_MS };
  await holder.ask("write", write);
  await pause(WARM_UP_MS);
  await Promise.all([holder.ask("reset"), viewer.ask("reset")]);
  const began = performance.now();
  const [cpu, wal] = [database.cpuMs(), await database.walBytes()];
  await pause(seconds * 1000);
  const elapsed = performance.now() - began;
  const [serverMs, walBytes] = [database.cpuMs() - cpu, (await database.walBytes()) - wal];
  const [held, viewed] = await Promise.all([holder.ask("figures"), viewer.ask("figures")]);
  await holder.ask("rest");
  for (const node of [viewer, holder]) {
    await node.ask("close");
    node.child.disconnect();
    await node.ended;
  }
  if (rate > 0 && viewed.seen < held.written * 0.98)
    throw new Error(`the viewer saw ${viewed.seen} of ${held.written} deltas`);
  return {
    delta: latency(viewed.deltas),
    seenRate: (viewed.seen / elapsed) * 1000,
    append: latency(held.appends),
    server: (serverMs / elapsed) * 100,
    holder: (held.cpuMs / elapsed) * 100,
    viewer: (viewed.cpuMs / elapsed) * 100,
    wal: walBytes / 1024 / (elapsed / 1000),
  };
}

function of(kind, field) {
  return over(results[kind], field);
}

function delays(kind) {
  return `p50 ${number(of(kind, ({ delta }) => delta.p50))} ms, p99 ${number(of(kind, ({ delta }) => delta.p99))} ms`;
}

function loads(kind) {
  const [server, holder, viewer] = ["server", "holder", "viewer"].map((name) =>
    number(
      of(kind, (one) => one[name]),
      1,
    ),
  );
  const wal = number(
    of(kind, (one) => one.wal),
    0,
  );
  return `server ${server} %, holder ${holder} %, viewer ${viewer} % of a core; WAL ${wal} KB/s`;
}

function appends(kind) {
  return `p50 ${number(of(kind, ({ append }) => append.p50))} ms, p99 ${number(of(kind, ({ append }) => append.p99))} ms`;
}

function print() {
  const rows = ["hints", "polling"].flatMap((kind) => {
    const [p50, p99] = [of(kind, ({ delta }) => delta.p50), of(kind, ({ delta }) => delta.p99)];
    const server = of(kind, (one) => one.server);
    const how = kind === "hints" ? "with hints" : "with polling alone";
    return [
      {
        figure: `delta on the other node, ${how}`,
        target: "p50 ≤ 60, p99 ≤ 150 ms",
        measured: delays(kind),
        met: p50 <= 60 && p99 <= 150,
      },
      {
        figure: "… load",
        target: "server ≤ 15 %",
        measured: loads(kind),
        met: server <= 15,
      },
      { figure: "… appends beside it", measured: appends(kind) },
    ];
  });
  report(
    `${sessions} sessions x ${perSecond} deltas/s, ${APPENDS_PER_SECOND} appends/s beside them; PostgreSQL ${database.version}, ${database.settings}; ${machine()}; ${rounds} rounds of ${seconds} s, medians`,
    [
      { figure: "appends alone, no deltas", measured: appends("alone") },
      { figure: "… load", measured: loads("alone") },
      ...rows,
    ],
  );
}
