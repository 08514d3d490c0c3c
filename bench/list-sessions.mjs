/**
 * Compares session lists with the minimum that any listing must do: read the folder and stat every log.
 * node bench/list-sessions.mjs [sessions] [rounds] creates a folder of sessions and measures, in one process, the first
 * list (no session has a summary yet), a list of all sessions from their summaries, the newest 20, and a search by title;
 * then `throughline sessions list` as a command. Prints medians. Needs `npm run build`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const sessions = Number(process.argv[2] ?? 5000);
const rounds = Number(process.argv[3] ?? 9);
const dist = new URL("../dist/", import.meta.url);
const { createAgent, emulator, fileStore } = await import(new URL("index.js", dist).href);
const program = fileURLToPath(new URL("../package.json", import.meta.url));
const { bin } = JSON.parse(readFileSync(program, "utf8"));
const command = join(program, "..", typeof bin === "string" ? bin : bin.throughline);

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

async function median(work) {
  await work(); // warms the page cache, so that all measurements start equal
  const times = [];
  for (let round = 0; round < rounds; round += 1) times.push(await timed(work));
  return times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)];
}

const home = mkdtempSync(join(tmpdir(), "throughline-list-"));
const folder = join(home, "sessions");
try {
  mkdirSync(folder, { mode: 0o700 });
  const linesOf = async (id, title) => {
    const session = await createAgent({ model: emulator() }).open({ id, store: fileStore(folder) });
    for (let turn = 0; turn < 5; turn += 1) await session.send("Hello").text();
    await session.rename(title);
    await session.close();
    const log = join(folder, `${id}.jsonl`);
    const bytes = readFileSync(log);
    rmSync(log);
    rmSync(join(folder, `${id}.summary`), { force: true });
    return bytes;
  };
  const [wanted, others] = [await linesOf("a", "The one to be found"), await linesOf("b", "One of many")];
  for (let n = 0; n < sessions; n += 1) {
    const log = join(folder, `s_${String(n).padStart(8, "0")}.jsonl`);
    writeFileSync(log, n === 0 ? wanted : others, { mode: 0o600 });
  }
  const counted = (options, expected) => async () => {
    let count = 0;
    for await (const { problem } of fileStore(folder).list(options)) {
      if (problem !== undefined) throw new Error(problem);
      count += 1;
    }
    if (count !== expected) throw new Error(`${count} were listed, expected ${expected}`);
  };
  const logs = readdirSync(folder);
  const print = (what, ms) =>
    process.stdout.write(`${what.padEnd(44)}${ms.toFixed(1).padStart(9)} ms${ratio(ms)}\n`);
  const floor = await median(() => {
    readdirSync(folder);
    for (const name of logs) statSync(join(folder, name));
  });
  const ratio = (ms) => `  ${(ms / floor).toFixed(2).padStart(6)} times readdir and stat`;
  const read = (args) =>
    execFileSync(process.execPath, [command, "sessions", "list", ...args], {
      env: { ...process.env, THROUGHLINE_HOME: home },
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 1e9,
    });
  process.stdout.write(
    `${sessions} sessions of ${statSync(join(folder, logs[0])).size} bytes, median of ${rounds}\n`,
  );
  print("readdir and stat", floor);
  print("first list of all, no summaries (once)", await timed(counted({}, sessions)));
  print("list of all", await median(counted({}, sessions)));
  print("list of the newest 20", await median(counted({ limit: 20 }, 20)));
  print("search by title over all", await median(counted({ search: "TO BE FOUND" }, 1)));
  print("ids only", await median(counted({ summaries: false }, sessions)));
  print(
    "throughline --version, the start of Node",
    await median(() => execFileSync(process.execPath, [command, "--version"])),
  );
  print("throughline sessions list", await median(() => read([])));
  print(`throughline sessions list -n ${sessions}`, await median(() => read(["-n", String(sessions)])));
} finally {
  rmSync(home, { recursive: true, force: true });
}
