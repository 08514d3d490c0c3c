import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { linesOf, temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { fileStore } from "./index.ts";

const notice = (message: string) => ({ type: "notice", code: "test", message }) as const;

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Creates and closes a log with these messages; returns the path of its file. */
async function written(folder: string, ...messages: readonly string[]): Promise<string> {
  const log = await fileStore(folder).open("s", { mode: "write" });
  for (const message of messages) await log.append([notice(message)]);
  await log.close();
  return join(folder, "s.jsonl");
}

async function messagesIn(folder: string, mode: "write" | "read" = "read"): Promise<readonly string[]> {
  const log = await fileStore(folder).open("s", { mode });
  await log.close();
  return log.events.map((event) =>
    event.type === "notice" ? `${event.code}: ${event.message}` : event.type,
  );
}

describe("a torn tail", () => {
  test("is saved to another file, cut by the next writer, and noted in the log with its next append", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a", "b");
    const whole = readFileSync(path);
    const torn = Buffer.from('{"v":1,"seq":2,"id":"ev_x","at":"2026-1');
    appendFileSync(path, torn);

    expect(await messagesIn(folder)).toEqual(["test: a", "test: b"]);
    expect(readFileSync(path)).toEqual(Buffer.concat([whole, torn])); // a reader changes nothing

    const log = await fileStore(folder).open("s", { mode: "write" });
    expect(readFileSync(path)).toEqual(whole);
    const saved = join(folder, `s.torn-${whole.length}`);
    expect([readFileSync(saved), modeOf(saved)]).toEqual([torn, "600"]);
    const appended = await log.append([notice("c")]);
    expect(appended).toMatchObject([{ seq: 3, message: "c" }]);
    await log.close();
    expect(await messagesIn(folder)).toEqual([
      "test: a",
      "test: b",
      `log_tail_cut: ${torn.length} bytes of an unfinished write at the end of the log were moved to ${saved}`,
      "test: c",
    ]);
  });

  test("of any length is repaired so that the log continues", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a", "b", "c");
    const whole = readFileSync(path);
    const last = linesOf(path).at(-1)?.length ?? 0;
    for (let cut = 1; cut <= last; cut += 7) {
      writeFileSync(path, whole.subarray(0, whole.length - cut));
      const log = await fileStore(folder).open("s", { mode: "write" });
      await log.append([notice("again")]);
      await log.close();
      expect((await messagesIn(folder)).filter((text) => text.startsWith("test"))).toEqual([
        "test: a",
        "test: b",
        "test: again",
      ]);
    }
  });

  test("of zeros is saved and cut like any other", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a");
    const size = statSync(path).size;
    appendFileSync(path, Buffer.alloc(5000));
    const log = await fileStore(folder).open("s", { mode: "write" });
    await log.close();
    expect([statSync(path).size, statSync(join(folder, `s.torn-${size}`)).size]).toEqual([size, 5000]);
  });

  test("that is all there is leaves an empty, writable log, and its notice follows session_start", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "s.jsonl"), '{"v":1,"se');
    const log = await fileStore(folder).open("s", { mode: "write" });
    expect(log.events).toEqual([]);
    expect(await log.append([notice("a")])).toMatchObject([{ seq: 0, message: "a" }]);
    await log.append([notice("b")]);
    await log.close();
    const saved = join(folder, "s.torn-0");
    expect(await messagesIn(folder)).toEqual([
      "test: a",
      `log_tail_cut: 10 bytes of an unfinished write at the end of the log were moved to ${saved}`,
      "test: b",
    ]);
  });
});

