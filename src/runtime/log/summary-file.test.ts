/** A summary is never the truth: whatever the file contains, the list shows what the log says. */

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as yieldToLoop } from "node:timers/promises";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { frameOpen } from "../../base/files/index.ts";
import { createAgent, emulator } from "../../index.ts";
import type { StoredSummary } from "../facts/index.ts";
import { fileStore } from "./file-store.ts";
import { FolderScan } from "./folder-scan.ts";
import { listSessions } from "./list-sessions.ts";
import type { Log, StoredSession } from "./log.ts";
import { readSummary, stateOfLog, writeSummary } from "./summary-file.ts";

async function withSession(id = "s", title = "the true title", folder = temporaryFolder()): Promise<string> {
  const log = await fileStore(folder).open(id, { mode: "write" });
  await log.append([
    { type: "session_start", session: id, root: id, writer: "test", cwd: "/work" },
    { type: "title", title },
  ]);
  await log.close();
  return folder;
}

async function listed(folder: string): Promise<readonly StoredSession[]> {
  const found: StoredSession[] = [];
  for await (const one of fileStore(folder).list()) found.push(one);
  return found;
}

const titlesIn = async (folder: string): Promise<readonly (string | undefined)[]> =>
  (await listed(folder)).map(({ summary, problem }) => summary?.title ?? problem);

const logOf = (folder: string, id = "s"): string => join(folder, `${id}.jsonl`);
const fileOf = (folder: string, id = "s"): string => join(folder, `${id}.summary`);

/** The summary next to the log, if it matches the log as it is now. */
function keptIn(folder: string, id = "s"): StoredSummary | undefined {
  const state = stateOfLog(logOf(folder, id));
  return state === undefined ? undefined : readSummary(logOf(folder, id), id, state);
}

/** A summary that matches the log in every way but says something else. */
function lie(folder: string, title: string, id = "s"): void {
  const [state, summary] = [stateOfLog(logOf(folder, id)), keptIn(folder, id)];
  if (state === undefined || summary === undefined) throw new Error("there is nothing to lie about");
  writeSummary(logOf(folder, id), id, state, { ...summary, title });
}

/** Changes bytes of the log without changing its size, time or inode: anyone who reads it now finds it damaged. */
function spoil(log: string): void {
  const like = `${log}.time`;
  writeFileSync(like, "");
  execFileSync("touch", ["-r", log, like]);
  writeFileSync(log, Buffer.alloc(statSync(log).size, "x\n"));
  execFileSync("touch", ["-r", like, log]);
  rmSync(like);
}

describe("a list reads no log", () => {
  test("after a message was answered and the session closed, and shows what the turn used", async () => {
    const folder = temporaryFolder();
    const session = await createAgent({ model: emulator() }).open({ id: "s", store: fileStore(folder) });
    await session.send("Hello").text();
    const { usage } = session;
    await session.rename("called so");
    await session.close();
    spoil(logOf(folder));
    await expect(fileStore(folder).open("s", { mode: "read" })).rejects.toMatchObject({
      code: "log_damaged",
    });
    expect(await listed(folder)).toMatchObject([
      { id: "s", summary: { title: "called so", turns: 1, turnsEnded: 1, usage } },
    ]);
  });

  test("after an append that ends a turn, while the session is still open", async () => {
    const folder = temporaryFolder();
    const log = await fileStore(folder).open("s", { mode: "write" });
    await log.append([{ type: "title", title: "begun" }], { turn: "begin" });
    expect(existsSync(fileOf(folder))).toBe(false);
    await log.append([{ type: "title", title: "ended" }], { turn: "end", durable: true });
    expect(keptIn(folder)).toMatchObject({ title: "ended", events: 2 });
    await log.append([{ type: "title", title: "one more" }], { turn: "end" });
    expect(keptIn(folder)).toMatchObject({ title: "one more", events: 3 });
    await log.close();
  });

  test("the second time, if it had to read them the first time", async () => {
    const folder = await withSession();
    rmSync(fileOf(folder));
    expect(await titlesIn(folder)).toEqual(["the true title"]);
    spoil(logOf(folder));
    expect(await titlesIn(folder)).toEqual(["the true title"]);
  });

  test("and no summary, if only names are requested or the list is left early", async () => {
    const folder = await withSession();
    await withSession("t", "other", folder);
    for (const id of ["s", "t"]) rmSync(fileOf(folder, id));
    for await (const one of fileStore(folder).list({ summaries: false })) expect(one.summary).toBeUndefined();
    expect(readdirSync(folder).toSorted()).toEqual(["s.jsonl", "t.jsonl"]);
    for await (const _ of fileStore(folder).list()) break;
    expect(readdirSync(folder).filter((name) => name.endsWith(".summary"))).toHaveLength(1);
  });
});

