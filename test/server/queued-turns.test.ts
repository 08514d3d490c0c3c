/** Messages that wait: every client sees them, any client can take one back, and a message is never lost in between. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { connect, type RemoteAgent } from "../../src/access/client/index.ts";
import type { SessionState } from "../../src/base/api/index.ts";
import { createAgent, fileStore, type SessionHandle } from "../../src/index.ts";
import { anyTool, call, gate, say } from "../contracts/session-fixture.ts";
import { beside, busy, codeOf, ended, endsOf, get, logOf, messageOf, post } from "./promise-fixture.ts";
import { followUntil, scriptedAgent, type Served, servedAlone } from "./server-fixture.ts";

const clientOf = ({ server }: Pick<Served, "server">): Promise<RemoteAgent> =>
  connect(server.url, { token: server.token });

const queuedOn = async ({ server }: Pick<Served, "server">): Promise<SessionState["queued"]> =>
  (await get(server, "/s1")).body["queued"] as SessionState["queued"];

const IMAGE = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
const WITH_IMAGE = [{ type: "text", text: "look" }, IMAGE] as const;

const messagesOf = async (folder: string): Promise<readonly unknown[]> =>
  (await logOf(folder)).flatMap((event) => (event.type === "user_message" ? [event.content] : []));

/** Reads the stream of a session in the background, so that its properties stay up to date. */
function watched(session: SessionHandle): () => void {
  const stop = new AbortController();
  const reading = followUntil(session, () => stop.signal.aborted).catch(() => undefined);
  return () => {
    stop.abort();
    void reading;
  };
}

describe("the messages that wait", () => {
  test("are in the state in the order in which they begin, with their typed text and images", async () => {
    const there = await busy();
    await post(there.server, "/s1/turns", { input: "two", turn: "second" });
    await post(there.server, "/s1/turns", { input: WITH_IMAGE, turn: "third" });
    await post(there.server, "/s1/retry", { turn: "again" });
    await post(there.server, "/s1/turns", { input: "mind this", turn: "steers", whenBusy: "steer" });
    expect(await queuedOn(there)).toEqual([
      { turn: "steers", text: "mind this", steers: true },
      { turn: "second", text: "two" },
      { turn: "third", text: "look", images: 1 },
    ]);
    there.finish();
    await ended(there.server, "again");
    expect(await queuedOn(there)).toEqual([]);
  });

  test("are cut to 300 characters between two characters as people see them", async () => {
    const there = await busy();
    const family = "👩‍👩‍👧‍👦";
    await post(there.server, "/s1/turns", { input: family.repeat(100), turn: "emoji" });
    await post(there.server, "/s1/turns", { input: "e\u0301".repeat(1_000_000), turn: "accents" });
    await post(there.server, "/s1/turns", { input: `a${"\u0301".repeat(1000)}`, turn: "one" });
    const [emoji, accents, one] = (await queuedOn(there)) ?? [];
    expect(emoji?.text).toBe(`${family.repeat(Math.floor(299 / family.length))}…`);
    expect(accents?.text).toBe(`${"e\u0301".repeat(149)}…`);
    expect(one?.text).toHaveLength(300);
  });

  test("reach every client as they come and go", async () => {
    const there = await busy();
    const [one, two] = [
      await (await clientOf(there)).open({ id: "s1" }),
      await (await clientOf(there)).open({ id: "s1" }),
    ];
    const stop = watched(two);
    const turn = one.send("from the other client", { turn: "second" });
    await turn.accepted();
    await expect.poll(() => two.queued).toEqual([{ turn: "second", text: "from the other client" }]);
    turn.cancel();
    await expect.poll(() => two.queued).toEqual([]);
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    stop();
  });

  test("are listed by another process that shares the folder, and by the next one after a stop", async () => {
    const there = await busy();
    await post(there.server, "/s1/turns", { input: "two", turn: "second" });
    await post(there.server, "/s1/turns", { input: "not this", turn: "third" });
    await post(there.server, "/s1/cancel", { turn: "third" });
    const other = await beside(there.folder);
    expect(await queuedOn(other)).toEqual([{ turn: "second", text: "two" }]);
    there.finish();
    await ended(there.server, "second");
    expect(await queuedOn(other)).toEqual([]);
  });
});