describe("damage anywhere else", () => {
  test("is refused to writer and reader with line and byte, and nothing on the disk changes", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a", "b", "c");
    const bytes = readFileSync(path);
    const at = bytes.indexOf('"b"') + 1;
    bytes[at] = "B".charCodeAt(0);
    writeFileSync(path, bytes);
    const byte = bytes.indexOf("\n") + 1;
    for (const mode of ["write", "read"] as const) {
      await expect(fileStore(folder).open("s", { mode })).rejects.toMatchObject({
        code: "log_damaged",
        details: { line: 2, byte, problem: "the checksum does not match" },
      });
    }
    expect(readFileSync(path)).toEqual(bytes);
    expect(readdirSync(folder)).toEqual(["s.jsonl", "s.summary"]);
  });

  test("is recognized when a space became NUL: it is not a tail, and nothing acknowledged is cut", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a b", "c", "d");
    const bytes = readFileSync(path);
    bytes[bytes.indexOf("a b") + 1] = 0;
    writeFileSync(path, bytes);
    await expect(fileStore(folder).open("s", { mode: "write" })).rejects.toMatchObject({
      code: "log_damaged",
    });
    expect(readFileSync(path)).toEqual(bytes);
  });

  test("is reported by its position in the file if it appears while a reader is open", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a", "b");
    const reader = await fileStore(folder).open("s", { mode: "read" });
    const size = statSync(path).size;
    appendFileSync(path, `${linesOf(path)[0] ?? ""}\n`);
    await expect(reader.refresh()).rejects.toMatchObject({
      code: "log_damaged",
      details: { line: 3, byte: size, problem: "seq is 0, expected 2" },
    });
  });
});

describe("a reader next to a writer", () => {
  test("never sees half an event, however the bytes arrive", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a", "b ü 😀", "c");
    const whole = readFileSync(path);
    const slow = join(folder, "slow.jsonl");
    writeFileSync(slow, "", { mode: 0o600 });
    const reader = await fileStore(folder).open("slow", { mode: "read" });
    const seen: string[] = [];
    for (let at = 0; at < whole.length; at += 3) {
      appendFileSync(slow, whole.subarray(at, at + 3));
      for (const event of await reader.refresh()) seen.push(event.type === "notice" ? event.message : "?");
    }
    expect(seen).toEqual(["a", "b ü 😀", "c"]);
  });
});

describe("file modes", () => {
  test("are 0700 for the folder and 0600 for every file in it", async () => {
    const folder = join(temporaryFolder(), "deep", "sessions");
    const log = await fileStore(folder).open("s", { mode: "write" });
    await log.append([notice("a")]);
    const blob = await log.putBlob(Buffer.from("x"));
    log.scratch.write(["live"]);
    expect({
      folder: modeOf(folder),
      log: modeOf(join(folder, "s.jsonl")),
      blobs: modeOf(join(folder, "s.blobs")),
      blob: modeOf(join(folder, "s.blobs", blob)),
      live: modeOf(join(folder, "s.live")),
    }).toEqual({ folder: "700", log: "600", blobs: "700", blob: "600", live: "600" });
    await log.close();
  });

  test("are tightened on a log that others could read when its owner opens it; a shared folder keeps its mode", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a");
    chmodSync(path, 0o644);
    chmodSync(folder, 0o755);
    expect(await messagesIn(folder)).toEqual(["test: a"]);
    expect([modeOf(path), modeOf(folder)]).toEqual(["600", "755"]);
  });
});

const refused = async (folder: string, why: RegExp): Promise<void> => {
  for (const mode of ["write", "read"] as const) {
    await expect(fileStore(folder).open("s", { mode })).rejects.toMatchObject({
      code: "log_unreadable",
      message: expect.stringMatching(why),
    });
  }
};

describe("the store refuses anything that is not a regular file", () => {
  test("such as a symbolic link, even to a good log", async () => {
    const elsewhere = temporaryFolder();
    const path = await written(elsewhere, "a");
    const folder = temporaryFolder();
    symlinkSync(path, join(folder, "s.jsonl"));
    await refused(folder, /symbolic link/);
    expect(linesOf(path)).toHaveLength(1);
  });

  test("such as a pipe, without waiting for its other end", async () => {
    const folder = temporaryFolder();
    execFileSync("mkfifo", [join(folder, "s.jsonl")]);
    await refused(folder, /not a regular file/);
  });

  test("such as a directory", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "s.jsonl"));
    await refused(folder, /regular file|directory/);
  });

  test("such as a link made after opening: the first append refuses it and does not write through it", async () => {
    const folder = temporaryFolder();
    const log = await fileStore(folder).open("s", { mode: "write" });
    const victim = join(folder, "victim");
    writeFileSync(victim, "precious");
    symlinkSync(victim, join(folder, "s.jsonl"));
    await expect(log.append([notice("a")])).rejects.toMatchObject({
      code: "log_write_failed",
      details: { errno: "EEXIST" },
    });
    expect(readFileSync(victim, "utf8")).toBe("precious");
    await log.close();
  });

  test("but treats a hard link to another session as a file: the log says whose it is, and nothing is lost", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a");
    linkSync(path, join(folder, "t.jsonl"));
    const log = await fileStore(folder).open("t", { mode: "read" });
    expect(log.events).toHaveLength(1);
  });
});