test("a search without a match opens only the log that has no valid summary, and only once", async () => {
  const folder = temporaryFolder();
  const ids = Array.from({ length: 60 }, (_, number) => `s_${number}`); // more than one part of a list
  for (const id of ids) await withSession(id, `title of ${id}`, folder);
  const opened: string[] = [];
  const read = (id: string): Promise<Log> => {
    opened.push(id);
    return fileStore(folder).open(id, { mode: "read" });
  };
  const search = async (text: string): Promise<readonly string[]> => {
    const found: string[] = [];
    const parts = { root: folder, scan: new FolderScan(folder), now: 0, read };
    for await (const { id } of listSessions(parts, { search: text })) found.push(id);
    return found;
  };
  expect([await search("no title has this"), opened]).toEqual([[], []]);
  rmSync(fileOf(folder, "s_7"));
  expect([await search("no title has this"), opened]).toEqual([[], ["s_7"]]);
  expect([await search("title of s_7"), await search(""), opened]).toEqual([
    ["s_7"],
    expect.arrayContaining(ids),
    ["s_7"],
  ]);
});

test("a list that counts a long log gives the event loop its turns meanwhile, and is right", async () => {
  const folder = await withSession();
  const log = await fileStore(folder).open("s", { mode: "write" });
  const long = Array.from({ length: 19_997 }, () => ({ type: "notice", code: "test", message: "" }) as const);
  await log.append([...long, { type: "title", title: "the last title" }]);
  await log.close();
  rmSync(fileOf(folder));
  let [turns, counting] = [0, false];
  const count = (): void => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  const read = async (id: string): Promise<Log> => {
    const opened = await fileStore(folder).open(id, { mode: "read" });
    counting = true;
    setImmediate(count);
    return opened;
  };
  const titles: unknown[] = [];
  for await (const { summary } of listSessions(
    { root: folder, scan: new FolderScan(folder), now: 0, read },
    {},
  ))
    titles.push(summary?.title);
  counting = false;
  expect(titles).toEqual(["the last title"]);
  expect(turns).toBeGreaterThanOrEqual(9);
});

const journalOf = (folder: string): string => join(folder, "s.live");

async function answered(folder: string): Promise<Log> {
  const log = await fileStore(folder).open("s", { mode: "write" });
  await log.append([{ type: "title", title: "begun" }]);
  log.scratch.write(["a row"]);
  return log;
}

describe("the emptied scratch journal becomes the summary", () => {
  test("when a turn ends, so that no new file is made for it", async () => {
    const folder = temporaryFolder();
    const log = await answered(folder);
    const { ino } = statSync(journalOf(folder));
    log.scratch.clear();
    await log.append([{ type: "title", title: "ended" }], { turn: "end" });
    expect(statSync(fileOf(folder)).ino).toBe(ino);
    expect(readdirSync(folder).toSorted()).toEqual(["s.jsonl", "s.lock", "s.summary"]);
    expect(keptIn(folder)).toMatchObject({ title: "ended", events: 2 });
    log.scratch.write(["another"]);
    expect(await log.scratch.rows()).toEqual(["another"]);
    expect(keptIn(folder)).toMatchObject({ title: "ended" });
    await log.close();
  });

  test("but not while it has rows", async () => {
    const folder = temporaryFolder();
    const log = await answered(folder);
    await log.append([{ type: "title", title: "ended" }], { turn: "end" });
    expect(await log.scratch.rows()).toEqual(["a row"]);
    expect(keptIn(folder)).toMatchObject({ title: "ended" });
    await log.close();
  });

  test.each(["a hard link", "a link"])(
    "nor if %s was put in its place, which stays untouched",
    async (kind) => {
      const folder = temporaryFolder();
      const log = await answered(folder);
      log.scratch.clear();
      const precious = join(folder, "precious");
      writeFileSync(precious, kind === "a link" ? "precious" : "");
      rmSync(journalOf(folder));
      (kind === "a link" ? symlinkSync : linkSync)(precious, journalOf(folder));
      await log.append([{ type: "title", title: "ended" }], { turn: "end" });
      expect(readFileSync(precious, "utf8")).toBe(kind === "a link" ? "precious" : "");
      expect(await titlesIn(folder)).toEqual(["ended"]);
      await log.close();
    },
  );
});

