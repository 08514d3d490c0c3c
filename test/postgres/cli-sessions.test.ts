/** Every command that uses sessions, with the sessions in a database: nothing is written to files. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { expectProblem, jsonLines, run, start, toolsFile, treeOf } from "../cli/harness.ts";
import { good, onlySession, storePlace } from "./cli-fixture.ts";

test("a session lives in the database: run, continue, resume, show, list, search, rename, inspect, stats", async () => {
  const { place, db, on } = await storePlace();
  await good(on(["-p", "Think of a number."]));
  const again = await good(on(["-p", "-c", "Which number did you think of?"]));
  expect(again.out).toMatch(/I thought of \d+\./);
  const id = await onlySession(db);
  expect((await good(on(["resume", "--last", "-p", "Hello"], { input: "" }))).out).not.toBe("");
  expect((await good(on(["sessions", "show", id]))).out).toContain("Think of a number.");
  expect((await good(on(["sessions", "search", "which number"]))).out).toContain(id);
  await good(on(["sessions", "rename", id, "the number"]));
  expect((await good(on(["sessions"]))).out).toContain("the number");
  expect((await good(on(["inspect", "the number", "--request", "1"]))).out).toContain("Think of a number.");
  expect(JSON.parse((await good(on(["stats", "--json"]))).out)).toMatchObject({ total: { requests: 3 } });
  expect((await good(on(["check", id]))).out).toContain("no problems");
  expect((await good(on(["repair", id]))).out).toContain("no problems");
  expect(existsSync(place.sessions)).toBe(false);
});

test("retry, edit, undo, fork, tree and compact work on a session of the database", async () => {
  const { db, on } = await storePlace();
  await good(on(["-p", "Hello, my name is Ada."]));
  const id = await onlySession(db);
  await good(on(["retry", id]));
  await good(on(["edit", id, "1", "Hello, my name is Grace."]));
  expect((await good(on(["-p", "-r", id, "What is my name?"]))).out).toContain("Grace");
  expect((await good(on(["undo", id]))).err).toContain("undone: What is my name?");
  const tree = JSON.parse((await good(on(["tree", id, "--json"]))).out) as readonly unknown[];
  expect(tree.length).toBeGreaterThan(0);
  const fork = (await good(on(["fork", id]))).out.trim();
  expect(fork).not.toBe(id);
  expect((await good(on(["sessions", "show", fork]))).out).toContain("Hello, my name is Grace.");
  await good(on(["compact", fork, "--keep-turns", "0"]));
  expect((await good(on(["sessions", "list", "--json"]))).out).toContain(fork);
  await good(on(["sessions", "rm", fork, "--yes"]));
  expect(await onlySession(db)).toBe(id);
});

test("a session leaves and enters the database byte for byte: export and import", async () => {
  const { place, db, on } = await storePlace();
  await good(on(["-p", "hello"]));
  const id = await onlySession(db);
  const first = await good(on(["sessions", "export", id]));
  place.write("out.jsonl", first.out);
  await good(on(["sessions", "rm", id, "--yes"]));
  expect((await good(on(["sessions", "import", "out.jsonl"]))).out).toBe(`${id}\n`);
  expect((await good(on(["sessions", "export", id]))).out).toBe(first.out);
  expectProblem(await on(["sessions", "import", "out.jsonl"]), 2, "session_exists");
  place.write("chat.json", '[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}]');
  const other = (await good(on(["sessions", "import", "chat.json"]))).out.trim();
  expect((await good(on(["sessions", "show", other]))).out).toContain("Hello.");
});

test("--json names the place of the log in words, and so does sessions path", async () => {
  const { db, on } = await storePlace();
  const [first] = jsonLines((await good(on(["-p", "--json", "hello"]))).out);
  expect(first).toMatchObject({ type: "session", location: "the PostgreSQL store" });
  const id = await onlySession(db);
  expect((await good(on(["sessions", "path", id]))).out).toBe(
    `session ${id} is in the PostgreSQL store; throughline sessions export ${id} -o FILE writes it to a file\n`,
  );
  expect((await good(on(["sessions", "path"]))).out).toContain("the sessions are in the PostgreSQL store");
});

test("the flag wins over the variable, the variable over the user's setting; a project cannot set it", async () => {
  const { place, db, env } = await storePlace();
  const other = await storePlace();
  const ask = (args: readonly string[], more: Readonly<Record<string, string>>) =>
    good(run(place, ["-p", ...args, "hello"], { env: more }));
  await good(run(place, ["config", "set", "store", other.db.url]));
  await ask([], {});
  expect(await other.db.sql("select id from s.sessions")).toHaveLength(1);
  await ask([], env);
  expect(await db.sql("select id from s.sessions")).toHaveLength(1);
  await ask(["--store", other.db.url], env);
  expect(await other.db.sql("select id from s.sessions")).toHaveLength(2);
  await good(run(place, ["config", "unset", "store"]));
  mkdirSync(join(place.work, ".throughline"));
  writeFileSync(join(place.work, ".throughline", "config.json"), JSON.stringify({ store: db.url }));
  const told = await ask(["--trust"], {});
  expect(told.err).toContain("sets store, which is ignored: only your own settings can set it");
  expect(await db.sql("select id from s.sessions")).toHaveLength(1);
  expect(existsSync(place.sessions)).toBe(true);
});

test("config and doctor do not show the address", async () => {
  const { place, db } = await storePlace();
  const { port } = new URL(db.url);
  await good(run(place, ["config", "set", "store", db.url]));
  for (const args of [["config"], ["config", "--json"], ["config", "get", "store"]]) {
    const ran = await good(run(place, args));
    expect(ran.out).toContain("[hidden]");
    expect(`${ran.out}${ran.err}`).not.toContain(port);
  }
  const doctor = await run(place, ["doctor", "--json"]);
  expect(`${doctor.out}${doctor.err}`).not.toContain(port);
});

test("--ephemeral keeps nothing, and --server and --store exclude each other", async () => {
  const { place, db, on } = await storePlace();
  await good(on(["-p", "--ephemeral", "hello"]));
  expect(await db.sql("select id from s.sessions")).toEqual([]);
  expect(treeOf(place.home)).toEqual([]);
  const both = ["--server", "http://127.0.0.1:1", "--store", db.url];
  for (const args of [
    ["-p", ...both, "hi"],
    ["sessions", "list", ...both],
  ]) {
    const ran = await run(place, args);
    expectProblem(ran, 2, "usage");
    expect(ran.err).toContain("--server and --store cannot be used together");
  }
});

test("a command leaves no node behind, whether it succeeds, fails or is interrupted", async () => {
  const { place, db, on, env } = await storePlace();
  await good(on(["-p", "hello"]));
  expectProblem(await on(["sessions", "rename", "nope", "x"]), 2, "session_not_found");
  const file = toolsFile(
    place,
    `export const t = tool({ name: "wait_it", description: "d", access: "read", input: { type: "object" },
       run: (_, { signal }) => new Promise((done) => signal.addEventListener("abort", () => done("x"))) });`,
  );
  const running = start(place, ["-p", "--json", "--tools", file, "please wait_it"], { env });
  await running.event("tool_start");
  running.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130 });
  expect(await db.sql("select name from s.nodes")).toEqual([]);
  expect(await db.sql("select id from s.sessions where holder is not null")).toEqual([]);
});

test("a second writer is refused and told which node writes", async () => {
  const { db, on } = await storePlace();
  await good(on(["-p", "hello"]));
  const id = await onlySession(db);
  const store = db.store({ name: "web-1" });
  const log = await store.open(id, { mode: "write" });
  const ran = await on(["-p", "-r", id, "hi"]);
  expectProblem(ran, 2, "session_locked");
  expect(ran.err).toContain("being written by node web-1");
  await log.close();
  await good(on(["-p", "-r", id, "hi"]));
});
