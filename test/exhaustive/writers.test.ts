/**
 * Two writers of one session. A second one is refused while the first lives, even while it is stopped. If no lock
 * applies, a writer that wakes up after another has written is fenced: nothing is ever interleaved.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { systemClock } from "../../src/base/support/index.ts";
import { FileLog } from "../../src/runtime/log/file-log.ts";
import { FolderWatcher, systemWatch } from "../../src/runtime/log/folder-watcher.ts";
import { fileStore, lockHolder, type Log, systemFileIo } from "../../src/runtime/log/index.ts";
import { SharedSync } from "../../src/runtime/log/shared-sync.ts";
import { startChild, temporaryFolder } from "../contracts/file-fixture.ts";
import { Tally } from "../support/runs.ts";
import { EXHAUSTIVE, PATIENCE_MS } from "./how-much.ts";

const tally = new Tally();
afterAll(() => tally.print(`two writers (${EXHAUSTIVE ? "all" : "a sample"})`));

const notice = (message: string) => ({ type: "notice", code: "test", message }) as const;

test(
  "a writer that is stopped and continued has lost nothing: no other process could write meanwhile",
  async () => {
    for (let round = 0; round < (EXHAUSTIVE ? 100 : 2); round += 1) {
      const folder = temporaryFolder();
      const holder = startChild("hold-lock", [folder, "s"]);
      await holder.line("holding");
      process.kill(holder.pid, "SIGSTOP");
      await expect(fileStore(folder).open("s", { mode: "write" })).rejects.toMatchObject({
        code: "session_locked",
      });
      process.kill(holder.pid, "SIGCONT");
      await expect(fileStore(folder).open("s", { mode: "write" })).rejects.toMatchObject({
        code: "session_locked",
      });
      await holder.kill();
      const next = await fileStore(folder).open("s", { mode: "write" });
      await next.append([notice("mine now")]);
      await next.close();
      tally.add("stopped, asked, woken, killed, taken over");
    }
  },
  PATIENCE_MS,
);

test(
  "writers of every available Node version take turns and are killed or stopped anywhere: no acknowledged event is lost",
  async () => {
    const folder = temporaryFolder();
    const nodes = [process.execPath, ...(process.env["THROUGHLINE_NODES"] ?? "").split(":").filter(Boolean)];
    const acknowledged: string[] = [];
    const failures: string[] = [];
    const writeUntilKilled = async (number: number): Promise<void> => {
      const node = nodes[number % nodes.length] ?? process.execPath;
      const child = startChild("append-child", [folder, `writer-${number}`], { node });
      const heard = (async () => {
        for (;;) acknowledged.push(await child.line("acknowledged"));
      })().catch(() => undefined);
      const failed = child.line("failed").then(
        (why) => failures.push(why),
        () => undefined,
      );
      await child.line("acknowledged").then((first) => acknowledged.push(first));
      if (number % 3 === 0) {
        process.kill(child.pid, "SIGSTOP");
        await lockHolder(join(folder, "s.jsonl")); // others inspect it meanwhile
        process.kill(child.pid, "SIGCONT");
      }
      await child.kill();
      await Promise.all([heard, failed]);
      tally.add("writers that took turns and were killed");
    };
    const WRITERS = EXHAUSTIVE ? 300 : 9;
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < WRITERS) await writeUntilKilled(next++);
    };
    await Promise.all([lane(), lane(), lane()]);
    const lines = readFileSync(join(folder, "s.jsonl"), "utf8").split("\n").slice(0, -1);
    const read = lines.map((line) => JSON.parse(line) as { seq: number; message: string });
    expect(failures).toEqual([]);
    expect(read.map(({ seq }) => seq)).toEqual(read.map((_, index) => index));
    expect(acknowledged.filter((message) => !read.some((event) => event.message === message))).toEqual([]);
    tally.add("events that they acknowledged", acknowledged.length);
  },
  PATIENCE_MS,
);

/** A log without a lock, as on two machines that share a folder: each believes that it holds the session. */
function unlocked(folder: string): Promise<Log> {
  return FileLog.open({
    id: "s",
    path: join(folder, "s.jsonl"),
    mode: "write",
    clock: systemClock,
    io: systemFileIo,
    watcher: new FolderWatcher({
      folder,
      clock: systemClock,
      watch: systemWatch,
      hasWriter: async () => true,
    }),
    names: new SharedSync(() => systemFileIo.syncFolder(folder)),
    release: async () => undefined,
  });
}

test(
  "without any lock, in every order of appends of two writers, the overtaken one is fenced",
  async () => {
    const LENGTH = EXHAUSTIVE ? 8 : 4;
    for (let order = 0; order < 2 ** LENGTH; order += 1) {
      const folder = temporaryFolder();
      const base = await fileStore(folder).open("s", { mode: "write" });
      await base.append([notice("base")]);
      await base.close();
      const writers = [await unlocked(folder), await unlocked(folder)] as const;
      const acknowledged: string[] = ["base"];
      for (let step = 0; step < LENGTH; step += 1) {
        const who = (order >> step) & 1;
        const word = `${who} ${step}`;
        await writers[who === 1 ? 1 : 0].append([notice(word)]).then(
          () => acknowledged.push(word),
          (error: { code?: string }) => expect(error.code).toBe("session_fenced"),
        );
      }
      for (const writer of writers) await writer.close();
      const lines = readFileSync(join(folder, "s.jsonl"), "utf8").split("\n").slice(0, -1);
      const read = lines.map((line) => JSON.parse(line) as { seq: number; message: string });
      expect(read.map(({ message }) => message)).toEqual(acknowledged);
      expect(read.map(({ seq }) => seq)).toEqual(read.map((_, index) => index));
      // Only the first to write continues.
      expect(new Set(acknowledged.slice(1).map((word) => word[0])).size).toBeLessThanOrEqual(1);
      tally.add("orders of appends");
    }
  },
  PATIENCE_MS,
);