test("a summary larger than the limit is not written, and the list is still right", async () => {
  const title = "x".repeat(2 * 1024 * 1024);
  const folder = await withSession("s", title);
  expect(existsSync(fileOf(folder))).toBe(false);
  expect(await titlesIn(folder)).toEqual([title]);
  expect(readdirSync(folder)).toEqual(["s.jsonl"]);
});

test("a writer that appended nothing writes no summary", async () => {
  const folder = await withSession();
  rmSync(fileOf(folder));
  const log = await fileStore(folder).open("s", { mode: "write" });
  await log.close();
  expect(existsSync(fileOf(folder))).toBe(false);
});

test("only its owner can read a summary", async () => {
  const folder = await withSession();
  expect(statSync(fileOf(folder)).mode & 0o777).toBe(0o600);
  rmSync(fileOf(folder));
  await listed(folder);
  expect(statSync(fileOf(folder)).mode & 0o777).toBe(0o600);
});

const changed = (change: (bytes: Buffer) => Uint8Array) => (folder: string) =>
  writeFileSync(fileOf(folder), change(readFileSync(fileOf(folder))));
/** Rewrites the summary with a matching checksum. */
const rewritten = (change: (text: string) => string) =>
  changed((bytes) => frameOpen(change(bytes.toString("utf8").replace(/,"sum":"[0-9a-f]{8}"\}\n$/, ""))));

