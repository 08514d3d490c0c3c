import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { codeOf, type JsonObject } from "../../../base/support/index.ts";
import { builtinTools } from "./index.ts";

let work: string;

beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "throughline-files-")));
});

afterEach(() => {
  rmSync(work, { recursive: true, force: true });
});

const idle = new AbortController().signal;

async function call(name: string, input: JsonObject, signal: AbortSignal = idle): Promise<string> {
  const found = builtinTools({ cwd: work }).find((each) => each.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  const verdict = await found.validate(input);
  if (!verdict.ok) throw new Error(verdict.message);
  return (await found.run(verdict.value, {
    signal,
    callId: "c",
    idempotencyKey: "k",
    progress: () => {},
  })) as string;
}

async function codeOfFailure(promise: Promise<unknown>): Promise<string | undefined> {
  return promise.then(
    () => undefined,
    (error: unknown) => codeOf(error),
  );
}

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(join(work, path, ".."), { recursive: true });
  writeFileSync(join(work, path), content);
}

function get(path: string): string {
  return readFileSync(join(work, path), "utf8");
}

test("names and access classes are as documented", () => {
  expect(builtinTools({ cwd: work }).map((each) => [each.name, each.access])).toEqual([
    ["list_files", "read"],
    ["read_file", "read"],
    ["search_files", "read"],
    ["write_file", "write"],
    ["edit_file", "write"],
    ["run_command", "execute"],
  ]);
});

describe("list_files", () => {
  test("sorts, marks directories and links, and escapes line breaks in names", async () => {
    put("b.txt", "");
    put("a/x", "");
    put("new\nline", "");
    symlinkSync("b.txt", join(work, "link"));
    expect(await call("list_files", {})).toBe('"new\\nline"\na/\nb.txt\nlink@');
    expect(await call("list_files", { path: "a" })).toBe("x");
  });

  test("says when a directory is empty, missing or a file", async () => {
    expect(await call("list_files", {})).toBe("(the directory is empty)");
    put("f", "");
    expect(await codeOfFailure(call("list_files", { path: "none" }))).toBe("path_not_found");
    expect(await codeOfFailure(call("list_files", { path: "f" }))).toBe("not_a_directory");
  });

  test("is bounded and says how many entries were left out", async () => {
    for (let index = 0; index < 1005; index += 1) put(`f${String(index).padStart(4, "0")}`, "");
    const lines = (await call("list_files", {})).split("\n");
    expect(lines).toHaveLength(1001);
    expect(lines.at(-1)).toBe("[5 entries left out]");
  });
});

