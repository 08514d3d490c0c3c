import { describe, expect, test } from "vitest";

import { LogBuilder } from "../../../test/contracts/log-builder.ts";
import {
  anyTool,
  call,
  eventsOf,
  gate,
  history,
  inputOf,
  ofType,
  say,
  scriptedSession,
  think,
} from "../../../test/contracts/session-fixture.ts";
import type { SessionEvent } from "../../base/events/index.ts";
import { type AppendDraft, memoryStore, type Store } from "../log/index.ts";
import type { Session } from "./index.ts";
import { KeptEvents } from "./kept-events.ts";

/** The events with the deltas of a part joined, as a reader gets them that comes later. */
function joined(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const kept = new KeptEvents();
  kept.add(events);
  return kept.all();
}

/** A session whose first turn waits in a tool until released. */
async function busySession(more: Parameters<typeof scriptedSession>[1] = {}) {
  const [started, finish] = [gate(), gate()];
  const scripted = await scriptedSession(
    [{ output: [think("T"), call("wait")] }, { output: [say("first")] }],
    {
      tools: [
        anyTool("wait", async (_input, { signal }) => {
          started.open();
          await Promise.race([
            finish.promise,
            new Promise((_done, fail) =>
              signal.addEventListener("abort", () => fail(signal.reason as Error)),
            ),
          ]);
          return "waited";
        }),
      ],
      ...more,
    },
  );
  const turn = scripted.session.send("one");
  await started.promise;
  return { ...scripted, turn, finish: () => finish.open() };
}