describe("a message that is withdrawn", () => {
  test("comes back whole, never begins, and its turn ends as cancelled for its sender", async () => {
    const there = await busy();
    const [sender, other] = [
      await (await clientOf(there)).open({ id: "s1" }),
      await (await clientOf(there)).open({ id: "s1" }),
    ];
    const turn = sender.send(WITH_IMAGE, { turn: "second" });
    await turn.accepted();
    expect(await other.withdraw("second")).toEqual(WITH_IMAGE);
    expect(other.queued).toEqual([]);
    expect(await queuedOn(there)).toEqual([]);
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    there.finish();
    await expect
      .poll(() => endsOf(there.folder))
      .toEqual([
        ["first", "completed"],
        ["second", "cancelled"],
      ]);
    expect(await messagesOf(there.folder)).toHaveLength(1);
  });

  test("is given again if the same request is sent again, before and after the log has its end", async () => {
    const there = await busy();
    await post(there.server, "/s1/turns", { input: "two", turn: "second" });
    const withdraw = () => post(there.server, "/s1/turns/second/withdraw");
    expect(await withdraw()).toMatchObject({ status: 200, body: { input: "two" } });
    expect(await withdraw()).toMatchObject({ status: 200, body: { input: "two" } });
    there.finish();
    await expect.poll(() => endsOf(there.folder)).toHaveLength(2);
    expect(await withdraw()).toMatchObject({ status: 200, body: { input: "two" } });
  });

  test("and steers does not join the running turn", async () => {
    const there = await busy();
    await post(there.server, "/s1/turns", { input: "mind this", turn: "steers", whenBusy: "steer" });
    expect(await post(there.server, "/s1/turns/steers/withdraw")).toMatchObject({
      body: { input: "mind this" },
    });
    there.finish();
    await ended(there.server, "first");
    expect(await messagesOf(there.folder)).toEqual([[{ type: "text", text: "one" }]]);
  });

  test("is refused with the reason if it has begun, has ended, has no message or is unknown", async () => {
    const there = await busy();
    const withdraw = (turn: string) => post(there.server, `/s1/turns/${turn}/withdraw`);
    const running = await withdraw("first");
    expect([running.status, codeOf(running)]).toEqual([409, "turn_begun"]);
    expect(messageOf(running)).toContain("already begun");
    await post(there.server, "/s1/retry", { turn: "again" });
    expect(codeOf(await withdraw("again"))).toBe("not_a_message");
    const unknown = await withdraw("never");
    expect([unknown.status, codeOf(unknown)]).toEqual([404, "turn_unknown"]);
    there.finish();
    await ended(there.server, "again");
    expect(codeOf(await withdraw("first"))).toBe("turn_ended");
  });

  test("stays in the queue if the withdrawal cannot be recorded", async () => {
    const { agent, store } = await scriptedAgent({});
    const session = await agent.open({ id: "s1", store });
    const hold = gate();
    const first = session.send("one", { ready: () => hold.promise });
    const second = session.send("two", { turn: "second" });
    const disk = new Error("the disk is full");
    await expect(session.withdraw("second", () => Promise.reject(disk))).rejects.toBe(disk);
    expect(session.queued).toMatchObject([{ turn: "second", text: "two" }]);
    hold.open();
    expect(await first.result()).toMatchObject({ status: "completed" });
    expect(await second.result()).toMatchObject({ status: "completed" });
  });

  test("is taken back by the only process that may: another one on the folder is refused", async () => {
    const there = await busy();
    await post(there.server, "/s1/turns", { input: "two", turn: "second" });
    const other = await beside(there.folder);
    const answer = await post(other.server, "/s1/turns/second/withdraw");
    expect([answer.status, codeOf(answer)]).toEqual([409, "session_locked"]);
    there.finish();
    expect((await ended(there.server, "second")).body).toMatchObject({ result: { status: "completed" } });
  });

  test("is taken back from a list that no process holds, and only that message", async () => {
    const there = await busy();
    for (const turn of ["b", "c"]) await post(there.server, "/s1/turns", { input: turn, turn });
    await there.server.close();
    const agent = createAgent({ model: there.modelFrom("test/emu-reasoner"), modelFrom: there.modelFrom });
    let isReady = false;
    const agentFor = (): typeof agent => {
      if (!isReady) throw new Error("not yet"); // so that the list still waits when the request arrives
      return agent;
    };
    const later = await servedAlone({
      store: fileStore(there.folder),
      server: { agent: agentFor },
    });
    await expect.poll(() => later.problems).toEqual([expect.stringContaining("not yet")]);
    isReady = true;
    const answer = await post(later.server, "/s1/turns/b/withdraw");
    expect(answer).toMatchObject({ status: 200, body: { input: "b" } });
    expect((await ended(later.server, "c")).body).toMatchObject({ result: { status: "completed" } });
    expect(new Map(await endsOf(there.folder))).toEqual(
      new Map([
        ["first", "cancelled"],
        ["b", "cancelled"],
        ["c", "completed"],
      ]),
    );
    expect(readFileSync(join(there.folder, "s1.jsonl"), "utf8")).not.toContain('"text":"b"');
  });
});

