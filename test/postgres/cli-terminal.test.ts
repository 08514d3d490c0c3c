/** A person at a terminal whose sessions are in a database: the chat, the list to pick from, and a question. */

import { expect, test } from "vitest";

import { run } from "../cli/harness.ts";
import { onTerminal } from "../cli/pty.ts";
import { good, onlySession, storePlace } from "./cli-fixture.ts";

const PROMPT = "› ";

test("the chat keeps its session in the database, lists the others, and leaves no node behind", async () => {
  const { place, db, env } = await storePlace();
  const terminal = onTerminal(place, ["--store", db.url]);
  await terminal.shows("emulator/emu-reasoner · session s_");
  await terminal.shows(PROMPT);
  terminal.type("Think of a number.");
  await terminal.shows("I have thought of a number");
  await terminal.shows(PROMPT);
  const [node] = await db.sql("select pool from s.nodes");
  expect(node).toEqual({ pool: null }); // no other machine goes on with a turn of a terminal
  terminal.press("\u0004");
  const { code, screen } = await terminal.ended;
  const id = await onlySession(db);
  expect(code).toBe(0);
  expect(screen).toContain(`To continue: throughline -r ${id} (with the same --store)`);
  expect(screen).not.toContain("127.0.0.1");
  expect(await db.sql("select name from s.nodes")).toEqual([]);

  const picked = onTerminal(place, ["resume"], env);
  await picked.shows("1 turn");
  await picked.shows("Number to choose");
  picked.type("1");
  await picked.shows(PROMPT);
  picked.type("Which number did you think of?");
  await picked.shows("I thought of ");
  await picked.shows(PROMPT);
  picked.type("/exit");
  expect((await picked.ended).code).toBe(0);
});

test("a chat follows a session that another node writes, and says so", async () => {
  const { place, db, env, on } = await storePlace();
  await good(on(["-p", "hello"]));
  const id = await onlySession(db);
  const log = await db.store({ name: "web-1" }).open(id, { mode: "write" });
  const terminal = onTerminal(place, ["-r", id], env);
  await terminal.shows(`session ${id}`);
  await terminal.shows("Following it");
  await log.append([{ type: "notice", code: "told", message: "news from another node" }]);
  await terminal.shows("news from another node");
  terminal.press("\u0004");
  expect((await terminal.ended).code).toBe(0);
  await log.close();
});

test("store prune asks before it removes, and anything but yes means no", async () => {
  const { place, db, env, on } = await storePlace();
  await good(on(["-p", "hello"]));
  await db.sql("update s.sessions set modified_at = modified_at - interval '1 year'");
  const no = onTerminal(place, ["store", "prune", "--older-than", "90d"], env);
  await no.shows("Remove 1 session (");
  await no.shows("for good? [y/N] ");
  no.type("n");
  expect((await no.ended).code).toBe(2);
  expect(await db.sql("select id from s.sessions")).toHaveLength(1);
  const yes = onTerminal(place, ["store", "prune", "--older-than", "90d"], env);
  await yes.shows("for good? [y/N] ");
  yes.type("y");
  await yes.shows("removed 1 session (");
  expect((await yes.ended).code).toBe(0);
  expect(await db.sql("select id from s.sessions")).toEqual([]);
  expect((await run(place, ["store", "status", "--store", db.url])).out).toContain(
    "sessions     0 of 0 tenants",
  );
});
