import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  call,
  gate,
  history,
  inputOf,
  ofType,
  say,
  scriptedSession,
  think,
} from "../../../test/contracts/session-fixture.ts";
import type { SessionEvent } from "../../base/events/index.ts";
import type { Fault } from "../../emulator/index.ts";
import { RUNNING_IN_PARENT } from "../fold/index.ts";
import { fileStore, memoryStore } from "../log/index.ts";
import type { Session } from "./index.ts";

const texts = (items: readonly Record<string, unknown>[]): readonly string[] =>
  items.flatMap((item) => {
    const [part] = (item["content"] ?? []) as readonly { readonly text?: string }[];
    return item["type"] === "message" ? [part?.text ?? ""] : [];
  });

const reasoningIn = (items: readonly Record<string, unknown>[]): number =>
  items.filter((item) => item["type"] === "reasoning").length;

const three = [
  { output: [think("A"), say("answer a")] },
  { output: [think("B"), say("answer b")] },
  { output: [think("C"), say("answer c")] },
];

describe("retry", () => {
  test("answers the last message again on a new branch; the old answer stays in the log", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    const before = await history(session);
    const turn = session.retry();
    expect(await turn.result()).toMatchObject({ status: "completed", text: "answer b" });
    const after = await history(session);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(ofType(after, "branch")).toMatchObject([
      { why: "retry", to: before.find((e) => e.type === "user_message")?.seq },
    ]);
    expect(texts(inputOf(emulator, 1))).toEqual(["one"]);
    expect(emulator.exchanges[1]?.requestText).toBe(emulator.exchanges[0]?.requestText);
    await session.send("two").result();
    expect(texts(inputOf(emulator, 2))).toEqual(["one", "answer b", "two"]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("of a failed turn sends exactly the request that the preview showed", async () => {
    const { session, emulator } = await scriptedSession(undefined, {
      limits: { maxRetries: 0 },
      emulator: { faults: [{ type: "none" }, { type: "http", status: 500 }] },
    });
    await session.send("one").result();
    expect(await session.send("two").result()).toMatchObject({ status: "failed" });
    const preview = await session.preview();
    expect(await session.retry().result()).toMatchObject({ status: "completed" });
    const start = ofType(await history(session), "response_start").at(-1);
    expect(start?.bodyHash).toBe(preview.bodyHash);
    expect(emulator.exchanges.at(-1)?.requestText).toBe(preview.body);
    expect(preview.violations).toEqual([]);
    expect(preview.items.map(({ type }) => type)).toEqual(["message", "reasoning", "message", "message"]);
    expect(preview.items.map(({ head }) => head)[0]).toBe("one");
  });
});

describe("edit", () => {
  test("replaces a message and everything after it, on a new branch", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    await session.send("two").result();
    const second = ofType(await history(session), "user_message")[1]?.seq ?? -1;
    expect(await session.edit(second, "two, edited").result()).toMatchObject({ status: "completed" });
    expect(texts(inputOf(emulator, 2))).toEqual(["one", "answer a", "two, edited"]);
    expect(reasoningIn(inputOf(emulator, 2))).toBe(1);
    const path: string[] = [];
    for await (const event of session.events({ path: "active" })) path.push(event.type);
    expect(path.filter((type) => type === "user_message")).toHaveLength(2);
    expect(emulator.report().totals.refused).toBe(0);
    // The replaced message is no longer on the path, so it cannot be edited again.
    expect(() => session.edit(second, "x")).toThrow(expect.objectContaining({ code: "not_a_message" }));
  });

  test("of the first message starts over in the same session", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    const first = ofType(await history(session), "user_message")[0]?.seq ?? -1;
    await session.edit(first, "uno").result();
    expect(texts(inputOf(emulator, 1))).toEqual(["uno"]);
    const fork = await session.fork();
    expect((await history(fork))[0]).toMatchObject({ type: "session_start", root: "s1" });
    await fork.close();
  });
});

