/** The event stream: resumed at every event, by slow and by several clients, while other processes write. */

import { describe, expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { fileStore, isEphemeral, type LoggedEvent, type SessionEvent } from "../../src/index.ts";
import { blocksOf } from "../../src/interface/fragments/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { anyTool, call, gate, say, think } from "../contracts/session-fixture.ts";
import { comparable } from "./comparable.ts";
import { ask, followUntil, rawSocket, scriptedAgent, served, type Served } from "./server-fixture.ts";

const isTurnEnd = (event: SessionEvent): boolean => event.type === "turn_end";
const seqs = (events: readonly SessionEvent[]): readonly number[] =>
  events.flatMap((event) => (isEphemeral(event) ? [] : [event.seq]));
const upTo = (last: number, first = 0): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

async function logged(parts: Served, id = "s1"): Promise<readonly LoggedEvent[]> {
  const log = await parts.store.open(id, { mode: "read" });
  await log.close();
  return log.events;
}

describe("a client that reconnects", () => {
  test("after any event gets all later ones, once and in order", async () => {
    const parts = await served({ script: [{ output: [think("A"), say("one")] }] });
    const session = await parts.remote.open({ id: "s1" });
    await session.send("go").result();
    const events = await logged(parts);
    const last = events.length - 1;
    for (let after = -1; after < last; after += 1) {
      const seen = await followUntil(session, isTurnEnd, after);
      expect(seqs(seen)).toEqual(upTo(last, after + 1));
      expect(comparable(seen)).toEqual(
        comparable(events).slice(after + 1).length === 0 ? [] : comparable(events.slice(after + 1)),
      );
    }
  });

  test("after every single event sees the same turn, live", async () => {
    const parts = await served({
      script: [{ output: [think("A"), call("slow")] }, { output: [think("B"), say("two")] }],
      tools: [anyTool("slow", () => "ok")],
    });
    let connections = 0;
    // Cuts each connection after the first message with an id.
    const cutting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!response.url.includes("/events")) return response;
      connections += 1;
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      let text = "";
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
          if (done || value === undefined) return controller.close();
          text += decoder.decode(value, { stream: true });
          const at = /(?:^|\n)id: \d+\n.*\n\n/.exec(text);
          if (at === null) return controller.enqueue(value);
          // The server repeats what it sent before; the reader drops what it has.
          controller.enqueue(new TextEncoder().encode(`\n\n${text.slice(0, at.index + at[0].length)}`));
          controller.error(new TypeError("cut"));
          await reader?.cancel();
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    };
    const remote = await connect(parts.server.url, {
      token: parts.server.token,
      fetch: cutting,
      clock: {
        now: () => Date.now(),
        monotonic: () => performance.now(),
        sleep: () => new Promise((resolve) => setImmediate(resolve)),
      },
    });
    const session = await remote.open({ id: "s1" });
    const following = followUntil(session, isTurnEnd);
    await session.send("go").result();
    const seen = await following;
    const events = await logged(parts);
    expect(seqs(seen)).toEqual(upTo(events.length - 1));
    expect(connections).toBeGreaterThanOrEqual(events.length);
    // The live view is the same as the view after a reload.
    expect(blocksOf(seen, { writerAlive: true })).toEqual(blocksOf(events, { writerAlive: true }));
  });

  test("in the middle of an answer gets the open items, and ends up with the same blocks as the log", async () => {
    const opened = gate();
    const parts = await served({
      script: [{ output: [think("A"), say("a long answer")] }],
      emulator: { paceMs: 30 },
    });
    const session = await parts.remote.open({ id: "s1" });
    const late: Promise<readonly SessionEvent[]>[] = [];
    const turn = session.send("go");
    for await (const event of turn) {
      if (event.type === "text_delta" && late.length === 0) late.push(followUntil(session, isTurnEnd));
    }
    opened.open();
    const events = await logged(parts);
    const seen = (await late[0]) ?? [];
    expect(seqs(seen)).toEqual(upTo(events.length - 1));
    expect(blocksOf(seen, { writerAlive: true })).toEqual(blocksOf(events, { writerAlive: true }));
  });

  test("can send Last-Event-ID instead of ?after=; an invalid value has no effect", async () => {
    const parts = await served({ script: [{ output: [say("one")] }] });
    const session = await parts.remote.open({ id: "s1" });
    await session.send("go").result();
    const read = async (headers: Readonly<Record<string, string>>): Promise<readonly number[]> => {
      const response = await fetch(`${parts.server.url}/api/sessions/s1/events`, {
        headers: { authorization: `Bearer ${parts.server.token}`, ...headers },
      });
      let text = "";
      const reader = response.body?.getReader();
      while (!text.includes("event: live")) text += new TextDecoder().decode((await reader?.read())?.value);
      await reader?.cancel();
      return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    };
    const last = session.lastSeq;
    expect(await read({ "last-event-id": "3" })).toEqual(upTo(last, 4));
    expect(await read({ "last-event-id": String(last) })).toEqual([]);
    expect(await read({ "last-event-id": "x" })).toEqual(upTo(last));
    expect(await read({})).toEqual(upTo(last));
  });
});