const codeOf = (work: () => unknown): unknown => {
  try {
    work();
    return "no error";
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
};

describe("send", () => {
  test("queues by default: turns run one after the other, in the order they were sent", async () => {
    const { session, turn, finish } = await busySession();
    const second = session.send("two");
    const third = session.send("three");
    expect(ofType(await history(session), "user_message")).toHaveLength(1);
    finish();
    const results = await Promise.all([turn.result(), second.result(), third.result()]);
    expect(results.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
    const events = await history(session);
    const messages = ofType(events, "user_message").map(({ content }) => content[0]);
    expect(messages).toEqual(["one", "two", "three"].map((text) => ({ type: "text", text })));
    const bounds = events.filter(({ type }) => type === "user_message" || type === "turn_end");
    expect(bounds.map(({ type }) => type)).toEqual([
      "user_message",
      "turn_end",
      "user_message",
      "turn_end",
      "user_message",
      "turn_end",
    ]);
  });

  test("rejects during a running turn if requested, and accepts the next one after it", async () => {
    const { session, turn, finish } = await busySession();
    expect(codeOf(() => session.send("two", { whenBusy: "reject" }))).toBe("session_busy");
    finish();
    await turn.result();
    expect(await session.send("two", { whenBusy: "reject" }).result()).toMatchObject({ status: "completed" });
  });

  test.each<[string, (session: Session) => unknown, string]>([
    ["empty text", (session) => session.send(""), "input_empty"],
    ["blank text", (session) => session.send(" \n\t "), "input_empty"],
    ["no parts", (session) => session.send([]), "input_empty"],
    ["blank parts", (session) => session.send([{ type: "text", text: " " }]), "input_empty"],
    ["resume without an interrupted turn", (session) => session.resume(), "nothing_to_resume"],
    ["retry without a message", (session) => session.retry(), "nothing_to_retry"],
    ["edit of an event that is not a message", (session) => session.edit(0, "x"), "not_a_message"],
    ["an empty edit", (session) => session.edit(0, ""), "input_empty"],
  ])("rejects invalid input at once, with a code: %s", async (_what, work, code) => {
    const { session } = await scriptedSession(undefined);
    expect(codeOf(() => work(session))).toBe(code);
    expect(await history(session)).toEqual([]);
  });

  test.each<[string, (session: Session) => Promise<unknown>, string]>([
    ["an approval without a question", (session) => session.approve("pr_x"), "permission_not_pending"],
    ["a denial without a question", (session) => session.deny("pr_x"), "permission_not_pending"],
    ["an undo without a message", (session) => session.undo(), "nothing_to_undo"],
    ["an empty title", (session) => session.rename(" \n"), "title_empty"],
    ["a model by name without modelFrom", (session) => session.setModel("a/b"), "model_by_name"],
    ["a fork of an empty session", (session) => session.fork(), "seq_unknown"],
    ["a request that was never made", (session) => session.explain({ request: 1 }), "request_unknown"],
    ["a cut at an event that does not exist", (session) => session.truncateFrom(7), "seq_unknown"],
    ["keeping no turns", (session) => session.keepLastTurns(0), "keep_turns_invalid"],
    ["keeping half a turn", (session) => session.keepLastTurns(1.5), "keep_turns_invalid"],
  ])("rejects invalid input asynchronously, with a code: %s", async (_what, work, code) => {
    const { session } = await scriptedSession(undefined);
    await expect(work(session)).rejects.toMatchObject({ code });
    expect(await history(session)).toEqual([]);
  });

  test("throws for a closed session, and for one opened to read", async () => {
    const store = memoryStore();
    const { session, agent } = await scriptedSession(undefined, { store });
    await session.send("Hello").result();
    const reader = await agent.open({ id: "s1", store, mode: "read" });
    expect(codeOf(() => reader.send("x"))).toBe("log_read_only");
    expect(codeOf(() => reader.retry())).toBe("log_read_only");
    await expect(reader.keepLastTurns(1)).rejects.toMatchObject({ code: "log_read_only" });
    await reader.close();
    await session.close();
    expect(codeOf(() => session.send("x"))).toBe("log_closed");
  });

  test("takes the session's title from the first message, without control characters and secrets", async () => {
    const { session } = await scriptedSession(undefined, { secrets: ["hunter2hunter2"] });
    await session.send("  Tell me\n\u001b[31m about hunter2hunter2  ").result();
    expect(session.title).toBe("Tell me [31m about [redacted]");
    await session.send("Something else").result();
    expect(session.title).toBe("Tell me [31m about [redacted]");
  });

  test("can use a model or an effort for one turn only", async () => {
    const { session, emulator, model } = await scriptedSession(undefined);
    await session.send("a", { model: model("emu-other"), effort: "low" }).result();
    await session.send("b", { effort: "high" }).result();
    await session.send("c").result();
    const bodies = emulator.exchanges.map(
      ({ requestText }) => JSON.parse(requestText) as { model: string; reasoning: { effort?: string } },
    );
    expect(bodies.map((body) => [body.model, body.reasoning.effort])).toEqual([
      ["emu-other", "low"],
      ["emu-reasoner", "high"],
      ["emu-reasoner", undefined],
    ]);
  });

  test("repairs lone surrogates and leaves everything else unchanged", async () => {
    const { session, emulator } = await scriptedSession(undefined);
    await session.send("a\ud800b \u2028 \u0000 😀").result();
    expect(inputOf(emulator, 0)).toMatchObject([{ content: [{ text: "a\ufffdb \u2028 \u0000 😀" }] }]);
  });

  test("stores a large picture next to the log and sends it unchanged; a fork has it too", async () => {
    const store = memoryStore();
    const { session, emulator } = await scriptedSession(undefined, { store });
    const data = Buffer.alloc(90_000, 7).toString("base64");
    const picture = { type: "image", mediaType: "image/png", data } as const;
    await session.send([{ type: "text", text: "look" }, picture]).result();
    const [message] = ofType(await history(session), "user_message");
    expect(message?.content[1]).toEqual({
      type: "image",
      mediaType: "image/png",
      blob: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const fork = await session.fork();
    await fork.send("and again").result();
    for (const request of [0, 1])
      expect(JSON.stringify(inputOf(emulator, request))).toContain(`data:image/png;base64,${data}`);
    await fork.close();
  });
});

describe("cancel", () => {
  test("in the middle of a tool ends the turn as cancelled, and the next one continues from there", async () => {
    const { session, turn, emulator } = await busySession();
    turn.cancel();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    await expect(turn.text()).rejects.toMatchObject({ code: "turn_cancelled" });
    expect(await session.send("two").result()).toMatchObject({ status: "completed" });
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("works by a signal, even one that was aborted before", async () => {
    const { session } = await scriptedSession(undefined);
    expect(await session.send("x", { signal: AbortSignal.abort() }).result()).toMatchObject({
      status: "cancelled",
    });
    expect(await history(session)).toEqual([]);
    const controller = new AbortController();
    const turn = session.send("y", { signal: controller.signal });
    for await (const event of turn) if (event.type === "reasoning_delta") controller.abort();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    const events = await history(session);
    expect(ofType(events, "response_end")).toMatchObject([{ status: "cancelled" }]);
    expect(ofType(events, "turn_end")).toMatchObject([{ status: "cancelled" }]);
  });

  test("of a waiting turn logs only its end and disturbs no other turn", async () => {
    const { session, turn, finish } = await busySession();
    const second = session.send("two");
    const third = session.send("three");
    second.cancel();
    finish();
    expect(await turn.result()).toMatchObject({ status: "completed" });
    expect(await second.result()).toMatchObject({ status: "cancelled" });
    expect(await third.result()).toMatchObject({ status: "completed" });
    expect(ofType(await history(session), "user_message").map(({ content }) => content[0])).toEqual([
      { type: "text", text: "one" },
      { type: "text", text: "three" },
    ]);
    const ends = ofType(await history(session), "turn_end").map(({ turn: of, status }) => [of, status]);
    expect(ends).toEqual([
      [turn.id, "completed"],
      [second.id, "cancelled"],
      [third.id, "completed"],
    ]);
  });

  test("an interrupted turn cannot be resumed after a message that closes it", async () => {
    const store = memoryStore();
    const log = new LogBuilder()
      .add({ type: "session_start", session: "s1", root: "s1", writer: "test" })
      .user("what is it?");
    await store.create("s1", { events: log.events as readonly AppendDraft[], blobs: new Map() });
    const { session } = await scriptedSession(undefined, { store });
    expect(session.interrupted).toBe(true);
    const turn = session.send("one");
    expect(() => session.resume()).toThrow(expect.objectContaining({ code: "nothing_to_resume" }));
    expect(await turn.result()).toMatchObject({ status: "completed" });
    expect(ofType(await history(session), "turn_end").map(({ status }) => status)).toEqual([
      "interrupted",
      "completed",
    ]);
  });

  test("of a resumed turn ends it in the log, even before it does anything", async () => {
    const store = memoryStore();
    const log = new LogBuilder()
      .add({ type: "session_start", session: "s1", root: "s1", writer: "test" })
      .user("what is it?");
    await store.create("s1", { events: log.events as readonly AppendDraft[], blobs: new Map() });
    const { session, emulator } = await scriptedSession(undefined, { store });
    const turn = session.resume();
    turn.cancel();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    expect(ofType(await history(session), "turn_end")).toMatchObject([
      { turn: turn.id, status: "cancelled" },
    ]);
    expect([session.interrupted, emulator.report().totals.requests]).toEqual([false, 0]);
  });

  test("a turn that waits or has ended gets no other end", async () => {
    const { session, turn, finish } = await busySession();
    const second = session.send("two", { turn: "second" });
    const end = (id: string): Promise<void> => session.endUnbegun(id, { status: "failed" });
    await expect(end("second")).rejects.toMatchObject({ code: "turn_exists" });
    finish();
    await second.result();
    const results = [end(turn.id), end("second"), end("third"), end("third")];
    expect((await Promise.allSettled(results)).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
      "fulfilled",
      "rejected",
    ]);
    const ends = ofType(await history(session), "turn_end").map(({ turn: of, status }) => [of, status]);
    expect(ends).toEqual([
      [turn.id, "completed"],
      ["second", "completed"],
      ["third", "failed"],
    ]);
  });

  test("a title set before the first message follows the start of the session", async () => {
    const { session } = await scriptedSession(undefined);
    await session.rename("A title");
    expect((await history(session)).map(({ type }) => type)).toEqual(["session_start", "title"]);
  });

  test("closing cancels the running turn and the waiting ones", async () => {
    const { session, turn, emulator } = await busySession();
    const second = session.send("two");
    const requests = emulator.report().totals.requests;
    await session.close();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    expect(await second.result()).toMatchObject({ status: "cancelled" });
    expect(emulator.report().totals.requests).toBe(requests);
  });

  test("a cancelled turn whose end is not logged any more is interrupted, not cancelled", async () => {
    const store = memoryStore();
    const [reached, go] = [gate(), gate()];
    // The result of the tool is being written when the node hands its session over.
    const slow: Store = {
      ...store,
      async open(id, options) {
        const log = await store.open(id, options);
        return new Proxy(log, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name, target);
            if (name !== "append") return typeof value === "function" ? value.bind(target) : value;
            return async (...args: Parameters<typeof target.append>) => {
              const written = await target.append(...args);
              if (args[0].some(({ type }) => type === "tool_result")) {
                reached.open();
                await go.promise;
              }
              return written;
            };
          },
        });
      },
    };
    const { session, turn } = await busySession({ store: slow });
    turn.cancel();
    await reached.promise;
    const closed = session.close(undefined, "leave");
    go.open();
    expect(await turn.result()).toMatchObject({
      status: "interrupted",
      error: { code: "session_handed_over" },
    });
    await closed;
  });
});

describe("a turn in the caller's hands", () => {
  test("continues if its loop is left early", async () => {
    const { session } = await scriptedSession(undefined);
    const turn = session.send("Hello");
    for await (const event of turn) if (event.type === "response_start") break;
    expect(await turn.result()).toMatchObject({ status: "completed" });
    expect((await history(session)).at(-1)?.type).toBe("turn_end");
  });

  test("gives the same events when iterated twice, at the same time or after the end", async () => {
    const { session } = await scriptedSession(undefined);
    const turn = session.send("Hello");
    const [first, second] = await Promise.all([eventsOf(turn), eventsOf(turn)]);
    const third = await eventsOf(turn);
    expect(ofType(first, "text_delta").length).toBeGreaterThan(ofType(third, "text_delta").length);
    expect([second, joined(third)]).toEqual([first, joined(first)]);
  });

  test("gives a reader that comes in the middle the deltas so far as one", async () => {
    const { session } = await scriptedSession([{ output: [say("one two three four five six")] }]);
    const turn = session.send("Hello");
    let late: Promise<readonly SessionEvent[]> | undefined;
    const early: SessionEvent[] = [];
    for await (const event of turn) {
      early.push(event);
      if (event.type === "text_delta") late ??= eventsOf(turn);
    }
    expect(joined((await late) ?? [])).toEqual(joined(early));
  });

  test("has everything that was shown in the log when its result resolves, even without listeners", async () => {
    const { session } = await scriptedSession(undefined);
    const turn = session.send("Hello");
    const { text } = await turn.result();
    const shown = await eventsOf(turn);
    const logged = await history(session);
    expect(shown.filter((event) => "seq" in event)).toEqual(logged);
    const deltas = ofType(shown, "text_delta").map(({ delta }) => delta);
    expect(deltas.join("")).toBe(text);
    expect(ofType(logged, "assistant_message")[0]?.text).toBe(text);
    const thoughts = ofType(shown, "reasoning_delta").map(({ delta }) => delta);
    const [reasoning] = ofType(logged, "reasoning");
    expect(thoughts.join("")).toBe(reasoning?.parts.map((part) => part.text).join(""));
  });

  test("gives the answer by text(), which rejects with the turn's error", async () => {
    const { session } = await scriptedSession([{ output: [say("fine")] }], {
      emulator: { faults: [{ type: "none" }, { type: "http", status: 401, message: "Wrong key." }] },
    });
    expect(await session.send("a").text()).toBe("fine");
    await expect(session.send("b").text()).rejects.toMatchObject({
      message: expect.stringContaining("Wrong key."),
      details: { status: "failed" },
    });
  });

  test("gives a title of reasoning before its text", async () => {
    const { session } = await scriptedSession([{ output: [think("A title"), say("x")] }]);
    const events = await eventsOf(session.send("go"));
    const kinds = events.flatMap((event) => (event.type.startsWith("reasoning_") ? [event] : []));
    expect(kinds[0]?.type).toBe("reasoning_start");
    expect(kinds[1]).toMatchObject({
      type: "reasoning_part_start",
      title: "A title",
      part: 0,
      kind: "summary",
    });
    expect(kinds.at(-1)).toMatchObject({ type: "reasoning_end" });
  });
});

const asking = async (): Promise<
  Awaited<ReturnType<typeof scriptedSession>> & { readonly ran: string[] }
> => {
  const ran: string[] = [];
  const scripted = await scriptedSession([{ output: [call("write", { a: 1 })] }, { output: [say("done")] }], {
    tools: [anyTool("write", () => ran.push("ran") && "written", { access: "write" })],
    permissions: "ask",
  });
  return { ...scripted, ran };
};

/** Another task that follows the session and answers its questions. */
const answerer = async (session: Session, answer: (requestId: string) => Promise<void>): Promise<void> => {
  for await (const event of session.follow()) {
    if (event.type !== "permission_request") continue;
    await answer(event.requestId);
    return;
  }
};

describe("permissions from elsewhere", () => {
  test("another task approves, and the tool runs", async () => {
    const { session, ran } = await asking();
    const watching = answerer(session, (id) => session.approve(id));
    expect(await session.send("go").result()).toMatchObject({ status: "completed" });
    await watching;
    expect(ran).toEqual(["ran"]);
    expect(ofType(await history(session), "permission_decision")).toMatchObject([
      { decision: "allow", by: "person" },
    ]);
  });

  test("another task denies, with a reason that the model reads", async () => {
    const { session, ran, emulator } = await asking();
    const watching = answerer(session, (id) => session.deny(id, "not today"));
    expect(await session.send("go").result()).toMatchObject({ status: "completed" });
    await watching;
    expect([ran, inputOf(emulator, 1).at(-1)]).toEqual([
      [],
      expect.objectContaining({ output: "not executed: denied by the user: not today" }),
    ]);
  });

  test("a question is answered only once", async () => {
    const { session } = await asking();
    let id = "";
    const notPending = { code: "permission_not_pending" };
    const watching = answerer(session, async (requestId) => {
      id = requestId;
      await session.approve(requestId);
      await expect(session.deny(requestId)).rejects.toMatchObject(notPending);
    });
    await session.send("go").result();
    await watching;
    await expect(session.approve(id)).rejects.toMatchObject(notPending);
  });
});

describe("secrets", () => {
  test("in tool output never reach the log or the model: verbatim, encoded, or cut by the size limit", async () => {
    const key = "sk-fixture-0123456789";
    const spilled = `${"x".repeat(40_000)}${key}${"y".repeat(40_000)}`;
    const { session, emulator } = await scriptedSession(
      [{ output: [call("leak")] }, { output: [say("done")] }],
      {
        tools: [
          anyTool("leak", () => ({
            plain: key,
            url: encodeURIComponent(`${key}+/=`),
            base64: Buffer.from(key).toString("base64"),
            spilled,
          })),
        ],
        secrets: ["other+secret/="],
      },
    );
    await session.send("go").result();
    const text = JSON.stringify(await history(session));
    expect(text).toContain("[redacted]");
    expect(text).not.toContain(key);
    expect(text).not.toContain(Buffer.from(key).toString("base64"));
    expect(emulator.exchanges.every(({ requestText }) => !requestText.includes(key))).toBe(true);
  });

  test("are redacted from a thrown error as from any result", async () => {
    const { session } = await scriptedSession([{ output: [call("leak")] }, { output: [say("done")] }], {
      tools: [
        anyTool("leak", () => {
          throw new Error("401 for other+secret/=");
        }),
      ],
      secrets: ["other+secret/="],
    });
    await session.send("go").result();
    expect(ofType(await history(session), "tool_result")[0]?.text).toBe(
      'the tool "leak" failed: 401 for [redacted]',
    );
  });
});
