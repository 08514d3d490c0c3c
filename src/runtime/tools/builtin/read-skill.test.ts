import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { skillTool } from "./read-skill.ts";

let top = "";
let folder = "";

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "throughline-skill-")));
  folder = join(top, "pdf");
  write("pdf/SKILL.md", "Do this.");
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function write(name: string, content: string | Buffer): string {
  mkdirSync(dirname(join(top, name)), { recursive: true });
  writeFileSync(join(top, name), content);
  return join(top, name);
}
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

const context = {
  signal: new AbortController().signal,
  callId: "c",
  idempotencyKey: "k",
  progress: () => undefined,
};
async function read(input: object, files?: Readonly<Record<string, string>>): Promise<unknown> {
  try {
    return await skillTool([{ name: "pdf", folder, files }]).run(input, context);
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

describe("read_skill", () => {
  test("is a tool that only reads, and may run again", () => {
    expect(skillTool([])).toMatchObject({ name: "read_skill", access: "read", idempotent: true });
  });

  test("returns SKILL.md, or another file below the folder", async () => {
    write("pdf/doc/more.md", "More.");
    expect(await read({ name: "pdf" })).toBe("Do this.");
    expect(await read({ name: "pdf", file: "doc/more.md" })).toBe("More.");
    expect(await read({ name: "pdf", file: join(folder, "doc/../SKILL.md") })).toBe("Do this.");
  });

  test("does not know other skills", async () => {
    expect(await read({ name: "pfd" })).toBe("skill_unknown");
    await expect(skillTool([{ name: "pdf", folder }]).run({ name: "pfd" }, context)).rejects.toThrow(
      'did you mean "pdf"',
    );
  });

  test("does not leave the folder by a path or a link", async () => {
    const secret = write("secret", "private");
    write("pdf2/SKILL.md", "other");
    symlinkSync(secret, join(folder, "link"));
    symlinkSync(top, join(folder, "up"));
    for (const file of ["../secret", secret, "link", "up/secret", "../pdf2/SKILL.md", "/etc/passwd"])
      expect([file, await read({ name: "pdf", file })]).toEqual([file, "path_outside"]);
    for (const file of ["", "a\0b"]) expect(await read({ name: "pdf", file })).toBe("path_invalid");
  });

  test("follows a link inside the folder", async () => {
    symlinkSync("SKILL.md", join(folder, "again.md"));
    expect(await read({ name: "pdf", file: "again.md" }, { "SKILL.md": hashOf("Do this.") })).toBe(
      "Do this.",
    );
  });

  test("refuses pipes, folders, missing and large files, and does not show binary ones", async () => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    mkdirSync(join(folder, "sub"));
    write("pdf/large", "x".repeat(64 * 1024 + 1));
    write("pdf/full", "x".repeat(64 * 1024));
    write("pdf/binary", Buffer.from([1, 0, 2]));
    expect(await read({ name: "pdf", file: "pipe" })).toBe("not_a_file");
    expect(await read({ name: "pdf", file: "sub" })).toBe("not_a_file");
    expect(await read({ name: "pdf", file: "none" })).toBe("path_not_found");
    expect(await read({ name: "pdf", file: "large" })).toBe("file_too_large");
    expect(await read({ name: "pdf", file: "full" })).toHaveLength(64 * 1024);
    expect(await read({ name: "pdf", file: "binary" })).toBe(
      "[binary is a binary file of 3 bytes; it is not shown]",
    );
  });

  test("says nothing about the working directory or the real path", async () => {
    const tool = skillTool([{ name: "pdf", folder }]);
    await expect(tool.run({ name: "pdf", file: "../x" }, context)).rejects.toThrow(
      'The file "../x" of the skill pdf cannot be read. Use the path of a regular file below the skill\'s folder.',
    );
  });

  test("reads only the bytes that were trusted", async () => {
    const files = { "SKILL.md": hashOf("Do this.") };
    expect(await read({ name: "pdf" }, files)).toBe("Do this.");
    linkSync(write("evil", "Evil."), join(folder, "new.md"));
    expect(await read({ name: "pdf", file: "new.md" }, files)).toBe("skill_changed");
    expect(await read({ name: "pdf", file: "constructor" }, files)).toBe("path_not_found");
    write("pdf/SKILL.md", "Do evil.");
    expect(await read({ name: "pdf" }, files)).toBe("skill_changed");
  });
});