const list = async (place: string): Promise<readonly string[]> => {
  const ids: string[] = [];
  for await (const { id } of fileStore(place).list()) ids.push(id);
  return ids;
};

describe("the folder of sessions", () => {
  test("causes a clear error if it cannot be created", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    await expect(fileStore(join(file, "sub")).open("s", { mode: "write" })).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringContaining("Choose another folder"),
    });
  });

  test("has no sessions if it does not exist, and other files in it are not sessions", async () => {
    const folder = temporaryFolder();
    expect(await list(join(folder, "nowhere"))).toEqual([]);
    await written(folder, "a");
    writeFileSync(join(folder, "notes.txt"), "");
    writeFileSync(join(folder, "-bad.jsonl"), "");
    mkdirSync(join(folder, "dir.jsonl"));
    symlinkSync(join(folder, "s.jsonl"), join(folder, "link.jsonl"));
    expect(await list(folder)).toEqual(["s"]);
  });
});

test("each line is flat JSON that jq can read, and the checksum is its last field", async () => {
  const folder = temporaryFolder();
  const path = await written(folder, "a\u2028b");
  const [line = ""] = linesOf(path);
  expect(line).not.toContain("\u2028");
  expect(Object.keys(JSON.parse(line) as object)).toEqual([
    "v",
    "seq",
    "id",
    "at",
    "epoch",
    "type",
    "code",
    "message",
    "sum",
  ]);
});

test("appending never rewrites old bytes, whatever wrote them", async () => {
  const folder = temporaryFolder();
  const path = await written(folder, "a");
  const before = readFileSync(path);
  await written(folder, "b");
  expect(readFileSync(path).subarray(0, before.length)).toEqual(before);
});

test("if the scratch cannot be written, events still are", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "s.live"));
  const log = await fileStore(folder).open("s", { mode: "write" });
  log.scratch.write(["lost"]);
  expect(await log.scratch.rows()).toEqual([]);
  log.scratch.clear();
  await log.append([notice("a")]);
  await log.close();
  expect(await messagesIn(folder)).toEqual(["test: a"]);
  expect(existsSync(join(folder, "s.jsonl"))).toBe(true);
});

describe("a log that was just read", () => {
  test("is not parsed again by the store that read it, neither to read nor to write", async () => {
    const folder = temporaryFolder();
    await written(folder, "a", "b");
    const store = fileStore(folder);
    const first = await store.open("s", { mode: "read" });
    await first.close();
    const second = await store.open("s", { mode: "read" });
    await second.close();
    const writer = await store.open("s", { mode: "write" });
    expect(second.events[1]).toBe(first.events[1]);
    expect(writer.events[1]).toBe(first.events[1]);
    await writer.append([notice("c")]);
    await writer.close();
    expect(first.events.length).toBe(2); // the writer's events are its own
    expect(await messagesIn(folder)).toEqual(["test: a", "test: b", "test: c"]);
  });

  test("is parsed again if another process wrote to it, changed a byte, or replaced the file", async () => {
    const folder = temporaryFolder();
    const path = await written(folder, "a", "b");
    const store = fileStore(folder);
    const messages = async (): Promise<readonly string[]> => {
      const log = await store.open("s", { mode: "read" });
      await log.close();
      return log.events.map((event) => (event.type === "notice" ? event.message : event.type));
    };
    expect(await messages()).toEqual(["a", "b"]);
    await written(folder, "c");
    expect(await messages()).toEqual(["a", "b", "c"]);
    const whole = readFileSync(path);
    const other = temporaryFolder();
    renameSync(await written(other, "x", "y", "z"), path);
    expect(await messages()).toEqual(["x", "y", "z"]);
    const damaged = Buffer.from(readFileSync(path));
    damaged[damaged.indexOf('"y"') + 1] = "Y".charCodeAt(0);
    writeFileSync(path, damaged);
    await expect(messages()).rejects.toMatchObject({ code: "log_damaged" });
    writeFileSync(path, whole);
    expect(await messages()).toEqual(["a", "b", "c"]);
  });
});