describe("a wrong summary is rebuilt from the log", () => {
  const WRONG: Readonly<Record<string, (folder: string) => void>> = {
    "cut short": changed((bytes) => bytes.subarray(0, bytes.length / 2)),
    "without its line break": changed((bytes) => bytes.subarray(0, -1)),
    empty: changed(() => Buffer.alloc(0)),
    "of zeros": changed((bytes) => Buffer.alloc(bytes.length)),
    "changed in one bit": changed((bytes) => {
      bytes[bytes.indexOf("true")] = (bytes[bytes.indexOf("true")] ?? 0) ^ 1;
      return bytes;
    }),
    "of an older version": rewritten((text) => text.replace('"v":2', '"v":0').replace("true", "older")),
    "of another shape": rewritten((text) => text.replace('"title":"the true title"', '"title":7')),
    "without its usage": rewritten((text) => text.replace(/"usage":\{[^}]*\}/, '"usage":{}')),
    "of requests that were never sent": rewritten((text) =>
      text.replace('"spent":[]', '"spent":[[0,1,1,1,1]]'),
    ),
    "not a JSON object": changed(() => Buffer.from('["a"]\n')),
    "too large": rewritten((text) => text.replace("the true title", "x".repeat(2 * 1024 * 1024))),
  };

  test.each(Object.keys(WRONG))("if it is %s", async (name) => {
    const folder = await withSession();
    WRONG[name]?.(folder);
    expect(keptIn(folder)).toBeUndefined();
    expect(await titlesIn(folder)).toEqual(["the true title"]);
    expect(keptIn(folder)?.title).toBe("the true title");
  });

  test("unlike one that differs only in its title, which the list believes", async () => {
    const folder = await withSession();
    rewritten((text) => text.replace("the true title", "another"))(folder);
    expect(await titlesIn(folder)).toEqual(["another"]);
  });

  const INSTEAD: Readonly<Record<string, (path: string, elsewhere: string) => void>> = {
    "a link to a matching summary": (path, elsewhere) => {
      renameSync(path, elsewhere);
      symlinkSync(elsewhere, path);
    },
    "a link to nothing": (path, elsewhere) => {
      rmSync(path);
      symlinkSync(elsewhere, path);
    },
    "a pipe": (path) => {
      rmSync(path);
      execFileSync("mkfifo", [path]);
    },
  };

  test.each(Object.keys(INSTEAD))(
    "if %s is in its place, which is neither followed nor waited for",
    async (name) => {
      const folder = await withSession();
      const elsewhere = join(folder, "elsewhere");
      lie(folder, "a lie");
      INSTEAD[name]?.(fileOf(folder), elsewhere);
      const before = existsSync(elsewhere) ? readFileSync(elsewhere) : undefined;
      expect(await titlesIn(folder)).toEqual(["the true title"]);
      expect(lstatSync(fileOf(folder)).isFile()).toBe(true);
      expect(keptIn(folder)?.title).toBe("the true title");
      expect(existsSync(elsewhere) ? readFileSync(elsewhere) : undefined).toEqual(before);
    },
  );

  test("without writing through a hard link to another file", async () => {
    const folder = await withSession();
    const precious = join(folder, "precious");
    writeFileSync(precious, "precious");
    rmSync(fileOf(folder));
    linkSync(precious, fileOf(folder));
    expect(await titlesIn(folder)).toEqual(["the true title"]);
    expect(readFileSync(precious, "utf8")).toBe("precious");
    expect(keptIn(folder)?.title).toBe("the true title");
  });

  test("except if a folder is in its place: the folder stays, and the list works without a summary", async () => {
    const folder = await withSession();
    rmSync(fileOf(folder));
    mkdirSync(fileOf(folder));
    expect([await titlesIn(folder), await titlesIn(folder)]).toEqual([
      ["the true title"],
      ["the true title"],
    ]);
    const log = await fileStore(folder).open("s", { mode: "write" });
    await log.append([{ type: "title", title: "written" }], { turn: "end" });
    await log.close();
    expect(await titlesIn(folder)).toEqual(["written"]);
    expect(readdirSync(folder).toSorted()).toEqual(["s.jsonl", "s.summary"]);
  });
});

const refused = (): Promise<Log> => Promise.reject(new Error("a log was read"));

