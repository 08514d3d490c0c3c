/** Steering over HTTP: a message that joins a running turn keeps every promise that a turn keeps. */

import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import type { LoggedEvent, SessionEvent } from "../../src/index.ts";
import { saidIn } from "../contracts/steer-fixture.ts";
import { beside, busy, codeOf, ended, endsOf, get, logOf, messageOf, post } from "./promise-fixture.ts";

const STEER = { input: "two", turn: "joined", whenBusy: "steer" };

describe("a message that steers over HTTP", () => {
  test("waits, joins the running turn, and has the state and the result of that turn", async () => {
    const { server, folder, finish } = await busy();
    expect(await post(server, "/s1/turns", STEER)).toMatchObject({ status: 202, body: { state: "queued" } });
    expect((await get(server, "/s1")).body).toMatchObject({ turn: "first", waiting: 1 });
    finish();
    const done = await ended(server, "joined");
    const { body: first } = await ended(server, "first");
    const message = (await logOf(folder)).find((event) => event.type === "user_message" && "steer" in event);
    expect(done.body).toEqual({ ...first, turn: "joined", joined: "first", firstSeq: message?.seq });
    expect(saidIn(await logOf(folder))).toEqual(["first: one", "first<joined: two"]);
    expect(await endsOf(folder)).toEqual([["first", "completed"]]);
    expect((await get(server, "/s1")).body).toMatchObject({ waiting: 0 });
    expect(existsSync(join(folder, "s1.waiting"))).toBe(false);
  });

  test("is answered with its state when it is sent again: while it waits, after it joined, and by another server", async () => {
    const { server, folder, finish } = await busy();
    for (let n = 0; n < 2; n += 1)
      expect(await post(server, "/s1/turns", STEER)).toMatchObject({
        status: 202,
        body: { state: "queued" },
      });
    const other = await post(server, "/s1/turns", { ...STEER, input: "other" });
    expect([other.status, codeOf(other)]).toEqual([409, "turn_exists"]);
    finish();
    const { body } = await ended(server, "joined");
    expect(await post(server, "/s1/turns", STEER)).toEqual({ status: 202, body });
    await server.close();
    const next = await beside(folder);
    expect(await post(next.server, "/s1/turns", STEER)).toEqual({ status: 202, body });
    expect(await get(next.server, "/s1/turns/joined")).toEqual({ status: 200, body });
    const changed = await post(next.server, "/s1/turns", { ...STEER, input: "other" });
    expect([changed.status, messageOf(changed)]).toEqual([409, expect.stringContaining("another input")]);
    expect(codeOf(await post(next.server, "/s1/retry", { turn: "joined" }))).toBe("turn_exists");
    expect(saidIn(await logOf(folder))).toEqual(["first: one", "first<joined: two"]);
  });

  test("can be withdrawn before it joins, and the cancel holds", async () => {
    const { server, folder, finish } = await busy();
    await post(server, "/s1/turns", STEER);
    expect((await post(server, "/s1/cancel", { turn: "joined" })).status).toBe(200);
    expect((await get(server, "/s1/turns/joined")).body).toMatchObject({
      state: "done",
      result: { status: "cancelled" },
    });
    finish();
    await ended(server, "first");
    await expect
      .poll(() => endsOf(folder))
      .toEqual([
        ["first", "completed"],
        ["joined", "cancelled"],
      ]);
    expect(saidIn(await logOf(folder))).toEqual(["first: one"]);
  });

  test.each(["model", "effort", "output"])("refuses its own %s", async (name) => {
    const { server, finish } = await busy();
    const value = { model: "test/other-model", effort: "low", output: { type: "object" } }[name];
    const refused = await post(server, "/s1/turns", { ...STEER, [name]: value });
    expect([refused.status, codeOf(refused)]).toEqual([400, "steer_invalid"]);
    expect(codeOf(await get(server, "/s1/turns/joined"))).toBe("turn_unknown");
    finish();
  });

  test("starts its own turn before the waiting ones if a clean stop ended the running turn", async () => {
    const { server, folder } = await busy();
    await post(server, "/s1/turns", { input: "queued", turn: "queued" });
    await post(server, "/s1/turns", STEER);
    await server.close();
    const next = await beside(folder);
    await ended(next.server, "queued");
    expect(saidIn(await logOf(folder))).toEqual(["first: one", "joined: two", "queued: queued"]);
    expect((await get(next.server, "/s1/turns/joined")).body).toMatchObject({
      state: "done",
      result: { status: "completed", text: "Elsewhere." },
    });
  });

  test("is not sent again if the server died after the turn ended, before its list said so", async () => {
    const { server, folder, finish } = await busy();
    await post(server, "/s1/turns", STEER);
    const list = join(folder, "s1.waiting");
    copyFileSync(list, `${list}-kept`);
    finish();
    const { body } = await ended(server, "joined");
    await server.close();
    copyFileSync(`${list}-kept`, list);
    const next = await beside(folder);
    await post(next.server, "/s1/turns", { input: "next", turn: "next" });
    await ended(next.server, "next");
    expect(saidIn(await logOf(folder))).toEqual(["first: one", "first<joined: two", "next: next"]);
    expect((await get(next.server, "/s1/turns/joined")).body).toEqual(body);
    await expect.poll(() => existsSync(list)).toBe(false);
  });

  test("joins with the messages of other clients, and each client gets the events from its message on", async () => {
    const { server, finish } = await busy();
    const clients = await Promise.all(
      ["a", "b"].map(async (id) => {
        const session = await (await connect(server.url, { token: server.token })).open({ id: "s1" });
        return { id, session };
      }),
    );
    const turns = [];
    for (const { id, session } of clients) {
      // Accepted first: a request that is still being written down does not join.
      expect((await post(server, "/s1/turns", { input: id, turn: id, whenBusy: "steer" })).status).toBe(202);
      turns.push(session.send(id, { whenBusy: "steer", turn: id }));
    }
    const seen = turns.map(async (turn) => {
      const events: SessionEvent[] = [];
      for await (const event of turn) events.push(event);
      return events.filter((event): event is LoggedEvent => "seq" in event);
    });
    finish();
    const results = await Promise.all(turns.map((turn) => turn.result()));
    expect(results.map(({ status, text }) => [status, text])).toEqual([
      ["completed", "First."],
      ["completed", "First."],
    ]);
    const [a, b] = await Promise.all(seen);
    expect(saidIn(a ?? [])).toEqual(["first<a: a", "first<b: b"]);
    expect(saidIn(b ?? [])).toEqual(["first<b: b"]);
    expect([a?.at(-1)?.type, b?.at(-1)?.type]).toEqual(["turn_end", "turn_end"]);
    for (const { session } of clients) await session.close();
  });

  test("cancels the turn that it joined", async () => {
    const { server, folder, finish } = await busy({
      script: [
        { output: [{ function_call: { name: "hold", arguments: {} } }] },
        { output: [{ message: "never" }], faults: "stall=after-item:1" },
      ],
    });
    await post(server, "/s1/turns", STEER);
    finish();
    await expect.poll(async () => (await get(server, "/s1/turns/joined")).body["state"]).toBe("running");
    expect((await post(server, "/s1/cancel", { turn: "joined" })).status).toBe(200);
    expect(await endsOf(folder)).toEqual([["first", "cancelled"]]);
    expect((await ended(server, "joined")).body).toMatchObject({
      joined: "first",
      result: { status: "cancelled" },
    });
  });
});