test("a withdrawal that races with the start of its turn wins or loses as a whole", async () => {
  for (let round = 0; round < 12; round += 1) {
    const there = await busy();
    await post(there.server, "/s1/turns", { input: "two", turn: "second" });
    there.finish();
    for (let n = 0; n < round; n += 1) await Promise.resolve();
    if (round > 5) await expect.poll(async () => (await endsOf(there.folder)).length).toBeGreaterThan(0);
    const answer = await post(there.server, "/s1/turns/second/withdraw");
    const { status } = (await ended(there.server, "second")).body["result"] as { readonly status: string };
    const messages = (await messagesOf(there.folder)).length;
    if (answer.status === 200) expect([status, messages]).toEqual(["cancelled", 1]);
    else
      expect([codeOf(answer), status, messages]).toEqual([expect.stringMatching(/^turn_/), "completed", 2]);
  }
});

test("a local session lists its own waiting messages and takes them back", async () => {
  const [begun, over] = [gate(), gate()];
  const hold = anyTool("hold", async () => {
    begun.open();
    await over.promise;
    return "held";
  });
  const { agent } = await scriptedAgent({
    tools: [hold],
    permissions: "auto",
    script: [{ output: [call("hold")] }, { output: [say("First.")] }],
  });
  const session = await agent.open();
  const seen: number[] = [];
  session.onChange(() => seen.push(session.queued.length));
  const first = session.send("one");
  await first.accepted();
  await begun.promise;
  const second = session.send("two", { turn: "second" });
  await second.accepted();
  expect(session.queued).toEqual([{ turn: "second", text: "two" }]);
  expect(seen.at(-1)).toBe(1);
  expect(await session.withdraw("second")).toBe("two");
  expect(session.queued).toEqual([]);
  expect(seen.at(-1)).toBe(0);
  await expect(session.withdraw("second")).rejects.toMatchObject({ code: "turn_ended" });
  await expect(session.withdraw(first.id)).rejects.toMatchObject({ code: "turn_begun" });
  await expect(session.withdraw("never")).rejects.toMatchObject({ code: "turn_unknown" });
  over.open();
  expect(await second.result()).toMatchObject({ status: "cancelled" });
  await first.result();
});

describe("accepted", () => {
  test("rejects with the reason if the turn was refused", async () => {
    const there = await busy();
    const session = await (await clientOf(there)).open({ id: "s1" });
    await expect(session.send("two", { whenBusy: "reject" }).accepted()).rejects.toMatchObject({
      code: "session_busy",
    });
    const { agent } = await scriptedAgent({});
    const refused = new Error("the list cannot be written");
    const turn = (await agent.open()).send("one", { ready: () => Promise.reject(refused) });
    await expect(turn.accepted()).rejects.toBe(refused);
  });

  test("rejects if no server answers for good", async () => {
    const there = await busy();
    const session = await (await clientOf(there)).open({ id: "s1" });
    await there.server.close();
    await expect(session.send("two").accepted()).rejects.toMatchObject({ code: "server_unreachable" });
  });
});
