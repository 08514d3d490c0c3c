/**
 * How close `throughline sessions list` comes to what any listing must do: read the folder and stat every file.
 * node bench/list-sessions.mjs [sessions] [rounds]: makes a folder of that many sessions, measures both in one process
 * (the command's own code, without starting Node), prints the medians and their ratio. Needs `npm run build`.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const sessions = Number(process.argv[2] ?? 10_000);
const rounds = Number(process.argv[3] ?? 9);
const { createAgent, emulator, fileStore } = await import(new URL("../dist/index.js", import.meta.url).href);

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

const home = mkdtempSync(join(tmpdir(), "throughline-list-"));
const folder = join(home, "sessions");
try {
  mkdirSync(folder, { mode: 0o700 });
  const session = await createAgent({ model: emulator() }).open({ id: "first", store: fileStore(folder) });
  await session.send("Hello").text();
  await session.close();
  const text = readFileSync(join(folder, "first.jsonl"));
  for (let n = 1; n < sessions; n += 1) {
    writeFileSync(join(folder, `s_${String(n).padStart(8, "0")}.jsonl`), text, { mode: 0o600 });
  }
  const floor = () => {
    for (const name of readdirSync(folder)) statSync(join(folder, name));
  };
  const listed = async () => {
    const all = [];
    for await (const one of fileStore(folder).list()) all.push(one);
    all.sort((a, b) => b.modifiedAt - a.modifiedAt);
    const store = fileStore(folder);
    for (const { id } of all.slice(0, 20)) await (await store.open(id, { mode: "read" })).close();
    return all.length;
  };
  const times = { floor: [], listed: [] };
  await listed(); // the folder's pages are in memory for both
  floor();
  for (let round = 0; round < rounds; round += 1) {
    let from = performance.now();
    floor();
    times.floor.push(performance.now() - from);
    from = performance.now();
    if ((await listed()) !== sessions) throw new Error("not all were listed");
    times.listed.push(performance.now() - from);
  }
  const [low, high] = [median(times.floor), median(times.listed)];
  process.stdout.write(
    `${sessions} sessions, median of ${rounds}: readdir+stat ${low.toFixed(1)} ms, list of the newest 20 ${high.toFixed(1)} ms, ratio ${(high / low).toFixed(2)}\n`,
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}
