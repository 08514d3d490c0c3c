/** What must hold for the files when a command was killed, or when the disk failed under it. */

import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { replaceFile } from "../../src/base/files/index.ts";
import { createAgent, emulator, fileStore } from "../../src/index.ts";
import type { Case } from "./command-cases.ts";
import { command, type Home, SECRET, withCopy } from "./command-fixture.ts";

/** No earlier byte has changed, except for what the command is meant to change. */
function expectUntouched(home: Home, before: Home, { changes = [], rewrites = [] }: Case): void {
  for (const name of readdirSync(before.folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name).slice(before.folder.length + 1)] : [],
  )) {
    const short = name.split("/").at(-1) ?? "";
    if (short.endsWith(".summary")) continue; // any list may rewrite it
    const [, session] = /^home\/sessions\/([^./]+)\./.exec(name) ?? [];
    if (changes.includes(session ?? "") || rewrites.includes(short)) continue;
    if (!existsSync(join(home.folder, name))) throw new Error(`${name} is gone`);
    expect(readFileSync(join(home.folder, name)).equals(readFileSync(join(before.folder, name))), name).toBe(
      true,
    );
  }
}

/** What was left for the next writer. */
export const leftIn = ({ folder }: Home): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tmp(?:$|\/)|\.new$/.test(name),
  );

/** The next writer removes what was left. */
async function expectSwept(home: Home): Promise<void> {
  const notice = { type: "notice", code: "test", message: "next" } as const;
  const store = fileStore(home.sessions);
  await store.create("next", { events: [notice], blobs: new Map() });
  await store.remove("next");
  const longAgo = new Date(Date.now() - 3_600_000);
  for (const folder of [home.work, join(home.folder, "home")]) {
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), longAgo, longAgo);
    replaceFile(join(folder, "next"), "next");
  }
  expect(leftIn(home)).toEqual([]);
  // The folder of a lock may stay: the next writer of the session uses it again.
  const beside = readdirSync(home.sessions).filter((name) => !name.endsWith(".lock"));
  for (const id of new Set(beside.map((name) => name.split(".")[0])))
    expect(existsSync(join(home.sessions, `${id}.jsonl`)), `${id} has a log`).toBe(true);
}

/** Run again, it does its work or says that it is done, and the sessions it may change can continue. */
export async function expectGoesOn(one: Case, home: Home, before: Home): Promise<boolean> {
  expectUntouched(home, before, one);
  await withCopy(home, expectSwept); // even if it is not run again
  const wasDone = await one.done(home, before);
  if (one.cleared !== undefined) rmSync(join(home.work, one.cleared), { recursive: true, force: true });
  const { code, err, out } = await command(home, one.words, { whenUp: one.whenUp });
  const said = `${out}${err}`;
  if (code !== 0 || !wasDone) {
    expect({ code, said }).toEqual({
      code: wasDone ? one.again.code : 0,
      said: expect.any(String) as string,
    });
    if (wasDone) expect(said).toMatch(one.again.says);
  }
  expect(await one.done(home, before)).toBe(true);
  expectUntouched(home, before, one);
  if (one.name === "sessions erase --replace") expectNowhere(home);
  if (one.name === "sessions rm")
    expect(
      readdirSync(home.sessions).filter((name) => name.startsWith("s.") && !name.endsWith(".lock")),
    ).toEqual([]);
  else for (const id of one.changes ?? []) await expectAnswers(home, id);
  await expectSwept(home);
  return wasDone;
}

/** The secret is in no file of the session, whatever happened in between. */
function expectNowhere(home: Home): void {
  for (const entry of readdirSync(home.sessions, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && path.slice(home.sessions.length + 1).startsWith("s."))
      expect(readFileSync(path).includes(SECRET), path).toBe(false);
  }
}

async function expectAnswers(home: Home, id: string): Promise<void> {
  const session = await createAgent({ model: emulator() }).open({ id, store: fileStore(home.sessions) });
  try {
    expect(await session.send("And now?").result()).toMatchObject({ status: "completed" });
  } finally {
    await session.close();
  }
}
