import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  afterTest,
  type Child,
  type ChildOptions,
  linesOf,
  startChild,
  temporaryFolder,
} from "../../../test/contracts/file-fixture.ts";
import { fileStore, lockHolder } from "./index.ts";

const notice = (message: string) => ({ type: "notice", code: "test", message }) as const;

/** The pid of a process that holds the session, or why it was refused. Waits for either, so that a test cannot hang. */
const outcomeOf = (child: Child): Promise<string> =>
  Promise.any([child.line("holding"), child.line("refused")]);

const openAndClose = async (folder: string, id = "s"): Promise<void> => {
  const log = await fileStore(folder).open(id, { mode: "write" });
  await log.append([notice("mine")]);
  await log.close();
};

const socketIn = async (path: string): Promise<Server> => {
  const server = createServer((socket) => socket.end("holds 1 elsewhere"));
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  afterTest(() => void server.close());
  return server;
};

const versionOf = (node: string): string => execFileSync(node, ["--version"], { encoding: "utf8" }).trim();

test("another process that holds the session is named by its pid, and kill -9 releases the session at once", async () => {
  const folder = temporaryFolder();
  const child = startChild("hold-lock", [folder, "shared"]);
  expect(await child.line("holding")).toBe(String(child.pid));
  const store = fileStore(folder);

  // Polled, because a claimant waits only briefly for the holder's answer, which may be late on a busy machine.
  const refusal = (): Promise<unknown> =>
    store.open("shared", { mode: "write" }).catch((error: unknown) => error);
  expect(await refusal()).toMatchObject({ code: "session_locked" });
  await expect.poll(refusal).toMatchObject({
    code: "session_locked",
    details: { holder: `process ${child.pid}` },
    message: `session "shared" is being written by process ${child.pid}. Close it there first, or open it to read`,
  });
  await expect(store.remove("shared")).rejects.toMatchObject({ code: "session_locked" });
  const reader = await store.open("shared", { mode: "read" });
  expect(reader.events).toMatchObject([{ message: "from the child", epoch: 1 }]);
  expect(await reader.hasWriter()).toBe(true);
  await openAndClose(folder, "another");

  await child.kill("SIGKILL");
  expect(await reader.hasWriter()).toBe(false);
  const log = await store.open("shared", { mode: "write" });
  await log.append([notice("from the parent")]);
  expect(log.events).toMatchObject([
    { message: "from the child", epoch: 1 },
    { message: "from the parent", epoch: 2 },
  ]);
  await log.close();
});

test("a stopped process still holds its session, although it cannot say so", async () => {
  const folder = temporaryFolder();
  const child = startChild("hold-lock", [folder, "shared"]);
  await child.line("holding");
  process.kill(child.pid, "SIGSTOP");
  await expect(fileStore(folder).open("shared", { mode: "write" })).rejects.toMatchObject({
    code: "session_locked",
    details: { holder: "another process" },
  });
});

test("two paths to one folder are one session", async () => {
  const folder = temporaryFolder();
  const link = join(temporaryFolder(), "link");
  symlinkSync(folder, link);
  const log = await fileStore(folder).open("s", { mode: "write" });
  await expect(fileStore(link).open("s", { mode: "write" })).rejects.toMatchObject({
    code: "session_locked",
    details: { holder: "this process" },
  });
  await log.close();
  await openAndClose(link);
});

test("a failed open releases the lock", async () => {
  const folder = temporaryFolder();
  symlinkSync("/dev/null", join(folder, "s.jsonl"));
  const store = fileStore(folder);
  await expect(store.open("s", { mode: "write" })).rejects.toMatchObject({ code: "log_unreadable" });
  await expect(store.open("s", { mode: "write" })).rejects.toMatchObject({ code: "log_unreadable" });
  expect(readdirSync(folder)).toEqual(["s.jsonl"]);
});

test("a log with a second name cannot be written, because the other name has its own lock", async () => {
  const folder = temporaryFolder();
  await openAndClose(folder);
  linkSync(join(folder, "s.jsonl"), join(folder, "other.jsonl"));
  for (const id of ["s", "other"])
    await expect(fileStore(folder).open(id, { mode: "write" })).rejects.toMatchObject({
      code: "log_linked",
      message: expect.stringContaining(`mv ${join(folder, `${id}.jsonl.copy`)}`),
    });
  const reader = await fileStore(folder).open("other", { mode: "read" });
  expect(reader.events).toHaveLength(1);
});