describe("a summary that belongs to something else is ignored", () => {
  test("if it is of another session, even if the log is in the same state", async () => {
    const folder = await withSession();
    const [state, summary] = [stateOfLog(logOf(folder)), keptIn(folder)];
    if (state === undefined || summary === undefined) throw new Error("there is no summary");
    writeSummary(logOf(folder), "t", state, { ...summary, title: "of t" });
    expect(readFileSync(fileOf(folder), "utf8")).toContain("of t");
    expect(await titlesIn(folder)).toEqual(["the true title"]);
  });

  test("if two were swapped", async () => {
    const folder = await withSession();
    await withSession("t", "of t", folder);
    renameSync(fileOf(folder), join(folder, "x"));
    renameSync(fileOf(folder, "t"), fileOf(folder));
    renameSync(join(folder, "x"), fileOf(folder, "t"));
    const titles = new Map((await listed(folder)).map(({ id, summary }) => [id, summary?.title]));
    expect([titles.get("s"), titles.get("t")]).toEqual(["the true title", "of t"]);
  });

  test("if it predates lines added by a program that knows nothing of summaries", async () => {
    const folder = await withSession();
    const before = readFileSync(fileOf(folder));
    const log = await fileStore(folder).open("s", { mode: "write" });
    await log.append([{ type: "title", title: "added" }]);
    await log.close();
    writeFileSync(fileOf(folder), before);
    execFileSync("touch", ["-d", "2001-02-03", logOf(folder)]);
    expect(await titlesIn(folder)).toEqual(["added"]);
    expect(keptIn(folder)?.title).toBe("added");
  });

  test("if it is of a shorter log, even if the time is the same", async () => {
    const folder = await withSession();
    const like = join(folder, "like");
    const lines = readFileSync(logOf(folder));
    execFileSync("touch", ["-r", logOf(folder), like]);
    writeFileSync(logOf(folder), lines.subarray(0, lines.indexOf("\n") + 1));
    execFileSync("touch", ["-r", like, logOf(folder)]);
    expect(await titlesIn(folder)).toEqual([undefined]);
  });

  test("if its writer's log was extended by another process meanwhile", async () => {
    const folder = temporaryFolder();
    const log = await fileStore(folder).open("s", { mode: "write" });
    await log.append([{ type: "title", title: "mine" }]);
    appendFileSync(logOf(folder), "not a line\n");
    await log.close();
    expect(await titlesIn(folder)).toEqual([expect.stringContaining("damaged")]);
  });

  test("if the log grew while a list was reading it", async () => {
    const folder = await withSession();
    rmSync(fileOf(folder));
    const store = fileStore(folder);
    const read = async (id: string): Promise<Log> => {
      const found = await store.open(id, { mode: "read" });
      const log = await store.open(id, { mode: "write" });
      await log.append([{ type: "title", title: "meanwhile" }]);
      await log.close();
      rmSync(fileOf(folder));
      return found;
    };
    for await (const { summary } of listSessions(
      { root: folder, scan: new FolderScan(folder), now: Date.now(), read },
      {},
    ))
      expect(summary?.title).toBe("the true title");
    expect(await titlesIn(folder)).toEqual(["meanwhile"]);
  });

  test("but one that a writer left while the folder was being listed is used", async () => {
    const folder = await withSession("s1", "first");
    await withSession("s2", "second", folder);
    execFileSync("touch", ["-d", "2001-02-03", logOf(folder, "s2")]);
    await listed(folder);
    const titles: (string | undefined)[] = [];
    for await (const { summary, problem } of listSessions(
      { root: folder, scan: new FolderScan(folder), now: Date.now(), read: refused },
      {},
    )) {
      titles.push(problem ?? summary?.title);
      if (titles.length > 1) continue;
      const log = await fileStore(folder).open("s2", { mode: "write" });
      await log.append([{ type: "title", title: "meanwhile" }]);
      await log.close();
    }
    expect(titles).toEqual(["first", "meanwhile"]);
  });

  test("if it predates damage to the log", async () => {
    const folder = await withSession();
    appendFileSync(logOf(folder), "not a line\n");
    expect(await titlesIn(folder)).toEqual([expect.stringContaining("damaged")]);
  });

  test("if another file of the same size and time replaced the log", async () => {
    const folder = await withSession("s", "one title");
    const other = await withSession("s", "two title");
    execFileSync("touch", ["-r", logOf(folder), logOf(other)]);
    expect(statSync(logOf(other)).size).toBe(statSync(logOf(folder)).size);
    const aside = join(folder, "aside");
    renameSync(logOf(folder), aside); // so that its inode stays in use
    copyFileSync(logOf(other), logOf(folder));
    execFileSync("touch", ["-r", logOf(other), logOf(folder)]);
    expect(await titlesIn(folder)).toEqual(["two title"]);
  });

  test("if the time of the file differs, even by a nanosecond", async () => {
    const folder = await withSession();
    execFileSync("touch", ["-d", "2001-02-03T04:05:06.789012345Z", logOf(folder)]);
    await listed(folder);
    lie(folder, "a lie");
    expect(await titlesIn(folder)).toEqual(["a lie"]);
    execFileSync("touch", ["-d", "2001-02-03T04:05:06.789012346Z", logOf(folder)]);
    expect(await titlesIn(folder)).toEqual(["the true title"]);
  });
});

describe("a summary that cannot be written", () => {
  test.skipIf(process.getuid?.() === 0)("in a read-only folder does not affect the list", async () => {
    const folder = await withSession();
    rmSync(fileOf(folder));
    chmodSync(folder, 0o500);
    try {
      expect(await titlesIn(folder)).toEqual(["the true title"]);
      expect(readdirSync(folder)).toEqual(["s.jsonl"]);
    } finally {
      chmodSync(folder, 0o700);
    }
  });

  test("because a folder has its temporary name does not affect append and close", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, `s.summary.${process.pid}.tmp`));
    await withSession("s", "the true title", folder);
    expect(existsSync(fileOf(folder))).toBe(false);
    expect(await titlesIn(folder)).toEqual(["the true title"]);
  });
});

