import { symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { startChild, temporaryFolder } from "../../test/contracts/file-fixture.ts";
import { fileStore } from "./index.ts";

const notice = (message: string) => ({ type: "notice", code: "test", message }) as const;

test("another process that holds the session is named by its pid, and kill -9 frees it at once", async () => {
  const folder = temporaryFolder();
  const child = startChild("test/contracts/hold-lock.ts", [folder, "shared"]);
  expect(await child.line("holding")).toBe(String(child.pid));
  const store = fileStore(folder);

  const refused: unknown = await store.open("shared", { mode: "write" }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
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
  const child = startChild("test/contracts/hold-lock.ts", [folder, "shared"]);
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