describe("several clients", () => {
  test("see the same events; one that leaves stops nothing; any of them may stop the turn", async () => {
    const parts = await served({
      script: [{ output: [call("wait")] }, { output: [say("never")] }],
      tools: [
        anyTool(
          "wait",
          (_input, { signal }) =>
            new Promise((resolve) => {
              signal.addEventListener("abort", () => resolve("stopped"));
            }),
        ),
      ],
    });
    const [a, b, c] = await Promise.all(
      [1, 2, 3].map(async () => {
        const remote = await connect(parts.server.url, { token: parts.server.token });
        return remote.open({ id: "s1" });
      }),
    );
    if (a === undefined || b === undefined || c === undefined) throw new Error("three clients");
    const following = [a, b].map((one) => followUntil(one, isTurnEnd));
    const leaving = followUntil(c, (event) => event.type === "tool_start");
    const turn = a.send("go");
    await leaving;
    await c.close();
    await b.cancel();
    expect((await turn.result()).status).toBe("cancelled");
    const [first, second] = await Promise.all(following);
    expect(seqs(first ?? [])).toEqual(upTo((await logged(parts)).length - 1));
    expect(seqs(second ?? [])).toEqual(seqs(first ?? []));
  });

  test("share questions: one answers what another was asked, and a second answer is too late", async () => {
    const parts = await served({
      script: [{ output: [call("write")] }, { output: [say("done")] }],
      tools: [anyTool("write", () => "ok", { access: "write" })],
      permissions: "ask",
    });
    const a = await parts.remote.open({ id: "s1" });
    const b = await parts.remote.open({ id: "s1" });
    const asked = followUntil(b, (event) => event.type === "permission_request");
    const turn = a.send("go");
    const request = (await asked).find((event) => event.type === "permission_request");
    await b.approve(request?.requestId ?? "");
    await expect(a.deny(request?.requestId ?? "")).rejects.toMatchObject({ code: "permission_not_pending" });
    expect((await turn.result()).text).toBe("done");
  });

  test("are independent: one that does not read is dropped and catches up, the others and the turn continue", async () => {
    const parts = await served();
    const session = await parts.remote.open({ id: "s1" });
    const lazy = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const socket = await rawSocket(parts.server);
        socket.pause();
        socket.write(
          `GET /api/sessions/s1/events HTTP/1.1\r\nhost: 127.0.0.1:${parts.server.port}\r\nauthorization: Bearer ${parts.server.token}\r\n\r\n`,
        );
        return socket;
      }),
    );
    await expect.poll(() => parts.server.counters.open).toBe(3);
    const following = followUntil(session, isTurnEnd);
    // The system's own buffers hold some megabytes of it.
    const text = "x".repeat(1_000_000);
    for (let round = 0; round < 60 && parts.server.counters.dropped < 3; round += 1) {
      await session.send(text).result();
      await session.undo(); // or each request would carry all of it again
    }
    expect(parts.server.counters.dropped).toBe(3);
    expect((await following).length).toBeGreaterThan(3);
    for (const socket of lazy) socket.destroy();
    const all = await followUntil(session, (event) => !isEphemeral(event) && event.seq === session.lastSeq);
    expect(seqs(all)).toEqual(upTo(session.lastSeq));
  });
});

describe("a client that has seen more events than the log has", () => {
  test("gets a reset and then the whole log, and its handle keeps working", async () => {
    const parts = await served({ script: [{ output: [say("one")] }, { output: [say("two")] }] });
    const session = await parts.remote.open({ id: "s1" });
    await session.send("first").result();
    const last = session.lastSeq;
    const response = await fetch(`${parts.server.url}/api/sessions/s1/events?after=${last + 7}`, {
      headers: { authorization: `Bearer ${parts.server.token}` },
    });
    let raw = "";
    for await (const piece of response.body ?? []) {
      raw += Buffer.from(piece).toString();
      if (raw.includes("event: live")) break;
    }
    expect(raw).toContain(`event: reset\ndata: {"seq":${last}}\n\nid: 0\n`);
    const seen = await followUntil(session, isTurnEnd, last + 7);
    expect(seen[0]).toEqual({ type: "reset" });
    expect(seqs(seen)).toEqual(upTo(last));
    expect(session.lastSeq).toBe(last);
    expect((await session.send("second").result()).text).toBe("two");
    expect(seqs(await followUntil(session, isTurnEnd, last))).toEqual(upTo(session.lastSeq).slice(last + 1));
  });
});

