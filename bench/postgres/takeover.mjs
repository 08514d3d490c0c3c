/**
 * The same fault for Throughline and two peers on one database. A writer is stopped after its checkpoint and before its
 * tool takes effect. Another takes the thread over, finishes the turn and answers one more message. Then the first wakes.
 * Counts how often the tool ran twice, how often the deposed writer learned that it is deposed, and how often the
 * answered message is gone from the latest state. Needs `npm run build`, PostgreSQL, and a network for the first run.
 *
 *   node --import tsx bench/postgres/takeover.mjs [rounds=10] [langgraph|dbos|ours ...]
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startDatabase } from "./database.mjs";
import { machine, pause, say, start } from "./figures.mjs";
import { ANSWER_TWO } from "./peers/child.mjs";

const LEASE_MS = 800;
/** Long enough for every lease to end, and for a process to load on a busy machine. */
const MOST_MS = 60_000;
const PEERS = fileURLToPath(new URL("./peers", import.meta.url));

const SYSTEMS = {
  langgraph: {
    packages: ["@langchain/langgraph", "@langchain/langgraph-checkpoint-postgres"],
    label: 'durability "sync"',
    script: "peers/langgraph.mjs",
    args: () => [database.base],
  },
  dbos: {
    packages: ["@dbos-inc/dbos-sdk"],
    label: "restarted under its executor id",
    script: "peers/dbos.mjs",
    args: (round) => [database.base, `executor-${round}`],
    keepsThread: false,
  },
  "ours-in": {
    label: "stopped in the tool",
    script: "peers/ours.mjs",
    args: () => [database.base, database.url, String(LEASE_MS), "in the tool"],
  },
  "ours-before": {
    label: "stopped before the tool",
    script: "peers/ours.mjs",
    args: () => [database.base, database.url, String(LEASE_MS), "before the tool"],
  },
};

const [first, ...rest] = process.argv.slice(2);
const rounds = /^\d+$/.test(first ?? "") ? Number(first) : 10;
const wanted = [first, ...rest].filter((name) => name !== undefined && !/^\d+$/.test(name));
if (!existsSync(join(PEERS, "node_modules/.package-lock.json"))) {
  say("installing the peers");
  execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], {
    cwd: PEERS,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
const database = await startDatabase();
try {
  await database.sql("create table effects (thread text not null, pid int not null)");
  const lines = [];
  for (const [name, system] of Object.entries(SYSTEMS)) {
    if (wanted.length > 0 && !wanted.some((one) => name.startsWith(one))) continue;
    const results = [];
    for (let round = 1; round <= rounds; round += 1) {
      const result = await zombie(system, `${name}-${round}`, round);
      results.push(result);
      say(`${name} ${round}: ${JSON.stringify(result)}`);
    }
    const count = (field) => `${results.filter((one) => one[field]).length} of ${rounds}`;
    lines.push([
      `${named(system)}, ${system.label}`,
      count("twice"),
      count("told"),
      system.keepsThread === false ? "– (keeps no thread)" : count("gone"),
      system.keepsThread === false ? count("bothRecorded") : "",
    ]);
  }
  const head = [
    "",
    "tool ran twice",
    "deposed writer was told",
    "answered message gone",
    "both results recorded",
  ];
  process.stdout.write(`\nPostgreSQL ${database.version}; ${machine()}; ${rounds} rounds each\n\n`);
  for (const row of [head, head.map(() => "---"), ...lines]) process.stdout.write(`| ${row.join(" | ")} |\n`);
} finally {
  await database.close();
}

function named({ packages }) {
  return packages === undefined ? "Throughline" : packages.map(versioned).join(" + ");
}

function versioned(name) {
  const file = join(PEERS, "node_modules", name, "package.json");
  return `${name} ${JSON.parse(readFileSync(file, "utf8")).version}`;
}

async function zombie({ script, args }, thread, round) {
  const deposed = start(script, args(round));
  const outcome = inTime(deposed.ask("first", thread), "the stopped writer did not end");
  const early = outcome.then(({ value }) => {
    throw new Error(`the writer ended before it was stopped: ${value}`);
  });
  early.catch(() => undefined); // it always ends in the end
  await Promise.race([early, inTime(stopped(deposed.pid), "the writer did not stop")]);
  const next = start(script, args(round));
  await inTime(next.ask("takeOver", thread), "nobody took the thread over");
  const answer = await inTime(next.ask("more", thread), "the next message was not answered");
  if (answer !== ANSWER_TWO) throw new Error(`the next message was answered with ${answer}`);
  process.kill(deposed.pid, "SIGCONT");
  const { told, value } = await outcome;
  await pause(300); // what it still writes
  const messages = await inTime(next.ask("messages", thread), "the state could not be read");
  const [{ n }] = await database.sql("select count(*)::int as n from effects where thread = $1", [thread]);
  for (const one of [deposed, next]) {
    one.kill("SIGKILL");
    await one.ended;
  }
  if (n === 0) throw new Error("the tool did not run at all");
  return {
    twice: n > 1,
    told,
    gone: !messages.includes(ANSWER_TWO),
    bothRecorded: messages.includes(ANSWER_TWO) && messages.length >= 2,
    outcome: value,
  };
}

async function stopped(pid) {
  for (;;) {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    if (stat.slice(stat.lastIndexOf(")") + 2).startsWith("T")) return;
    await pause(20);
  }
}

async function inTime(work, problem) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(problem)), MOST_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
