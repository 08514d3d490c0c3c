import {
  appendFileSync,
  copyFileSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { afterTest, countedIo, errno, temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { gate } from "../../../test/contracts/session-fixture.ts";
import { fileStore, type Log } from "./index.ts";

const notice = (message: string) => ({ type: "notice", code: "test", message }) as const;

const messages = (log: Log): readonly string[] =>
  log.events.map((event) => (event.type === "notice" ? event.message : event.type));

async function openCounted() {
  const folder = temporaryFolder();
  const io = countedIo();
  const log = await fileStore(folder, { io }).open("s", { mode: "write" });
  const path = join(folder, "s.jsonl");
  const reread = async (): Promise<readonly string[]> => {
    const reader = await fileStore(folder).open("s", { mode: "read" });
    return messages(reader);
  };
  return { folder, io, log, path, reread };
}

describe("a full disk", () => {
  test.each(["ENOSPC", "EIO", "EDQUOT", "EFBIG"])(
    "(%s) loses nothing acknowledged; the file is cut back, and appends work again once there is space",
    async (code) => {
      const { io, log, path, reread } = await openCounted();
      await log.append([notice("a")]);
      const good = readFileSync(path);
      // Some bytes of the batch reach the disk before it is full.
      let calls = 0;
      io.failWrite = () => {
        calls += 1;
        if (calls === 1) return 40;
        throw errno(code);
      };
      await expect(log.append([notice("b"), notice("c")])).rejects.toMatchObject({
        code: "log_write_failed",
        details: { errno: code },
        message: expect.stringContaining("Everything acknowledged before is safe"),
      });
      expect(readFileSync(path)).toEqual(good);
      expect(messages(log)).toEqual(["a"]);
      await expect(log.append([notice("d")])).rejects.toMatchObject({ code: "log_write_failed" });

      io.failWrite = undefined;
      const [event] = await log.append([notice("e")]);
      expect(event).toMatchObject({ seq: 1, message: "e" });
      await log.close();
      expect(await reread()).toEqual(["a", "e"]);
    },
  );

  test("at the very first append leaves an empty file that the next append fills", async () => {
    const { io, log, reread } = await openCounted();
    io.failWrite = () => {
      throw errno("ENOSPC");
    };
    await expect(log.append([notice("a")])).rejects.toMatchObject({ code: "log_write_failed" });
    io.failWrite = undefined;
    await log.append([notice("b")]);
    await log.close();
    expect(await reread()).toEqual(["b"]);
  });

  test("does not lose the notice of a cut tail: the append that succeeds has it", async () => {
    const { log: first, folder, path } = await openCounted();
    await first.append([notice("a")]);
    await first.close();
    appendFileSync(path, "torn");
    const io = countedIo();
    const log = await fileStore(folder, { io }).open("s", { mode: "write" });
    io.failWrite = () => {
      throw errno("ENOSPC");
    };
    await expect(log.append([notice("b")])).rejects.toMatchObject({ code: "log_write_failed" });
    io.failWrite = undefined;
    await log.append([notice("b")]);
    await log.append([notice("c")]);
    await log.close();
    expect(log.events.map((event) => (event.type === "notice" ? event.code : ""))).toEqual([
      "test",
      "log_tail_cut",
      "test",
      "test",
    ]);
  });

  test("that cannot even be cut back makes the failure final; the next writer repairs the log", async () => {
    const { io, log, folder } = await openCounted();
    await log.append([notice("a")]);
    let calls = 0;
    io.failWrite = () => {
      calls += 1;
      if (calls === 1) return 20;
      throw errno("EIO");
    };
    io.failTruncate = () => {
      throw errno("EIO");
    };
    await expect(log.append([notice("b")])).rejects.toMatchObject({ code: "log_write_failed" });
    io.failWrite = undefined;
    await expect(log.append([notice("c")])).rejects.toMatchObject({ code: "log_failed" });
    await expect(log.append([], { durable: true })).rejects.toMatchObject({ code: "log_failed" });
    await log.close();

    const next = await fileStore(folder).open("s", { mode: "write" });
    await next.append([notice("d")]);
    await next.close();
    expect(messages(next)).toEqual(["a", expect.stringContaining("20 bytes of an unfinished write"), "d"]);
  });
});

describe("short writes", () => {
  test("of any size are continued until the file is complete", async () => {
    const { io, log, reread } = await openCounted();
    io.failWrite = () => 1 + (io.calls.write % 5);
    await log.append([notice("a ü 😀"), notice("b")]);
    await log.close();
    expect(await reread()).toEqual(["a ü 😀", "b"]);
    expect(io.calls.write).toBeGreaterThan(40);
  });

  test("of zero bytes are an error, not an endless loop", async () => {
    const { io, log } = await openCounted();
    await log.append([notice("a")]);
    io.failWrite = () => 0;
    await expect(log.append([notice("b")])).rejects.toMatchObject({ code: "log_write_failed" });
    expect(io.calls.write).toBeLessThan(5);
  });
});

test("whichever system calls fail, in any pattern, all acknowledged events are there, in order", async () => {
  const outcome = fc.constantFrom("ok", "short", "error");
  await fc.assert(
    fc.asyncProperty(fc.array(outcome, { maxLength: 12 }), async (script) => {
      const { io, log, reread } = await openCounted();
      const left = [...script];
      io.failWrite = () => {
        const next = left.shift();
        if (next === "error") throw errno("ENOSPC");
        return next === "short" ? 9 : 1_000_000;
      };
      const acknowledged: string[] = [];
      for (let index = 0; index < 8; index += 1) {
        const batch = [notice(`${index}a`), notice(`${index}b`)];
        await log.append(batch).then(
          () => acknowledged.push(`${index}a`, `${index}b`),
          () => undefined,
        );
      }
      await log.close();
      expect(await reread()).toEqual(acknowledged);
      expect(messages(log)).toEqual(acknowledged);
    }),
    { numRuns: Math.min(500, Number(process.env["THROUGHLINE_RUNS"] ?? 60)) },
  );
});

describe("syncs", () => {
  test("that fail are final: the kernel may have dropped the pages, so no retry is made", async () => {
    const { io, log, folder } = await openCounted();
    await log.append([notice("a")]);
    io.onSync = () => Promise.reject(errno("EIO"));
    await expect(log.append([], { durable: true })).rejects.toMatchObject({
      code: "log_failed",
      message: expect.stringContaining("the disk did not confirm a write"),
    });
    io.onSync = undefined;
    await expect(log.append([], { durable: true })).rejects.toMatchObject({ code: "log_failed" });
    await expect(log.append([notice("b")])).rejects.toMatchObject({ code: "log_failed" });
    expect(io.calls.sync).toBe(1);
    await log.close();
    expect(io.calls.sync).toBe(1);
    const next = await fileStore(folder).open("s", { mode: "write" });
    expect(messages(next)).toEqual(["a"]);
    await next.close();
  });

  test("that fail reject for every caller that waits", async () => {
    const { io, log } = await openCounted();
    await log.append([notice("a")]);
    io.onSync = () => Promise.reject(errno("EIO"));
    const all = await Promise.allSettled([
      log.append([], { durable: true }),
      log.append([], { durable: true }),
      log.append([], { durable: true }),
    ]);
    expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await log.close();
  });

  test("are shared by concurrent callers; events appended after one began share the next", async () => {
    const { io, log } = await openCounted();
    const finish: (() => void)[] = [];
    io.onSync = () =>
      new Promise((done) => {
        finish.push(done);
      });
    await log.append([notice("a")]);
    const early = [
      log.append([], { durable: true }),
      log.append([], { durable: true }),
      log.append([], { durable: true }),
    ];
    expect(io.calls.sync).toBe(1);
    await log.append([notice("b")]);
    const late = [log.append([], { durable: true }), log.append([], { durable: true })];
    expect(io.calls.sync).toBe(1);
    finish[0]?.();
    await Promise.all(early);
    expect(io.calls.sync).toBe(2);
    finish[1]?.();
    await Promise.all(late);
    expect(io.calls.sync).toBe(2);
    io.onSync = undefined;
    await log.close();
  });

  test("cost nothing if nothing is new, and do not cover events appended after they began", async () => {
    const { io, log } = await openCounted();
    await log.append([notice("a")]);
    await log.append([], { durable: true });
    await log.append([], { durable: true });
    expect(io.calls.sync).toBe(1);
    let release: (() => void) | undefined;
    io.onSync = () =>
      new Promise((done) => {
        release = done;
      });
    await log.append([notice("b")]);
    const first = log.append([], { durable: true });
    await log.append([notice("c")]);
    release?.();
    await first;
    io.onSync = undefined;
    await log.append([], { durable: true });
    expect(io.calls.sync).toBe(3);
    await log.close();
    expect(io.calls.sync).toBe(3);
  });

  test("run on close, so that everything is durable", async () => {
    const { io, log } = await openCounted();
    await log.append([notice("a")]);
    expect(io.calls.sync).toBe(0);
    await log.close();
    expect(io.calls.sync).toBe(1);
  });
});

describe("the name of a new file", () => {
  test("is synced once, from the moment the file is there, and durable events wait for it", async () => {
    const { io, log, folder } = await openCounted();
    const name = gate();
    io.onSyncFolder = () => name.promise;
    await log.append([notice("a")]);
    expect(io.calls).toMatchObject({ sync: 0, syncFolder: 1 });
    let acknowledged = false;
    const written = gate();
    io.onSync = async () => written.open();
    const durable = log.append([notice("b")], { durable: true }).then(() => (acknowledged = true));
    await written.promise;
    await new Promise((done) => {
      setImmediate(done);
    });
    expect(acknowledged).toBe(false);
    name.open();
    await durable;
    await log.append([notice("c")], { durable: true });
    await log.close();
    expect(io.calls).toMatchObject({ sync: 2, syncFolder: 1 });

    const again = countedIo();
    const next = await fileStore(folder, { io: again }).open("s", { mode: "write" });
    await next.append([notice("d")], { durable: true });
    await next.close();
    expect(again.calls).toMatchObject({ sync: 1, syncFolder: 0 });
  });

  test("that the disk does not confirm is a final failure, also on close", async () => {
    const { io, log } = await openCounted();
    io.onSyncFolder = () => Promise.reject(errno("EIO"));
    await log.append([notice("a")]);
    const failed = { code: "log_failed", message: expect.stringContaining("the disk did not confirm") };
    await expect(log.append([], { durable: true })).rejects.toMatchObject(failed);
    await expect(log.append([notice("b")])).rejects.toMatchObject(failed);
    await log.close();

    const second = await openCounted();
    second.io.onSyncFolder = () => Promise.reject(errno("EIO"));
    await second.log.append([notice("a")]);
    await expect(second.log.close()).rejects.toMatchObject(failed);
  });

  test("is durable before a durable append without events resolves", async () => {
    const { io, log } = await openCounted();
    let confirmed = false;
    io.onSyncFolder = async () => {
      confirmed = true;
    };
    await log.append([], { durable: true });
    expect({ confirmed, syncs: io.calls.sync }).toEqual({ confirmed: true, syncs: 1 });
    await log.close();
  });
});

describe("the end of a turn", () => {
  test("is on its way to the disk when it is written, and costs one sync", async () => {
    const { io, log } = await openCounted();
    await log.append([notice("a")], { durable: true });
    await log.append([notice("end")], { turn: "end" });
    expect(io.calls.sync).toBe(2);
    await log.append([], { durable: true });
    await log.close();
    expect(io.calls.sync).toBe(2);
  });

  test("that the disk does not confirm is reported by the sync that the caller waits for", async () => {
    const { io, log } = await openCounted();
    await log.append([notice("a")], { durable: true });
    io.onSync = () => Promise.reject(errno("EIO"));
    await log.append([notice("end")], { turn: "end" });
    await expect(log.append([], { durable: true })).rejects.toMatchObject({ code: "log_failed" });
    expect(io.calls.sync).toBe(2);
    await log.close();
  });
});

describe("a change by another process", () => {
  test("is noticed before the next one: nothing is interleaved, and the log is fenced permanently", async () => {
    const { log, path, folder } = await openCounted();
    await log.append([notice("a")]);
    const foreign = await fileStore(folder).open("s", { mode: "read" });
    expect(messages(foreign)).toEqual(["a"]);
    appendFileSync(path, "something else\n");
    const bytes = readFileSync(path);
    await expect(log.append([notice("b")])).rejects.toMatchObject({
      code: "session_fenced",
      message: expect.stringMatching(/has \d+ bytes, expected \d+: another process wrote to it/),
    });
    await expect(log.append([notice("c")])).rejects.toMatchObject({ code: "session_fenced" });
    expect(readFileSync(path)).toEqual(bytes);
    expect(messages(log)).toEqual(["a"]);
    await log.close();
  });

  test("is noticed too if it made the file shorter", async () => {
    const { log, path } = await openCounted();
    await log.append([notice("a"), notice("b")]);
    truncateSync(path, 10);
    await expect(log.append([notice("c")])).rejects.toMatchObject({ code: "session_fenced" });
    await log.close();
    expect(statSync(path).size).toBe(10);
  });
});

const copyOver = (path: string): void => {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
};
const linkBack = (path: string): void => {
  renameSync(path, `${path}.moved`);
  symlinkSync(`${path}.moved`, path);
};

describe("a log that is no longer where it was opened", () => {
  test.each([
    ["removed", (path: string): void => rmSync(path)],
    ["moved", (path: string): void => renameSync(path, `${path}.moved`)],
    ["replaced by a copy of the same bytes", copyOver],
    ["moved, with a link in its place", linkBack],
    [
      "gone with its folder",
      (path: string): void => renameSync(join(path, ".."), `${join(path, "..")}-moved`),
    ],
  ])("and was %s acknowledges nothing more, and the error is final", async (_, attack) => {
    const { log, path, folder } = await openCounted();
    afterTest(() => rmSync(`${folder}-moved`, { recursive: true, force: true }));
    await log.append([notice("a")]);
    await log.append([], { durable: true });
    attack(path);
    await expect(log.append([notice("b")])).rejects.toMatchObject({
      code: "log_replaced",
      message: `session "s" can no longer be written: ${path} was removed, moved or replaced while it was open. Later events were not saved. Put the file back, then open the session again`,
    });
    await expect(log.append([notice("c")])).rejects.toMatchObject({ code: "log_replaced" });
    await expect(log.append([], { durable: true })).rejects.toMatchObject({ code: "log_replaced" });
    expect(messages(log)).toEqual(["a"]);
    await log.close();
  });

  test("is noticed by a sync too, so later events are not called durable", async () => {
    const { log, path } = await openCounted();
    await log.append([notice("a")]);
    rmSync(path);
    await expect(log.append([], { durable: true })).rejects.toMatchObject({ code: "log_replaced" });
    await log.close();
  });

  test("stays writable if it merely had a second name for a while", async () => {
    const { log, path, reread } = await openCounted();
    await log.append([notice("a")]);
    linkSync(path, `${path}.backup`);
    await log.append([notice("b")]);
    rmSync(`${path}.backup`);
    await log.close();
    expect(await reread()).toEqual(["a", "b"]);
  });
});