test("a second name left by a killed import is removed, and the log can be written", async () => {
  const folder = temporaryFolder();
  await openAndClose(folder);
  linkSync(join(folder, "s.jsonl"), join(folder, "s.jsonl.4711.tmp"));
  await openAndClose(folder);
  expect(readdirSync(folder)).toEqual(["s.jsonl", "s.summary"]);
});

test("if ten processes open a session at once, at most one holds it, and nothing it wrote is lost", async () => {
  const folder = temporaryFolder();
  let written = 0;
  for (let round = 0; round < 3; round += 1) {
    const children = Array.from({ length: 10 }, () => startChild("hold-lock", [folder, "s"]));
    const said = await Promise.all(children.map(outcomeOf));
    const holding = said.filter((word) => /^\d+$/.test(word));
    expect(holding.length).toBeLessThanOrEqual(1);
    expect(said.filter((word) => word.startsWith("session_locked ")).length).toBe(10 - holding.length);
    await Promise.all(children.map((child) => child.kill()));
    written += holding.length;
    expect(linesOf(join(folder, "s.jsonl"))).toHaveLength(written);
  }
});

describe.runIf(process.platform === "linux")("on Linux the lock is a socket next to the log", () => {
  test("that is removed when the session closes, or by the next writer if its holder was killed", async () => {
    const folder = temporaryFolder();
    const child = startChild("hold-lock", [folder, "s"]);
    await child.line("holding");
    await child.kill();
    expect(readdirSync(join(folder, "s.lock"))).toHaveLength(1);
    expect(await lockHolder(join(folder, "s.jsonl"))).toBeUndefined();
    expect(readdirSync(join(folder, "s.lock"))).toHaveLength(1);

    const log = await fileStore(folder).open("s", { mode: "write" });
    expect(readdirSync(join(folder, "s.lock"))).toHaveLength(1);
    expect(statSync(join(folder, "s.lock")).mode & 0o777).toBe(0o700);
    await log.close();
    expect(readdirSync(folder)).toEqual(["s.jsonl"]);
  });

  test("that works however long the path is", async () => {
    const folder = join(temporaryFolder(), "long".repeat(40), "path".repeat(40));
    const id = "i".repeat(64);
    const log = await fileStore(folder).open(id, { mode: "write" });
    await expect(fileStore(folder).open(id, { mode: "write" })).rejects.toMatchObject({
      code: "session_locked",
    });
    await log.close();
  });

  test("that excludes others only while it accepts connections; other files in its folder do not count", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "s.lock", "folder"), { recursive: true });
    writeFileSync(join(folder, "s.lock", "file"), String(process.pid));
    const elsewhere = join(folder, "elsewhere");
    await socketIn(elsewhere);
    symlinkSync(elsewhere, join(folder, "s.lock", "link"));
    await openAndClose(folder);
    expect(readdirSync(join(folder, "s.lock"))).toEqual(["file", "folder", "link"]);
  });

  test("whose answer is shown only if it has the expected form", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "s.lock"));
    await socketIn(join(folder, "s.lock", "0"));
    const holder = (): Promise<string | undefined> => lockHolder(join(folder, "s.jsonl"));
    await expect.poll(holder).toBe("process 1 on elsewhere");
    const liar = createServer((socket) => socket.end("holds 1 \u001b[31mhost"));
    await new Promise<void>((resolve) => {
      liar.listen(join(folder, "s.lock", "!"), resolve);
    });
    afterTest(() => void liar.close());
    expect(await holder()).toBe("another process");
  });

  test.each([
    ["a file", (path: string): void => writeFileSync(path, "")],
    ["a link", (path: string): void => symlinkSync(temporaryFolder(), path)],
  ])("whose error says what to do if %s has the name of its folder", async (_, plant) => {
    const folder = temporaryFolder();
    plant(join(folder, "s.lock"));
    await expect(fileStore(folder).open("s", { mode: "write" })).rejects.toMatchObject({
      code: "lock_unusable",
      message: expect.stringContaining(`or remove ${join(folder, "s.lock")}`),
    });
  });

  test("that `sessions rm` removes if a killed writer left it", async () => {
    const folder = temporaryFolder();
    const child = startChild("hold-lock", [folder, "s"]);
    await child.line("holding");
    await child.kill();
    await fileStore(folder).remove("s");
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("the lock holds between Node versions", () => {
  const nodes = (process.env["THROUGHLINE_NODES"] ?? "").split(":").filter((path) => path !== "");
  if (nodes.length === 0)
    process.stderr.write("writer lock: other Node versions skipped, THROUGHLINE_NODES is not set\n");
  const all = [process.execPath, ...nodes];
  const pairs = all.flatMap((holder) => all.map((other) => ({ holder, other })));

  test.each(
    pairs.map((pair) => ({ ...pair, name: `${versionOf(pair.holder)} and ${versionOf(pair.other)}` })),
  )("$name", async ({ holder, other }) => {
    const folder = temporaryFolder();
    const first = startChild("hold-lock", [folder, "s"], { node: holder });
    await first.line("holding");
    const second = startChild("hold-lock", [folder, "s"], { node: other });
    expect(await outcomeOf(second)).toMatch(/^session_locked /);
    await first.kill();
    const third = startChild("hold-lock", [folder, "s"], { node: other });
    await third.line("holding");
    expect(linesOf(join(folder, "s.jsonl"))).toHaveLength(2);
  });
});

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

describe.runIf(isRoot && process.platform === "linux")("other users and containers", () => {
  const asNobody: ChildOptions = { uid: NOBODY };

  test("a user without access to the folder cannot keep its owner out", async () => {
    const folder = temporaryFolder();
    const stranger = startChild("hold-lock", [folder, "s"], asNobody);
    expect(await outcomeOf(stranger)).toMatch(/^(?:store_unusable|lock_unusable) /);
    await openAndClose(folder);
    expect(readdirSync(folder)).toEqual(["s.jsonl", "s.summary"]);
  });

  test("in a shared folder, a holder is named with its user, which it cannot forge", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o777);
    const other = startChild("hold-lock", [folder, "s"], asNobody);
    await other.line("holding");
    await expect
      .poll(() => lockHolder(join(folder, "s.jsonl")))
      .toBe(`process ${other.pid} of user ${NOBODY}`);
    await other.kill();
    await openAndClose(folder);
  });

  test("a lock left by root in a user's folder does not keep that user out", async () => {
    const folder = temporaryFolder();
    chownSync(folder, NOBODY, NOBODY);
    const root = startChild("hold-lock", [folder, "s"]);
    await root.line("holding");
    chownSync(join(folder, "s.jsonl"), NOBODY, NOBODY);
    const refused = startChild("hold-lock", [folder, "s"], asNobody);
    expect(await outcomeOf(refused)).toMatch(/^session_locked /);
    await root.kill();
    const owner = startChild("hold-lock", [folder, "s", "once"], asNobody);
    await owner.line("holding");
    await owner.exited;
    expect(existsSync(join(folder, "s.lock"))).toBe(false);
  });

  // A container has its own networks, processes and names; the folder is shared.
  test.each([
    ["of networks and processes", ["unshare", "--net", "--pid", "--fork", "--kill-child"]],
    ["of mounts, host names and networks", ["unshare", "--net", "--mount", "--uts", "--ipc"]],
  ])("the lock holds between namespaces %s", async (_, by) => {
    const folder = temporaryFolder();
    const log = await fileStore(folder).open("s", { mode: "write" });
    const inside = startChild("hold-lock", [folder, "s"], { by });
    expect(await outcomeOf(inside)).toMatch(/^session_locked /);
    await log.close();
    const holder = startChild("hold-lock", [folder, "s"], { by });
    await holder.line("holding");
    await expect(fileStore(folder).open("s", { mode: "write" })).rejects.toMatchObject({
      code: "session_locked",
    });
  });
});

test("a system that ignores the locking flag gets an error and no writer, and nothing is written", async () => {
  const platform = process.platform;
  Object.defineProperty(process, "platform", { value: "sunos" });
  afterTest(() => void Object.defineProperty(process, "platform", { value: platform }));
  const folder = temporaryFolder();
  await expect(fileStore(folder).open("s", { mode: "write" })).rejects.toMatchObject({
    code: "lock_unusable",
    message: expect.stringContaining("cannot lock"),
  });
  expect(existsSync(join(folder, "s.jsonl"))).toBe(false);
});
