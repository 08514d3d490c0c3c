import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { fileStore } from "./index.ts";
import type { Waiting } from "./log.ts";

function setUp(): { readonly folder: string; readonly path: string; readonly again: () => Waiting } {
  const folder = temporaryFolder();
  return { folder, path: join(folder, "s.waiting"), again: () => fileStore(folder).waiting("s") };
}

async function filled(turns: readonly string[]) {
  const there = setUp();
  const waiting = there.again();
  for (const turn of turns) await waiting.add(turn, { input: `say ${turn}` });
  return { ...there, waiting };
}

const idsOf = (turns: readonly { readonly turn: string }[]): readonly string[] =>
  turns.map(({ turn }) => turn);

test("the file is private, has one line per turn, and is removed when nothing waits", async () => {
  const { path, waiting, folder } = await filled(["a", "b"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(2);
  await waiting.remove("a");
  await waiting.remove("b");
  expect(readdirSync(folder)).toEqual([]);
});

test("a line torn by a crash was never acknowledged: it is cut off, and the next one is complete", async () => {
  const { path, again } = await filled(["a"]);
  appendFileSync(path, '{"turn":"b","request":{"inp');
  expect(idsOf(await again().list())).toEqual(["a"]);
  const next = again();
  expect(await next.recover()).toEqual({
    turns: [{ turn: "a", request: { input: "say a" }, cancelled: false }],
  });
  await next.add("c", {});
  expect(idsOf((await again().recover()).turns)).toEqual(["a", "c"]);
  expect(existsSync(`${path}-damaged`)).toBe(false);
});

test("a torn line alone leaves nothing behind", async () => {
  const { path, again, folder } = setUp();
  writeFileSync(path, '{"turn":"b"');
  expect(await again().recover()).toEqual({ turns: [] });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ["a changed byte", (text: string) => text.replace("say b", "say X")],
  ["a foreign line", (text: string) => text.replace("\n", "\nwhat is this?\n")],
  ["zeros", (text: string) => text.replace("\n", `\n${"\0".repeat(40)}\n`)],
  ["an empty line", (text: string) => text.replace("\n", "\n\n")],
])(
  "%s is reported: the intact turns stay in order, and the original file is saved",
  async (_what, damage) => {
    const { path, again } = await filled(["a", "b", "c"]);
    const damaged = damage(readFileSync(path, "utf8"));
    writeFileSync(path, damaged);
    const { turns, problem } = await again().recover();
    expect(idsOf(turns)).toEqual(damaged.includes("say X") ? ["a", "c"] : ["a", "b", "c"]);
    expect(problem).toContain("s.waiting-damaged");
    expect(readFileSync(`${path}-damaged`, "utf8")).toBe(damaged);
    expect(await again().recover()).toEqual({ turns });
  },
);

describe("in place of the file", () => {
  test.each([
    ["a link", (path: string) => symlinkSync("/etc/hostname", path)],
    ["a folder", (path: string) => mkdirSync(path)],
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
  ])("%s is neither read nor written, and nothing waits for it", async (_what, make) => {
    const { path, again } = setUp();
    make(path);
    for (const work of [again().list(), again().recover(), again().add("a", {})])
      await expect(work).rejects.toMatchObject({ code: "waiting_failed" });
  });
});

test("a list that never becomes empty does not grow without limit", async () => {
  const { path, waiting, again } = await filled(["stays"]);
  const large = "x".repeat(200_000);
  for (let n = 0; n < 20; n += 1) {
    await waiting.add(`t${n}`, { large });
    await waiting.remove(`t${n}`);
  }
  expect(statSync(path).size).toBeLessThan(1_500_000);
  expect(idsOf(await again().list())).toEqual(["stays"]);
});
