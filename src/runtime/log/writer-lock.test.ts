import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { afterTest, startChild, temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { fileStore } from "./index.ts";

const notice = (message: string) => ({ type: "notice", code: "test", message }) as const;

test("another process that holds the session is named by its pid, and kill -9 frees it at once", async () => {
  const folder = temporaryFolder();
  const child = startChild("hold-lock", [folder, "shared"]);
  expect(await child.line("holding")).toBe(String(child.pid));
  const store = fileStore(folder);

  // It is not waited for long: on a busy machine it may take more than one asking until it has said who it is.
  const refusal = (): Promise<unknown> =>
    store.open("shared", { mode: "write" }).catch((error: unknown) => error);
  expect(await refusal()).toMatchObject({ code: "session_locked" });
  await expect.poll(refusal).toMatchObject({
    code: "session_locked",
    details: { holder: `process ${child.pid}` },
    message: `session "shared" is being written by process ${child.pid}: close it there first, or open it to read`,
  });
  await expect(store.remove("shared")).rejects.toMatchObject({ code: "session_locked" });
  const reader = await store.open("shared", { mode: "read" });
  expect(reader.events).toMatchObject([{ message: "from the child", epoch: 1 }]);
  const other = await store.open("another", { mode: "write" });
  await other.close();

  await child.kill("SIGKILL");
  const log = await store.open("shared", { mode: "write" });
  await log.append([notice("from the parent")]);
  expect(log.events).toMatchObject([
    { message: "from the child", epoch: 1 },
    { message: "from the parent", epoch: 2 },
  ]);
  await log.close();
});

test("a stopped process still holds its session, though it cannot say so", async () => {
  const folder = temporaryFolder();
  const child = startChild("hold-lock", [folder, "shared"]);
  await child.line("holding");
  process.kill(child.pid, "SIGSTOP");
  await expect(fileStore(folder).open("shared", { mode: "write" })).rejects.toMatchObject({
    code: "session_locked",
    details: { holder: "another process" },
  });
});

test("two ways to one folder are one session", async () => {
  const folder = temporaryFolder();
  const link = join(temporaryFolder(), "link");
  symlinkSync(folder, link);
  const log = await fileStore(folder).open("s", { mode: "write" });
  await expect(fileStore(link).open("s", { mode: "write" })).rejects.toMatchObject({
    code: "session_locked",
  });
  await log.close();
  const next = await fileStore(link).open("s", { mode: "write" });
  await next.close();
});

test("an opening that fails frees the lock again", async () => {
  const folder = temporaryFolder();
  symlinkSync("/dev/null", join(folder, "s.jsonl"));
  const store = fileStore(folder);
  await expect(store.open("s", { mode: "write" })).rejects.toMatchObject({ code: "log_unreadable" });
  await expect(store.open("s", { mode: "write" })).rejects.toMatchObject({ code: "log_unreadable" });
});

const elsewhere = (): string => {
  const platform = process.platform;
  Object.defineProperty(process, "platform", { value: "darwin" });
  afterTest(() => void Object.defineProperty(process, "platform", { value: platform }));
  return temporaryFolder();
};

describe("where there are no abstract sockets, a lock file", () => {
  test("holds the session for this process, and is gone when it is closed", async () => {
    const folder = elsewhere();
    const log = await fileStore(folder).open("s", { mode: "write" });
    expect(readdirSync(folder)).toEqual(["s.jsonl.lock"]);
    await expect(fileStore(folder).open("s", { mode: "write" })).rejects.toMatchObject({
      code: "session_locked",
      details: { holder: "this process" },
    });
    await log.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("of a process that lives is respected, of one that is gone taken over", async () => {
    const folder = elsewhere();
    const child = startChild("hold-lock", [temporaryFolder(), "other"]);
    await child.line("holding");
    writeFileSync(join(folder, "s.jsonl.lock"), String(child.pid));
    const store = fileStore(folder);
    await expect(store.open("s", { mode: "write" })).rejects.toMatchObject({
      code: "session_locked",
      details: { holder: `process ${child.pid}` },
    });
    await child.kill();
    const log = await store.open("s", { mode: "write" });
    await log.append([notice("taken over")]);
    await log.close();
  });

  test("is taken over by one process at a time: while another does it, nobody else may", async () => {
    const folder = elsewhere();
    const child = startChild("hold-lock", [temporaryFolder(), "other"]);
    await child.line("holding");
    const dead = "999999999";
    writeFileSync(join(folder, "s.jsonl.lock"), dead);
    writeFileSync(join(folder, "s.jsonl.lock.takeover"), String(child.pid));
    const store = fileStore(folder);
    await expect(store.open("s", { mode: "write" })).rejects.toMatchObject({ code: "session_locked" });
    expect(readFileSync(join(folder, "s.jsonl.lock"), "latin1")).toBe(dead);
    // One that died in the middle of it is in nobody's way.
    await child.kill();
    const log = await store.open("s", { mode: "write" });
    expect(readFileSync(join(folder, "s.jsonl.lock"), "latin1")).toBe(String(process.pid));
    await log.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("that names nobody is taken over", async () => {
    const folder = elsewhere();
    writeFileSync(join(folder, "s.jsonl.lock"), "nonsense");
    const log = await fileStore(folder).open("s", { mode: "write" });
    await log.close();
  });
});
