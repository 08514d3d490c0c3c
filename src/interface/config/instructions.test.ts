import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { readInstructions } from "./index.ts";

let folder = "";
let root = "";
let cwd = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-instructions-"));
  root = join(folder, "project");
  cwd = join(root, "packages", "deep");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(join(root, ".git"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}
const load = (project = true) =>
  readInstructions(cwd, { project, env: { THROUGHLINE_HOME: join(folder, "home") } });

describe("instructions", () => {
  test("are every AGENTS.md from the root of the repository to the working directory, nearest last", () => {
    write(join(folder, "AGENTS.md"), "outside");
    expect(load()).toEqual({ found: [], problems: [] });
    const top = write(join(root, "AGENTS.md"), "\nUse tabs.\n");
    const near = write(join(cwd, "AGENTS.md"), "Use spaces.");
    expect(load()).toEqual({
      found: [
        { file: top, layer: "project", text: "Use tabs.", bytes: 11, cut: false },
        { file: near, layer: "project", text: "Use spaces.", bytes: 11, cut: false },
      ],
      problems: [],
    });
  });

  test("begin with the user's own file, which stays when the project's are switched off", () => {
    const own = write(join(folder, "home", "AGENTS.md"), "Be brief.");
    const top = write(join(root, "AGENTS.md"), "Use tabs.");
    expect(load().found.map(({ file, layer }) => [file, layer])).toEqual([
      [own, "user"],
      [top, "project"],
    ]);
    expect(load(false).found.map(({ file }) => file)).toEqual([own]);
  });

  test("are in CLAUDE.md where a folder of the project has no AGENTS.md, not in the user's folder", () => {
    write(join(folder, "home", "CLAUDE.md"), "no");
    write(join(root, "AGENTS.md"), "top");
    write(join(root, "CLAUDE.md"), "hidden by AGENTS.md");
    write(join(root, "packages", "CLAUDE.md"), "middle");
    expect(load().found.map(({ text }) => text)).toEqual(["top", "middle"]);
  });

  test("share 32 KiB: the nearest file gets them first, and a cut one ends at a line break and says so", () => {
    write(join(folder, "home", "AGENTS.md"), "own");
    write(join(root, "AGENTS.md"), "top\n");
    write(join(root, "packages", "AGENTS.md"), "twelve bytes\n".repeat(2000));
    write(join(cwd, "AGENTS.md"), "x".repeat(20 * 1024));
    const [own, top, middle, near] = load().found;
    expect(own).toMatchObject({ text: "own", cut: false });
    expect(top).toMatchObject({ text: "", bytes: 4, cut: true });
    expect(middle).toMatchObject({ bytes: 26_000, cut: true });
    expect(middle?.text.length).toBeGreaterThan(12_200);
    expect(middle?.text.length).toBeLessThanOrEqual(12 * 1024);
    expect(middle?.text.endsWith("twelve bytes")).toBe(true);
    expect(near).toMatchObject({ bytes: 20 * 1024, cut: false });
  });

  test("of a broken file are missing and reported; the other files count", () => {
    write(join(root, "AGENTS.md"), "top");
    const file = join(cwd, "AGENTS.md");
    const hidden = write(join(folder, "private"), "secret");
    symlinkSync(hidden, file);
    write(join(cwd, "CLAUDE.md"), "not read: there is an AGENTS.md");
    expect(load()).toMatchObject({
      found: [{ text: "top" }],
      problems: [{ file, code: "project_file_outside" }],
    });
    rmSync(file);
    mkdirSync(file);
    expect(load()).toMatchObject({
      found: [{ text: "top" }],
      problems: [{ file, code: "project_file_unreadable" }],
    });
  });

  test("of the user may be a link, and a broken one is reported", () => {
    const own = join(folder, "home", "AGENTS.md");
    mkdirSync(dirname(own));
    symlinkSync(write(join(folder, "dotfiles", "AGENTS.md"), "Be brief."), own);
    expect(load().found).toMatchObject([{ file: own, text: "Be brief." }]);
    rmSync(join(folder, "dotfiles"), { recursive: true });
    expect(load()).toMatchObject({ found: [], problems: [{ file: own, code: "project_file_unreadable" }] });
  });
});