describe("read_file", () => {
  test("returns text exactly", async () => {
    const text = "\uFEFFfirst\r\n\tzwei ü 😀\n\nlast without newline";
    put("a.txt", text);
    expect(await call("read_file", { path: "a.txt" })).toBe(text);
    put("empty", "");
    expect(await call("read_file", { path: "empty" })).toBe("");
  });

  test("returns any range of lines exactly as slicing the lines would", async () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "😀", "\r") }), {
      minLength: 1,
      maxLength: 8,
    });
    const property = fc.asyncProperty(
      lines,
      fc.boolean(),
      fc.nat(9),
      fc.nat(9),
      async (given, newline, a, b) => {
        const text = given.join("\n") + (newline ? "\n" : "");
        put("p.txt", text);
        const expected = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const [startLine, endLine] = [a + 1, a + 1 + b];
        const read = call("read_file", { path: "p.txt", startLine, endLine });
        if (startLine > Math.max(1, expected.length)) expect(await codeOfFailure(read)).toBe("range_invalid");
        else expect(await read).toBe(expected.slice(startLine - 1, endLine).join(""));
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test("finds lines beyond the first chunk", async () => {
    put("long.txt", Array.from({ length: 50_000 }, (_, index) => `line ${index + 1}\n`).join(""));
    expect(await call("read_file", { path: "long.txt", startLine: 49_999 })).toBe("line 49999\nline 50000\n");
    const failure = call("read_file", { path: "long.txt", startLine: 50_001 });
    await expect(failure).rejects.toMatchObject({
      code: "range_invalid",
      message: expect.stringContaining("50000") as string,
    });
  });

  test("stops at 1 MiB, on a character boundary, and says where to continue", async () => {
    put("big.txt", `x${"é".repeat(1024 * 1024)}`);
    const text = await call("read_file", { path: "big.txt" });
    expect(
      text.startsWith(
        `x${"é".repeat(524_287)}\n[cut after 1048576 bytes, in line 1; the file has 2097153 bytes`,
      ),
    ).toBe(true);
  });

  test("notes binary files and bytes that are not UTF-8", async () => {
    put("a.bin", new Uint8Array([1, 0, 2]));
    expect(await call("read_file", { path: "a.bin" })).toBe(
      "[a.bin is a binary file of 3 bytes; it is not shown]",
    );
    put("latin1.txt", new Uint8Array([0x67, 0xfc, 0x0a]));
    expect(await call("read_file", { path: "latin1.txt" })).toMatch(
      /^g\uFFFD\n\[some bytes are not valid UTF-8/,
    );
  });

  test.each<[JsonObject, string]>([
    [{ path: "none" }, "path_not_found"],
    [{ path: "." }, "not_a_file"],
    [{ path: "f/x" }, "not_a_directory"],
    [{ path: "" }, "path_invalid"],
    [{ path: "a\0b" }, "path_invalid"],
    [{ path: "x".repeat(300) }, "path_invalid"],
    [{ path: "f", startLine: 3, endLine: 2 }, "range_invalid"],
  ])("%j fails with %s", async (input, code) => {
    put("f", "1\n2\n3\n");
    expect(await codeOfFailure(call("read_file", input))).toBe(code);
  });

  test("does not reveal absolute paths in errors", async () => {
    await expect(call("read_file", { path: "none" })).rejects.toThrow(
      '"none" does not exist. See what is there with list_files.',
    );
  });

  test("stops when the call is cancelled", async () => {
    put("f", "x");
    await expect(call("read_file", { path: "f" }, AbortSignal.abort(new Error("stop")))).rejects.toThrow(
      "stop",
    );
  });
});

describe("search_files", () => {
  test("returns file, line and text in a stable order, and skips files that are not source", async () => {
    put("b.txt", "x\r\nneedle two\r\n");
    put("a/c.txt", "needle one");
    put("a/.git/config", "needle");
    put("node_modules/m/index.js", "needle");
    put("bin", new Uint8Array([...Buffer.from("needle"), 0]));
    put("huge.txt", `needle${"x".repeat(1024 * 1024)}`);
    expect(await call("search_files", { pattern: "need+le \\w" })).toBe(
      "a/c.txt:1: needle one\nb.txt:2: needle two\n[2 binary, large or unreadable files were skipped]",
    );
    expect(await call("search_files", { pattern: "needle", path: "node_modules/m" })).toBe(
      "node_modules/m/index.js:1: needle",
    );
    expect(await call("search_files", { pattern: "two", path: "b.txt" })).toBe("b.txt:2: needle two");
  });

  test("says when nothing matches, and accepts a leading (?i)", async () => {
    put("a", "Needle");
    expect(await call("search_files", { pattern: "needle" })).toBe("no matches in 1 files");
    expect(await call("search_files", { pattern: "(?i)needle" })).toBe("a:1: Needle");
  });

  test("is bounded in matches and in the length of a line", async () => {
    put("a", "needle\n".repeat(500));
    put("b", "needle\n");
    const lines = (await call("search_files", { pattern: "needle" })).split("\n");
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toMatch(/^\[stopped at 200 matches/);
    put("c/long", "y".repeat(10_000));
    expect((await call("search_files", { pattern: "y", path: "c" })).length).toBeLessThan(400);
  });

  test("explains a malformed pattern", async () => {
    expect(await codeOfFailure(call("search_files", { pattern: "(" }))).toBe("pattern_invalid");
  });

  test("gives up on a pattern that backtracks forever, file by file and then entirely", async () => {
    put("a", `${"a".repeat(50)}b`);
    put("z", "aaa");
    expect(await call("search_files", { pattern: "^(a+)+$" })).toBe(
      "z:1: aaa\n[gave up on a: the pattern takes too long there]",
    );
    for (const name of ["b", "c"]) put(name, `${"a".repeat(50)}b`);
    expect(await codeOfFailure(call("search_files", { pattern: "^(a+)+$" }))).toBe("pattern_slow");
  });
});

describe("write_file", () => {
  test("creates missing parents, replaces files, and leaves no temporary file", async () => {
    expect(await call("write_file", { path: "a/b/c.txt", content: "é" })).toBe("created a/b/c.txt (2 bytes)");
    expect(await call("write_file", { path: "a/b/c.txt", content: "" })).toBe("replaced a/b/c.txt (0 bytes)");
    expect(get("a/b/c.txt")).toBe("");
    expect(readdirSync(join(work, "a/b"))).toEqual(["c.txt"]);
  });

  test("keeps the mode of an existing file and applies the umask to a new one", async () => {
    put("run.sh", "old");
    chmodSync(join(work, "run.sh"), 0o750);
    await call("write_file", { path: "run.sh", content: "new" });
    expect(statSync(join(work, "run.sh")).mode & 0o7777).toBe(0o750);
    await call("write_file", { path: "new.txt", content: "" });
    put("reference.txt", "");
    expect(statSync(join(work, "new.txt")).mode).toBe(statSync(join(work, "reference.txt")).mode);
  });

  test("never shows a reader partial content", async () => {
    const [old, fresh] = ["a".repeat(300_000), "b".repeat(300_000)];
    put("f", old);
    const writing = call("write_file", { path: "f", content: fresh });
    const seen = new Set<string>();
    for (let round = 0; round < 50; round += 1) seen.add(await call("read_file", { path: "f" }));
    await writing;
    expect([...seen].every((text) => text === old || text === fresh)).toBe(true);
    expect(get("f")).toBe(fresh);
  });

  test.each<[string, string]>([
    [".", "not_a_file"],
    ["dir", "not_a_file"],
    ["f/under-a-file", "not_a_directory"],
    ["x".repeat(300), "path_invalid"],
  ])("%s fails with %s and leaves nothing behind", async (path, code) => {
    put("f", "");
    mkdirSync(join(work, "dir"));
    expect(await codeOfFailure(call("write_file", { path, content: "x" }))).toBe(code);
    expect(readdirSync(work).toSorted()).toEqual(["dir", "f"]);
  });

  test("keeps the old content and leaves no temporary file if cancelled before the last step", async () => {
    put("f", "old");
    const abort = new AbortController();
    let checks = 0;
    abort.signal.throwIfAborted = () => {
      checks += 1;
      if (checks < 2) return;
      abort.abort(new Error("late"));
      throw abort.signal.reason;
    };
    await expect(call("write_file", { path: "f", content: "new" }, abort.signal)).rejects.toThrow("late");
    expect(readdirSync(work)).toEqual(["f"]);
    expect(get("f")).toBe("old");
  });

  test("does nothing once the call is cancelled", async () => {
    await expect(
      call("write_file", { path: "f", content: "x" }, AbortSignal.abort(new Error("stop"))),
    ).rejects.toThrow("stop");
    expect(readdirSync(work)).toEqual([]);
  });
});

describe("edit_file", () => {
  test("replaces exact text and treats neither side as a pattern", async () => {
    put("f", "a.b $& (x)\n");
    chmodSync(join(work, "f"), 0o640);
    expect(await call("edit_file", { path: "f", find: ".b $& (", replace: "$1$&$$" })).toBe(
      "replaced 1 occurrence in f",
    );
    expect(get("f")).toBe("a$1$&$$x)\n");
    expect(statSync(join(work, "f")).mode & 0o777).toBe(0o640);
  });

  test.each<[string, string, string]>([
    ["missing", "none", "occurs 0 times"],
    ["not unique", "a", "occurs 3 times"],
    ["overlapping with itself", "bb", "occurs 2 times"],
    ["the replacement itself", "x", "the same"],
  ])("changes nothing if the text is %s, and says why", async (_, find, reason) => {
    put("f", "aaa bbb");
    const failure = call("edit_file", { path: "f", find, replace: "x" });
    await expect(failure).rejects.toMatchObject({
      code: "edit_failed",
      message: expect.stringContaining(reason) as string,
    });
    expect(get("f")).toBe("aaa bbb");
  });

  test("replaces every occurrence with all", async () => {
    put("f", "a-a-a");
    expect(await call("edit_file", { path: "f", find: "a", replace: "aa", all: true })).toBe(
      "replaced 3 occurrences in f",
    );
    expect(get("f")).toBe("aa-aa-aa");
  });

  test("gives different line endings as the reason", async () => {
    put("f", "one\r\ntwo\r\n");
    await expect(call("edit_file", { path: "f", find: "one\ntwo", replace: "x" })).rejects.toThrow(
      /other line endings/,
    );
  });

  test("does not touch a file that is not text", async () => {
    const bytes = new Uint8Array([0x61, 0xff, 0x62]);
    put("f", bytes);
    expect(await codeOfFailure(call("edit_file", { path: "f", find: "a", replace: "c" }))).toBe(
      "edit_failed",
    );
    expect(new Uint8Array(readFileSync(join(work, "f")))).toEqual(bytes);
    expect(await codeOfFailure(call("edit_file", { path: "none", find: "a", replace: "c" }))).toBe(
      "path_not_found",
    );
  });

  test("applies parallel edits of one file in the order of the calls, without undoing each other", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    await Promise.all([
      call("write_file", { path: "f", content: names.join("") }),
      ...names.map((name) => call("edit_file", { path: "f", find: name, replace: name.replace("<", "(") })),
    ]);
    expect(get("f")).toBe(names.map((name) => name.replace("<", "(")).join(""));
  });
});
