/** Streams of any node: the same events, the same live text, and a place to go on from that every node knows. */

import { describe, expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { isEphemeral, type SessionEvent } from "../../src/index.ts";
import { anyTool, call, gate, say, think } from "../contracts/session-fixture.ts";
import { get, post, type Server } from "../server/promise-fixture.ts";
import { ask, followUntil, servedAlone, type ServedOptions } from "../server/server-fixture.ts";
import { type Database, database } from "./fixture.ts";

const LONG = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
const isTurnEnd = (event: SessionEvent): boolean => event.type === "turn_end";

function node(db: Database, name: string, options: ServedOptions = {}): Promise<Server> {
  return servedAlone({ permissions: "auto", ...options, store: { ...db.store({ pool: "test", name }) } });
}

const textOf = (events: readonly SessionEvent[]): string =>
  events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");

describe("a client of a node that does not hold the session", () => {
  test("sees the same text as it is written, in pieces, and every event once", async () => {
    const db = await database();
    const one = await node(db, "one", {
      script: [{ output: [think("A long thought."), say(LONG)] }],
      emulator: { paceMs: 20 },
    });
    const two = await node(db, "two");
    await post(one.server, "", { id: "s1" });
    const remote = await connect(two.server.url, { token: two.server.token });
    const session = await remote.open({ id: "s1" });
    const following = followUntil(session, isTurnEnd, -1);
    await post(one.server, "/s1/turns", { input: "go", turn: "t1" });
    const seen = await following;
    // The last pieces may be overtaken by the finished message, which has all of it.
    expect(LONG.startsWith(textOf(seen))).toBe(true);
    expect(textOf(seen).length).toBeGreaterThan(LONG.length / 2);
    expect(seen.find((event) => event.type === "assistant_message")).toMatchObject({ text: LONG });
    expect(seen.filter(({ type }) => type === "text_delta").length).toBeGreaterThan(3);
    const seqs = seen.flatMap((event) => (isEphemeral(event) ? [] : [event.seq]));
    expect(seqs).toEqual(seqs.map((_, index) => index));
    // A thought and an answer begin once and end once, as in the writer's own process.
    for (const type of ["reasoning_start", "text_start"] as const)
      expect(seen.filter((event) => event.type === type)).toHaveLength(1);
  });

  test("goes on at another node after the last event it saw, and misses nothing", async () => {
    const db = await database();
    const wait = gate();
    const one = await node(db, "one", {
      tools: [anyTool("hold", () => wait.promise.then(() => "held"))],
      script: [{ output: [call("hold")] }, { output: [say("Done.")] }],
    });
    const two = await node(db, "two");
    await post(one.server, "", { id: "s1" });
    await post(one.server, "/s1/turns", { input: "go", turn: "t1" });
    await expect.poll(async () => (await get(one.server, "/s1")).body["lastSeq"]).toBeGreaterThan(4);
    wait.open();
    await get(two.server, "/s1/turns/t1?wait=30");
    const all = (await ask(one.server, { path: "/api/sessions/s1/log" })).text.trim().split("\n");
    for (let after = 0; after < all.length - 1; after += 1) {
      const rest = await ask(two.server, { path: `/api/sessions/s1/log?after=${after}` });
      expect(rest.text.trim().split("\n")).toEqual(all.slice(after + 1));
    }
  });

  test("gets the same bytes of the log and the export from every node", async () => {
    const db = await database();
    const one = await node(db, "one", { script: [{ output: [think("A"), say("B")] }] });
    const two = await node(db, "two");
    await post(one.server, "", { id: "s1" });
    await post(one.server, "/s1/turns", { input: "go", turn: "t1" });
    await get(two.server, "/s1/turns/t1?wait=30");
    for (const path of ["/api/sessions/s1/log", "/api/sessions/s1/export?format=jsonl"]) {
      const [here, there] = [await ask(one.server, { path }), await ask(two.server, { path })];
      expect(there.text).toBe(here.text);
      expect(here.text.length).toBeGreaterThan(500);
    }
  });

  test("that has seen more than the restored log holds is told to start over", async () => {
    const db = await database();
    const one = await node(db, "one", { script: [{ output: [say("B")] }] });
    await post(one.server, "", { id: "s1" });
    await post(one.server, "/s1/turns", { input: "go", turn: "t1" });
    await get(one.server, "/s1/turns/t1?wait=30");
    await one.server.close();
    const [row] = await db.sql("select next_seq::int as n from s.sessions");
    const two = await node(db, "two");
    const controller = new AbortController();
    const answer = await fetch(`${two.server.url}/api/sessions/s1/events`, {
      headers: {
        authorization: `Bearer ${two.server.token}`,
        "last-event-id": String(Number(row?.["n"]) + 5),
      },
      signal: controller.signal,
    });
    let text = "";
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('"type":"turn_end"')) break;
    }
    controller.abort();
    expect(text).toContain("event: reset\n");
    expect(text).toContain("id: 0\n");
  });

  test("sees what a dead node's answer had shown, and the resumed answer after it", async () => {
    const db = await database();
    const one = await node(db, "one", { script: [{ output: [say(LONG)] }], emulator: { paceMs: 200 } });
    const two = await node(db, "two", { script: [{ output: [say("A new answer.")] }] });
    await post(one.server, "", { id: "s1" });
    const remote = await connect(two.server.url, { token: two.server.token });
    const session = await remote.open({ id: "s1" });
    const started = gate();
    const seen: SessionEvent[] = [];
    const following = (async () => {
      for await (const event of session.follow({ after: -1 })) {
        seen.push(event);
        if (event.type === "text_delta") started.open();
        if (isTurnEnd(event)) return;
      }
    })();
    await post(one.server, "/s1/turns", { input: "go", turn: "t1" });
    await started.promise;
    await db.sql("update s.nodes set lease_until = now() - interval '1 s' where name = 'one'");
    await following;
    const partial = seen.find((event) => event.type === "partial");
    expect(partial).toMatchObject({ kind: "text", parts: [expect.stringContaining("word0")] });
    expect(seen.findLast((event) => event.type === "assistant_message")).toMatchObject({
      text: "A new answer.",
    });
    const seqs = seen.flatMap((event) => (isEphemeral(event) ? [] : [event.seq]));
    expect(seqs).toEqual(seqs.map((_, index) => index));
  });
});