describe("truncate", () => {
  test("keeping the last turns removes the front from requests, not from the log", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    await session.send("two").result();
    await session.keepLastTurns(1);
    await session.send("three").result();
    expect(texts(inputOf(emulator, 2))).toEqual(["two", "answer b", "three"]);
    expect(ofType(await history(session), "user_message")).toHaveLength(3);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("from a point inside a group moves back to its edge: a thought is never cut from its follower", async () => {
    const { session, emulator } = await scriptedSession(
      [{ output: [think("A"), call("look")] }, { output: [say("seen")] }, { output: [say("again")] }],
      { tools: [anyTool("look", () => "it")] },
    );
    await session.send("one").result();
    const events = await history(session);
    for (const type of ["tool_result", "tool_start", "tool_call", "reasoning"] as const) {
      const fork = await session.fork();
      const inFork = ofType(await history(fork), type)[0]?.seq ?? -1;
      await fork.truncateFrom(inFork);
      const preview = await fork.preview();
      expect(preview.items.map((item) => item.type)).toEqual(["message"]);
      expect(preview.violations).toEqual([]);
      await fork.close();
    }
    await session.truncateFrom(ofType(events, "response_end")[1]?.seq ?? -1);
    await session.send("two").result();
    expect(inputOf(emulator, 2).map((item) => item["type"])).toEqual([
      "message",
      "reasoning",
      "function_call",
      "function_call_output",
      "message",
    ]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("of an empty session does nothing and leaves it intact", async () => {
    const { session } = await scriptedSession(three);
    await session.keepLastTurns(1);
    await session.send("one").result();
    expect((await history(session))[0]?.type).toBe("session_start");
  });
});

describe("fork", () => {
  test("copies the path with its ids into a new session that continues independently; the parent is not touched", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    const parent = await history(session);
    const fork = await session.fork({ id: "child" });
    const copied = await history(fork);
    expect(copied[0]).toMatchObject({
      type: "session_start",
      session: "child",
      root: "s1",
      parent: { session: "s1", seq: parent.length - 1 },
    });
    expect(copied.slice(1).map(({ id, at }) => [id, at])).toEqual(
      parent.slice(1).map(({ id, at }) => [id, at]),
    );
    await fork.send("in the child").result();
    expect(await history(session)).toEqual(parent);
    // The same prefix shares the cache: the family's first ancestor is the key.
    const bodies = emulator.exchanges.map(
      ({ requestText }) => JSON.parse(requestText) as { prompt_cache_key: string },
    );
    expect(bodies.map((body) => body.prompt_cache_key)).toEqual(["s1", "s1"]);
    expect(reasoningIn(inputOf(emulator, 1))).toBe(1);
    expect(emulator.report().totals.refused).toBe(0);
    await fork.close();
  });

  test("works at an earlier point, and fails for an invalid point or a name that is taken", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    const at = (await history(session)).at(-1)?.seq ?? -1;
    await session.send("two").result();
    const fork = await session.fork({ at, id: "early" });
    await fork.send("other").result();
    expect(texts(inputOf(emulator, 2))).toEqual(["one", "answer a", "other"]);
    await fork.close();
    await expect(session.fork({ id: "early" })).rejects.toMatchObject({ code: "session_exists" });
    await expect(session.fork({ at: 999 })).rejects.toMatchObject({ code: "seq_unknown" });
    await expect(session.fork({ id: "not good" })).rejects.toMatchObject({ code: "session_id_invalid" });
  });

  test("in an open turn closes what was open: the tool was running in the parent", async () => {
    const [started, finish] = [gate(), gate()];
    const { session, emulator } = await scriptedSession(
      [{ output: [think("A"), call("wait")] }, { output: [say("done")] }, { output: [say("child")] }],
      {
        tools: [
          anyTool("wait", async () => {
            started.open();
            await finish.promise;
            return "waited";
          }),
        ],
      },
    );
    const turn = session.send("one");
    await started.promise;
    const fork = await session.fork({ id: "child" });
    expect(fork.interrupted).toBe(false);
    const copied = await history(fork);
    expect(ofType(copied, "tool_result")).toMatchObject([
      { status: "outcome_unknown", text: RUNNING_IN_PARENT.text },
    ]);
    expect(copied.at(-1)).toMatchObject({ type: "turn_end", status: "interrupted" });
    finish.open();
    expect(await turn.result()).toMatchObject({ status: "completed" });
    expect(await fork.send("go on").result()).toMatchObject({ status: "completed" });
    expect(ofType(await history(session), "tool_result")).toMatchObject([{ status: "ok", text: "waited" }]);
    expect(emulator.report().totals.refused).toBe(0);
    await fork.close();
  });

  test("adjusts references to events: what a request omitted means the same in the child", async () => {
    const { session, model } = await scriptedSession(undefined);
    await session.send("one").result();
    await session.setModel(model("emu-other"));
    await session.send("two").result();
    await session.retry().result(); // refers to what a request omitted on the branch it leaves
    await session.send("three").result();
    const fork = await session.fork();
    const events = await history(fork);
    const starts = ofType(events, "response_start");
    for (const start of starts.slice(1)) {
      const base = start.leftOutAs === undefined ? start : events[start.leftOutAs];
      const leftOut = base?.type === "response_start" ? base.leftOut : undefined;
      expect(leftOut?.[0]?.reason).toBe("foreign_origin");
      for (const [from, to] of leftOut?.[0]?.seqs ?? [])
        for (let seq = from; seq <= to; seq += 1) expect(events[seq]?.type).toBe("reasoning");
    }
    await fork.close();
  });

  test("copies tool output that was stored as a blob", async () => {
    const store = memoryStore();
    const { session } = await scriptedSession([{ output: [call("big")] }, { output: [say("done")] }], {
      tools: [anyTool("big", () => "z".repeat(100_000))],
      store,
    });
    await session.send("go").result();
    const fork = await session.fork({ id: "child" });
    const blob = ofType(await history(fork), "tool_result")[0]?.blob ?? "";
    await fork.close();
    const log = await store.open("child", { mode: "read" });
    expect((await log.getBlob(blob))?.length).toBe(100_000);
  });
});

describe("switching the model", () => {
  test("previewSwitch says what will be dropped, and the switch does exactly that", async () => {
    const { session, emulator, model } = await scriptedSession(three);
    await session.send("one").result();
    await session.send("two").result();
    expect(await session.previewSwitch(session.model)).toEqual({ kept: 2, dropped: 0, reasons: {} });
    const other = model("emu-other");
    expect(await session.previewSwitch(other)).toEqual({
      kept: 0,
      dropped: 2,
      reasons: { foreign_origin: 2 },
    });
    await session.setModel(other);
    await session.send("three").result();
    expect([reasoningIn(inputOf(emulator, 2)), texts(inputOf(emulator, 2))]).toEqual([
      0,
      ["one", "answer a", "two", "answer b", "three"],
    ]);
    await session.setModel(model());
    await session.send("four").result();
    expect(reasoningIn(inputOf(emulator, 3))).toBe(2); // back home, its own thoughts are there again
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("another key is another account: thoughts stay with the account that made them", async () => {
    const { session, model } = await scriptedSession(three);
    await session.send("one").result();
    const other = model("emu-reasoner", { apiKey: "sk-another-account" });
    expect(await session.previewSwitch(other)).toEqual({
      kept: 0,
      dropped: 1,
      reasons: { foreign_origin: 1 },
    });
  });
});

describe("explain", () => {
  test("of a past request lists what that request omitted, and of the next one what it will omit", async () => {
    const { session, model } = await scriptedSession(three);
    await session.send("one").result();
    await session.setModel(model("emu-other"));
    await session.send("two").result();
    const omitted = async (request?: number): Promise<readonly string[]> =>
      (await session.explain(request === undefined ? {} : { request })).flatMap(({ type, action, reason }) =>
        action === "omit" ? [`${type} ${reason}`] : [],
      );
    expect(await omitted(1)).toEqual([]);
    expect(await omitted(2)).toEqual(["reasoning foreign_origin"]);
    expect(await omitted()).toEqual(["reasoning foreign_origin"]);
    const [, second] = ofType(await history(session), "response_start");
    expect(second?.leftOut?.map(({ reason }) => reason)).toEqual(["foreign_origin"]);
    await expect(session.explain({ request: 3 })).rejects.toMatchObject({ code: "request_unknown" });
  });

  test("on a prefix-bound target names the changed prefix", async () => {
    const { session, model } = await scriptedSession(undefined);
    const bound = model("emu-prefix-bound", { profile: "prefix-bound" });
    await session.setModel(bound);
    await session.send("one").result();
    await session.send("two").result();
    const kept = await session.preview();
    expect(kept.decisions.filter(({ reason }) => reason === "prefix_changed")).toEqual([]);
    await session.keepLastTurns(1);
    const cut = await session.preview();
    expect(cut.decisions.filter(({ reason }) => reason === "prefix_changed").map(({ type }) => type)).toEqual(
      ["reasoning"],
    );
  });
});

/** Reads until it has seen this many events, or the type. */
const until = async (events: AsyncIterable<SessionEvent>, type: string): Promise<readonly SessionEvent[]> => {
  const seen: SessionEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.type === type) break;
  }
  return seen;
};

describe("follow", () => {
  test("gives history, then a snapshot of items in progress, then live events: nothing twice, nothing missing", async () => {
    const parts = [`**One**\n\n${"first words ".repeat(5)}`, `**Two**\n\n${"second words ".repeat(10)}`];
    const stall: Fault = { type: "stall", at: { where: "after", unit: "event", index: 30 } };
    const { session } = await scriptedSession(
      [{ output: [say("Hello")] }, { output: [{ reasoning: parts }, say("never")] }],
      { emulator: { faults: [{ type: "none" }, stall] } },
    );
    await session.send("Hello").result();
    const turn = session.send("think");
    let early = "";
    for await (const event of turn) {
      if (event.type === "reasoning_delta") early += event.delta;
      if (event.type === "reasoning_delta" && event.part === 1) break;
    }
    const seen: SessionEvent[] = [];
    const finished = (async () => {
      for await (const event of session.follow()) {
        seen.push(event);
        if (event.type === "turn_end" && event.status === "cancelled") return;
      }
    })();
    await new Promise((done) => setImmediate(done));
    turn.cancel();
    await finished;
    const logged = seen.filter((event) => "seq" in event);
    expect(logged).toEqual(await history(session));
    // What a late viewer received adds up to what the log says was seen.
    const response = ofType(seen, "response_start").at(-1)?.response;
    const shown = ofType(seen, "reasoning_delta").filter((event) => event.response === response);
    const partial = ofType(seen, "partial").find((event) => event.response === response);
    const text = partial?.parts.join("") ?? "";
    expect(text.startsWith(early)).toBe(true);
    expect(shown.map(({ delta }) => delta).join("")).toBe(text);
    expect(partial?.parts).toHaveLength(2);
  });

  test("with `after` omits earlier events, and its signal ends it", async () => {
    const { session } = await scriptedSession(undefined);
    await session.send("Hello").result();
    const all = await history(session);
    const controller = new AbortController();
    const seen: SessionEvent[] = [];
    for await (const event of session.follow({ after: 3, signal: controller.signal })) {
      seen.push(event);
      if (event.type === "turn_end") controller.abort();
    }
    expect(seen).toEqual(all.slice(4));
  });

  test("ends when the session is closed", async () => {
    const { session } = await scriptedSession(undefined);
    await session.send("Hello").result();
    const following = (async () => {
      const seen: SessionEvent[] = [];
      for await (const event of session.follow()) seen.push(event);
      return seen.length;
    })();
    await new Promise((done) => setImmediate(done));
    const all = (await history(session)).length;
    await session.close();
    expect(await following).toBe(all);
  });

  test("by a reader sees what the writer adds, for each of several followers, and ends with the reader", async () => {
    const folder = temporaryFolder();
    const { session, agent } = await scriptedSession(undefined, { store: fileStore(folder) });
    await session.send("Hello").result();
    const reader: Session = await agent.open({ id: "s1", store: fileStore(folder), mode: "read" });
    const first = await history(session);
    const after = first.at(-1)?.seq ?? -1;
    const followers = [
      until(reader.follow({ after }), "turn_end"),
      until(reader.follow({ after }), "turn_end"),
    ];
    await session.send("Hello again").result();
    const added = (await history(session)).slice(first.length);
    for (const seen of await Promise.all(followers)) {
      expect(seen.filter((event) => "seq" in event)).toEqual(added);
    }
    const last = until(reader.follow({ after: after + added.length }), "never");
    await reader.close();
    expect(await last).toEqual([]);
  });

  test.each(["writer", "reader"])(
    "by a %s that is ahead of the log starts over: a reset, then the whole log",
    async (who) => {
      const folder = temporaryFolder();
      const { session, agent } = await scriptedSession(undefined, { store: fileStore(folder) });
      await session.send("Hello").result();
      const reader: Session = await agent.open({ id: "s1", store: fileStore(folder), mode: "read" });
      const all = await history(session);
      const followed = who === "writer" ? session : reader;
      const last = all.at(-1)?.seq ?? -1;
      expect(await until(followed.follow({ after: last + 1 }), "turn_end")).toEqual([
        { type: "reset" },
        ...all,
      ]);
      // The last event itself is not ahead of the log, but events that a reader has not read yet are.
      await session.send("Hello again").result();
      const more = (await history(session)).slice(all.length);
      const seen = await until(followed.follow({ after: last + 1 }), "turn_end");
      expect(seen.filter((event) => "seq" in event)).toEqual(more.slice(1));
      await reader.close();
    },
  );

  test("is not needed for a reader to be up to date: events reads on, and refresh also checks for the writer", async () => {
    const folder = temporaryFolder();
    const { session, agent } = await scriptedSession(undefined, { store: fileStore(folder) });
    await session.send("Hello").result();
    const reader: Session = await agent.open({ id: "s1", store: fileStore(folder), mode: "read" });
    let changes = 0;
    reader.onChange(() => (changes += 1));
    await session.send("Hello again").result();
    expect(await history(reader)).toEqual(await history(session));
    expect([reader.writer, changes]).toEqual(["live", 1]);
    await session.rename("Another name");
    await session.close();
    await reader.refresh();
    await reader.refresh();
    expect([reader.writer, reader.title, changes]).toEqual(["none", "Another name", 2]);
    await reader.close();
  });
});

test("sessions of an agent are listed with title, folder and problem", async () => {
  const store = memoryStore();
  const { session, agent } = await scriptedSession(undefined, { store, cwd: "/somewhere" });
  await session.send("Hello there").result();
  const listed = [];
  for await (const summary of agent.sessions(store)) listed.push(summary);
  expect(listed).toMatchObject([{ id: "s1", title: "Hello there", cwd: "/somewhere" }]);
});