describe("another process", () => {
  test("that streams is shown as it streams", async () => {
    const folder = temporaryFolder();
    const other = await scriptedAgent({
      script: [{ output: [{ reasoning: ["**Thinking**\n\nof it"] }, say("from the terminal")] }],
      store: fileStore(folder),
      emulator: { faults: [{ type: "stall", at: { where: "after", unit: "event", index: 8 } }] },
    });
    const terminal = await other.agent.open({ id: "s1", store: other.store });
    await terminal.rename("so that there is a log");
    const parts = await served({ store: fileStore(folder) });
    const session = await parts.remote.open({ id: "s1" });
    const following = followUntil(session, isTurnEnd);
    const shown = followUntil(session, (event) => event.type === "reasoning_delta");
    const turn = terminal.send("first");
    const types = (await shown).map(({ type }) => type);
    const from = types.indexOf("response_start");
    expect(types.slice(from, from + 4)).toEqual([
      "response_start",
      "reasoning_start",
      "reasoning_part_start",
      "reasoning_delta",
    ]);
    turn.cancel();
    await turn.result();
    expect(seqs(await following)).toEqual(upTo(terminal.lastSeq));
    await terminal.close();
  });

  test("that writes the session can be followed, and writes here are refused", async () => {
    const folder = temporaryFolder();
    const other = await scriptedAgent({
      script: [{ output: [say("from the terminal")] }],
      store: fileStore(folder),
    });
    const terminal = await other.agent.open({ id: "s1", store: other.store });
    await terminal.send("first").result();
    // A copy of a store is not known to be on the same folder, so only the lock decides, as between processes.
    const parts = await served({ store: { ...fileStore(folder) } });
    const session = await parts.remote.open({ id: "s1" });
    expect(session).toMatchObject({ access: "read", writer: "live", interrupted: false });
    await expect(session.send("x").result()).rejects.toMatchObject({ code: "session_locked" });
    await expect(session.rename("x")).rejects.toMatchObject({ code: "session_locked" });
    await expect(parts.remote.remove("s1")).rejects.toMatchObject({ code: "session_locked" });

    let turns = 0;
    const following = followUntil(session, (event) => isTurnEnd(event) && (turns += 1) === 2);
    await terminal.send("second").result();
    expect(seqs(await following)).toEqual(upTo(terminal.lastSeq));

    // It closes the session: the server may write, and viewers learn of it.
    const free = new Promise<void>((resolve) => {
      session.onChange(() => {
        if (session.writer === "none") resolve();
      });
    });
    const stop = new AbortController();
    const watching = (async () => {
      for await (const _ of session.follow({ signal: stop.signal })) void _;
    })();
    await terminal.close();
    await free;
    expect(session.access).toBe("write");
    expect((await session.send("third").result()).status).toBe("completed");
    stop.abort();
    await watching;
  });

  test("may take the session over once the server has released it", async () => {
    const folder = temporaryFolder();
    const parts = await served({ store: fileStore(folder), server: { releaseMs: 0 } });
    const session = await parts.remote.open({ id: "s1" });
    await session.send("here").result();
    const other = await scriptedAgent({ store: fileStore(folder) });
    await expect
      .poll(async () => {
        try {
          await (await other.agent.open({ id: "s1", store: other.store })).close();
          return "open";
        } catch (error) {
          return (error as { readonly code: string }).code;
        }
      })
      .toBe("open");
    const terminal = await other.agent.open({ id: "s1", store: other.store });
    const following = followUntil(session, isTurnEnd, session.lastSeq);
    await terminal.send("there").result();
    await terminal.close();
    expect((await following).some((event) => event.type === "user_message")).toBe(true);
    expect((await session.send("here again").result()).status).toBe("completed");
  });
});

test("the list is newest first, paged and searchable, with each session's usage", async () => {
  const parts = await served({ server: { releaseMs: 0 } });
  for (const id of ["one", "two", "three"]) {
    const session = await parts.remote.open({ id });
    await session.send(`Hello ${id}`).result();
  }
  const all = await parts.remote.list();
  expect(all.map(({ id }) => id).toSorted()).toEqual(["one", "three", "two"]);
  expect(all[0]).toMatchObject({
    turns: 1,
    model: "openai/emu-reasoner",
    usage: { inputTokens: expect.any(Number) as unknown },
  });
  expect((await parts.remote.list({ search: "HELLO TWO" })).map(({ id }) => id)).toEqual(["two"]);
  const paged: string[] = [];
  let before = undefined as (typeof all)[number] | undefined;
  for (;;) {
    const [next] = await parts.remote.list({ limit: 1, ...(before === undefined ? {} : { before }) });
    if (next === undefined) break;
    paged.push(next.id);
    before = next;
  }
  expect(paged).toEqual(all.map(({ id }) => id));
  await parts.remote.remove("two");
  expect((await parts.remote.list()).map(({ id }) => id)).not.toContain("two");
  expect((await ask(parts.server, { path: "/api/sessions/two" })).status).toBe(404);
});

test("when the server stops, the turn is cancelled and kept, and every stream ends", async () => {
  const parts = await served({
    script: [{ output: [call("wait")] }],
    tools: [
      anyTool(
        "wait",
        (_input, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve("stopped"));
          }),
      ),
    ],
  });
  const session = await parts.remote.open({ id: "s1" });
  const response = await fetch(`${parts.server.url}/api/sessions/s1/events`, {
    headers: { authorization: `Bearer ${parts.server.token}` },
  });
  const running = followUntil(session, (event) => event.type === "tool_start");
  session.send("go");
  await running;
  const [text] = await Promise.all([response.text(), parts.server.close()]);
  expect(text).toContain('"type":"turn_end"');
  expect((await logged(parts)).at(-1)).toMatchObject({ type: "turn_end", status: "cancelled" });
});