test("a false summary changes the list, but nothing that is read, sent or rebuilt", async () => {
  const folder = temporaryFolder();
  const agent = createAgent({ model: emulator() });
  const session = await agent.open({ id: "s", store: fileStore(folder) });
  await session.send("Hello").text();
  await session.rename("the true title");
  await session.close();
  const asked = async (): Promise<unknown> => {
    const opened = await agent.open({ id: "s", store: fileStore(folder), mode: "read" });
    const { title, usage, interrupted } = opened;
    const told = {
      title,
      usage,
      interrupted,
      rebuilt: await opened.rebuild(1),
      next: await opened.preview(),
    };
    await opened.close();
    return told;
  };
  const before = await asked();
  const [state, summary] = [stateOfLog(logOf(folder)), keptIn(folder)];
  if (state === undefined || summary === undefined) throw new Error("there is no summary");
  const usage = { inputTokens: 9, cachedTokens: 9, outputTokens: 9, reasoningTokens: 9 };
  const told = { ...summary, title: "a lie", cwd: "/lie", usage, openTurn: "tn_lie", events: 1, spent: [] };
  writeSummary(logOf(folder), "s", state, told);
  expect((await listed(folder))[0]?.summary).toEqual(told);
  expect(await asked()).toEqual(before);
  const again = await agent.open({ id: "s", store: fileStore(folder) });
  expect(await again.send("And now?").result()).toMatchObject({ status: "completed" });
  await again.close();
  expect(await titlesIn(folder)).toEqual(["the true title"]);
});

describe("a session that is gone leaves no summary", () => {
  test("when it is removed", async () => {
    const folder = await withSession();
    await fileStore(folder).remove("s");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("when a list writes one while it is being removed", async () => {
    const folder = await withSession();
    const [state, summary] = [stateOfLog(logOf(folder)), keptIn(folder)];
    if (state === undefined || summary === undefined) throw new Error("there is no summary");
    const removed = fileStore(folder).remove("s");
    while (existsSync(fileOf(folder))) await yieldToLoop();
    writeSummary(logOf(folder), "s", state, summary); // the log is removed after it
    await removed;
    expect(readdirSync(folder)).toEqual([]);
  });

  test("when it was removed or replaced while a list was reading its log", async () => {
    const folder = await withSession();
    const [state, summary] = [stateOfLog(logOf(folder)), keptIn(folder)];
    if (state === undefined || summary === undefined) throw new Error("there is no summary");
    await fileStore(folder).remove("s");
    writeSummary(logOf(folder), "s", state, summary);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(logOf(folder), "");
    writeSummary(logOf(folder), "s", { ...state, ino: state.ino + 1n }, summary);
    expect(existsSync(fileOf(folder))).toBe(false);
  });
});

test("a log that cannot be read is listed with its problem and hides no other", async () => {
  const folder = await withSession();
  await withSession("t", "of t", folder);
  writeFileSync(logOf(folder), "garbage\n");
  expect(
    (await listed(folder)).map(({ id, summary, problem }) => [id, summary?.title, problem === undefined]),
  ).toEqual([
    ["s", undefined, false],
    ["t", "of t", true],
  ]);
});

test("a long log is counted in parts between which the event loop is free, and its summary is complete", async () => {
  const folder = temporaryFolder();
  const store = fileStore(folder);
  const log = await store.open("long", { mode: "write" });
  const draft = { type: "title", title: "one of many", by: "person" } as const;
  await log.append([{ type: "session_start", session: "long", root: "long", writer: "w" }]);
  await log.append(Array.from({ length: 90_000 }, () => draft));
  await log.append([], { durable: true });
  let turns = 0;
  let counting = true;
  const count = (): void => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  await log.close();
  counting = false;
  expect(turns).toBeGreaterThanOrEqual(10);
  expect(readFileSync(join(folder, "long.summary"), "utf8")).toContain('"events":90001');
});
