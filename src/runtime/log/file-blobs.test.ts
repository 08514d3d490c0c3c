import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { afterTest, temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { fileStore } from "./file-store.ts";
import type { Log } from "./log.ts";

const BYTES = Buffer.from("a blob");
const NAME = createHash("sha256").update(BYTES).digest("hex");

async function opened(): Promise<{ readonly folder: string; readonly blobs: string; readonly log: Log }> {
  const folder = temporaryFolder();
  const log = await fileStore(folder).open("s", { mode: "write" });
  afterTest(() => log.close());
  return { folder, blobs: join(folder, "s.blobs"), log };
}

/** What another program or person may have put in place of a blob. */
const INSTEAD_OF_A_BLOB: readonly (readonly [string, string, (path: string, folder: string) => void])[] = [
  ["a folder", "EISDIR", (path) => mkdirSync(path)],
  ["a pipe", "EINVAL", (path) => void execFileSync("mkfifo", [path])],
  [
    "a link to the same bytes",
    "ELOOP",
    (path, folder) => {
      writeFileSync(join(folder, "elsewhere"), BYTES);
      symlinkSync(join(folder, "elsewhere"), path);
    },
  ],
  ["a link to itself", "ELOOP", (path) => symlinkSync(path, path)],
  ["a link to a device", "ELOOP", (path) => symlinkSync("/dev/zero", path)],
];

const INSTEAD_OF_THE_FOLDER: readonly (readonly [string, (path: string, folder: string) => void])[] = [
  ["a file", (path) => writeFileSync(path, "")],
  ["a pipe", (path) => void execFileSync("mkfifo", [path])],
  [
    "a link to another folder",
    (path, folder) => {
      mkdirSync(join(folder, "elsewhere"));
      writeFileSync(join(folder, "elsewhere", NAME), BYTES);
      symlinkSync(join(folder, "elsewhere"), path);
    },
  ],
  ["a link to nowhere", (path, folder) => symlinkSync(join(folder, "nowhere"), path)],
];

describe("a blob that cannot be read", () => {
  test.for(INSTEAD_OF_A_BLOB)(
    "fails with blob_unreadable if %s is in its place (%s)",
    async ([, errno, plant]) => {
      const { folder, blobs, log } = await opened();
      mkdirSync(blobs);
      plant(join(blobs, NAME), folder);
      await expect(log.getBlob(NAME)).rejects.toMatchObject({
        name: "ThroughlineError",
        code: "blob_unreadable",
        message: expect.stringMatching(/is in its place\. Move it away/),
        details: { blob: NAME, errno },
      });
    },
  );

  test.for(INSTEAD_OF_THE_FOLDER)(
    "fails with blob_unreadable if %s is in place of the folder",
    async ([, plant]) => {
      const { folder, blobs, log } = await opened();
      plant(blobs, folder);
      await expect(log.getBlob(NAME)).rejects.toMatchObject({
        code: "blob_unreadable",
        details: { blob: NAME, errno: "ENOTDIR" },
      });
    },
  );

  test("is undefined if it does not exist", async () => {
    const { log } = await opened();
    expect(await log.getBlob(NAME)).toBeUndefined();
    expect(await log.getBlob("../../etc/passwd")).toBeUndefined();
  });
});

describe("a blob that cannot be written", () => {
  test.for(INSTEAD_OF_THE_FOLDER)(
    "fails with blob_write_failed if %s is in place of the folder",
    async ([, plant]) => {
      const { folder, blobs, log } = await opened();
      plant(blobs, folder);
      const before = existsSync(join(folder, "elsewhere")) ? readdirSync(join(folder, "elsewhere")) : [];
      await expect(log.putBlob(BYTES)).rejects.toMatchObject({
        name: "ThroughlineError",
        code: "blob_write_failed",
        message: expect.stringContaining("Move it away"),
        details: { blob: NAME, errno: "ENOTDIR" },
      });
      expect(existsSync(join(folder, "elsewhere")) ? readdirSync(join(folder, "elsewhere")) : []).toEqual(
        before,
      );
    },
  );

  test("is an error if a folder is in its place, while a link or a pipe is replaced and not followed", async () => {
    const { folder, blobs, log } = await opened();
    mkdirSync(join(blobs, NAME), { recursive: true });
    await expect(log.putBlob(BYTES)).rejects.toMatchObject({ code: "blob_write_failed" });
    rmSync(join(blobs, NAME), { recursive: true });
    writeFileSync(join(folder, "precious"), "precious");
    symlinkSync(join(folder, "precious"), join(blobs, NAME));
    symlinkSync(join(folder, "precious"), join(blobs, `${NAME}.${process.pid}.tmp`));
    expect(await log.putBlob(BYTES)).toBe(NAME);
    expect(readFileSync(join(folder, "precious"), "utf8")).toBe("precious");
    expect(await log.getBlob(NAME)).toEqual(BYTES);
    expect(statSync(join(blobs, NAME)).mode & 0o777).toBe(0o600);
  });

  test.skipIf(process.getuid?.() === 0)("fails with EACCES if the folder lacks permission", async () => {
    const { blobs, log } = await opened();
    mkdirSync(blobs);
    chmodSync(blobs, 0o500);
    await expect(log.putBlob(BYTES)).rejects.toMatchObject({
      code: "blob_write_failed",
      details: { errno: "EACCES" },
    });
    chmodSync(blobs, 0o700);
  });
});

const tear = async (folder: string): Promise<void> => {
  const log = await fileStore(folder).open("s", { mode: "write" });
  await log.append([{ type: "session_start", session: "s", root: "s", writer: "test" }]);
  await log.close();
  const path = join(folder, "s.jsonl");
  writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('{"v":1,"seq":1')]));
};

describe("next to a log", () => {
  test.for(["pipe", "link", "folder"] as const)(
    "a %s under the name of a torn tail is left alone",
    async (kind) => {
      const folder = temporaryFolder();
      await tear(folder);
      const whole = readFileSync(join(folder, "s.jsonl")).indexOf("\n") + 1;
      const name = join(folder, `s.torn-${whole}`);
      writeFileSync(join(folder, "precious"), "precious");
      if (kind === "pipe") execFileSync("mkfifo", [name]);
      else if (kind === "link") symlinkSync(join(folder, "precious"), name);
      else mkdirSync(name);
      const log = await fileStore(folder).open("s", { mode: "write" });
      await log.close();
      expect(readFileSync(`${name}-2`, "utf8")).toBe('{"v":1,"seq":1');
      expect(readFileSync(join(folder, "precious"), "utf8")).toBe("precious");
    },
  );

  test.for(["pipe", "link", "folder"] as const)(
    "a %s in place of the scratch journal is not read",
    async (kind) => {
      const { folder, log } = await opened();
      const name = join(folder, "s.live");
      writeFileSync(join(folder, "precious"), "precious");
      if (kind === "pipe") execFileSync("mkfifo", [name]);
      else if (kind === "link") symlinkSync(join(folder, "precious"), name);
      else mkdirSync(name);
      log.scratch.write(["live"]);
      expect(await log.scratch.rows()).toEqual([]);
      expect(readFileSync(join(folder, "precious"), "utf8")).toBe("precious");
    },
  );
});
