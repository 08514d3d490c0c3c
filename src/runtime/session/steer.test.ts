import { describe, expect, test } from "vitest";

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
import { saidIn, steeredSession } from "../../../test/contracts/steer-fixture.ts";
import type { LoggedEvent } from "../../base/events/index.ts";
import type { Session } from "./index.ts";

const steer = (turn: string) => ({ whenBusy: "steer", turn }) as const;

const typesAndRoles = (items: readonly Record<string, unknown>[]): readonly unknown[] =>
  items.map((item) => item["role"] ?? item["type"]);

const proofs = async (session: Session, requests: number): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: requests }, async (_, n) => (await session.rebuild(n + 1)).proof));

describe("a message that steers", () => {
  test("joins the running turn after its tool results and before its next request", async () => {
    const { session, emulator, turn, finish } = await steeredSession();
    const steered = session.send("Look at b as well.", steer("now"));
    finish();
    const [first, second] = await Promise.all([turn.result(), steered.result()]);
    expect(first).toMatchObject({ status: "completed", text: "first" });
    expect(second).toEqual(first);
    const events = await history(session);
    expect(saidIn(events)).toEqual(["first: one", "first<now: Look at b as well."]);
    expect(ofType(events, "turn_end").map((end) => end.turn)).toEqual(["first"]);
    const at = events.findIndex((event) => event.type === "user_message" && event.steer === "now");
    expect(events[at - 1]?.type).toBe("tool_result");
    expect(events[at + 1]?.type).toBe("response_start");
    expect(typesAndRoles(inputOf(emulator, 1))).toEqual([
      "user",
      "reasoning",
      "function_call",
      "function_call_output",
      "user",
    ]);
    expect(await proofs(session, 2)).toEqual(["same", "same"]);
  });

  test("starts its own turn at once if no turn is running", async () => {
    const { session, turn, finish } = await steeredSession();
    finish();
    await turn.result();
    expect(await session.send("Next.", steer("own")).result()).toMatchObject({ status: "completed" });
    expect(saidIn(await history(session))).toEqual(["first: one", "own: Next."]);
  });

  test("starts its own turn before the turns that wait if the running turn ends first", async () => {
    const { session, turn, finish } = await steeredSession({}, [
      { output: [call("wait")] },
      { output: [say("first")] },
    ]);
    const queued = session.send("queued", { turn: "queued" });
    // The answer of the last step is under way when the message is sent.
    let late: Promise<unknown> | undefined;
    const sent = gate();
    const watching = (async () => {
      for await (const event of turn) {
        if (event.type === "response_start" && event.step === 2) {
          late = session.send("too late", steer("late")).result();
          sent.open();
        }
      }
    })();
    finish();
    await sent.promise;
    await Promise.all([watching, turn.result(), late, queued.result()]);
    expect(saidIn(await history(session))).toEqual(["first: one", "late: too late", "queued: queued"]);
  });

  test("keeps the order of several messages, and yields the events from its own message on", async () => {
    const { session, turn, finish } = await steeredSession();
    const [a, b] = [session.send("a", steer("a")), session.send("b", steer("b"))];
    const seen = eventsOf(b);
    finish();
    await Promise.all([turn.result(), a.result(), b.result()]);
    expect(saidIn(await history(session))).toEqual(["first: one", "first<a: a", "first<b: b"]);
    const events = (await seen).filter((event): event is LoggedEvent => "seq" in event);
    expect(saidIn(events)).toEqual(["first<b: b"]);
    expect(events.at(-1)?.type).toBe("turn_end");
  });

  test("carries images, and large ones as blobs", async () => {
    const { session, emulator, turn, finish } = await steeredSession();
    const data = Buffer.alloc(70_000, 1).toString("base64");
    session.send(
      [
        { type: "text", text: "Like this:" },
        { type: "image", mediaType: "image/png", data },
      ],
      steer("now"),
    );
    finish();
    await turn.result();
    const [, joined] = ofType(await history(session), "user_message");
    expect(joined?.content[1]).toMatchObject({ type: "image", blob: expect.any(String) as string });
    expect(JSON.stringify(inputOf(emulator, 1).at(-1))).toContain(data.slice(0, 100));
  });

  test("joins even if one before it was refused, which frees the id of that one", async () => {
    const { session, turn, finish } = await steeredSession();
    const full = new Error("the disk is full");
    const refused = session.send("refused", { ...steer("refused"), ready: () => Promise.reject(full) });
    const joined = session.send("joined", { ...steer("joined"), ready: async () => undefined });
    await new Promise(setImmediate);
    const again = session.send("again", steer("refused"));
    finish();
    expect(await joined.result()).toEqual(await turn.result());
    expect(await again.result()).toEqual(await turn.result());
    expect(await refused.result()).toMatchObject({ status: "failed" });
    expect(saidIn(await history(session))).toEqual([
      "first: one",
      "first<joined: joined",
      "first<refused: again",
    ]);
  });

  test("can be withdrawn before it joins, and its id starts nothing later", async () => {
    const { session, emulator, turn, finish } = await steeredSession();
    const steered = session.send("Never mind.", steer("gone"));
    steered.cancel();
    finish();
    expect(await turn.result()).toMatchObject({ status: "completed" });
    expect(await steered.result()).toMatchObject({ status: "cancelled" });
    const events = await history(session);
    expect(saidIn(events)).toEqual(["first: one"]);
    expect(ofType(events, "turn_end").map(({ turn: of, status }) => [of, status])).toEqual([
      ["first", "completed"],
      ["gone", "cancelled"],
    ]);
    expect(emulator.exchanges).toHaveLength(2);
    expect(() => session.send("again", { turn: "gone" })).toThrow(/already exists/);
  });

  test("cancels the turn that it joined", async () => {
    const second = gate();
    const { session, turn, finish } = await steeredSession({}, [
      { output: [call("wait")] },
      { output: [think("T"), say("never")], faults: "stall=after-item:1" },
    ]);
    const steered = session.send("more", steer("now"));
    const watching = (async () => {
      for await (const event of steered) if (event.type === "response_start") second.open();
    })();
    finish();
    await second.promise;
    steered.cancel();
    expect((await turn.result()).status).toBe("cancelled");
    expect((await steered.result()).status).toBe("cancelled");
    await watching;
  });

  test("has an id that no other turn can have, before and after it joined", async () => {
    const { session, turn, finish } = await steeredSession();
    const steered = session.send("more", steer("now"));
    expect(() => session.send("x", { turn: "now" })).toThrow(/already exists/);
    finish();
    await Promise.all([turn.result(), steered.result()]);
    expect(() => session.send("x", { turn: "now" })).toThrow(/already exists/);
  });

  test.each([
    ["model", { model: "openai/gpt-5.6" }],
    ["effort", { effort: "low" }],
    ["output", { output: { type: "object" } }],
  ] as const)("cannot bring its own %s, whether or not a turn is running", async (name, options) => {
    const { session, turn, finish } = await steeredSession();
    const send = (): unknown => session.send("x", { whenBusy: "steer", ...options });
    const refusal = { code: "steer_invalid", message: expect.stringContaining(name) as string };
    expect(send).toThrow(expect.objectContaining(refusal) as Error);
    finish();
    await turn.result();
    expect(send).toThrow(expect.objectContaining(refusal) as Error);
  });

  test("is cancelled, and not logged, if the session closes first", async () => {
    const { session } = await steeredSession();
    const steered = session.send("more", steer("now"));
    await session.close();
    expect((await steered.result()).status).toBe("cancelled");
  });

  test("waits for the answer to a permission question", async () => {
    const guarded = anyTool("guarded", () => "done", { access: "execute" });
    const { session, emulator } = await scriptedSession(
      [{ output: [call("guarded")] }, { output: [say("first")] }],
      { tools: [guarded], permissions: "ask" },
    );
    const turn = session.send("one", { turn: "first" });
    const asked = gate<string>();
    const watching = (async () => {
      for await (const event of turn) if (event.type === "permission_request") asked.open(event.requestId);
    })();
    const requestId = await asked.promise;
    const steered = session.send("more", steer("now"));
    await session.approve(requestId);
    expect(await steered.result()).toEqual(await turn.result());
    await watching;
    expect(typesAndRoles(inputOf(emulator, 1))).toEqual([
      "user",
      "function_call",
      "function_call_output",
      "user",
    ]);
  });

  test("does not join a turn that has reached its limit of steps", async () => {
    const { session, turn, finish } = await steeredSession({ limits: { maxSteps: 2 } }, [
      { output: [call("wait")] },
      { output: [call("wait")] },
      { output: [say("own")] },
    ]);
    let late: Promise<unknown> | undefined;
    const watching = (async () => {
      for await (const event of turn)
        if (event.type === "response_start" && event.step === 2)
          late = session.send("more", steer("own")).result();
    })();
    finish();
    expect(await turn.result()).toMatchObject({ status: "incomplete", reason: "max_steps" });
    await watching;
    expect(await late).toMatchObject({ status: "completed", text: "own" });
    expect(saidIn(await history(session))).toEqual(["first: one", "own: more"]);
  });

  test("begins before the turns that wait behind a compaction", async () => {
    const { session, turn, finish } = await steeredSession({}, [
      { output: [call("wait")] },
      { output: [say("first")] },
      { output: [say("a summary")] },
      { output: [say("steered")] },
      { output: [say("queued")] },
    ]);
    finish();
    await turn.result();
    const compacting = session.compact();
    const queued = session.send("queued", { turn: "queued" });
    const steered = session.send("more", steer("own"));
    await Promise.all([compacting, queued.result(), steered.result()]);
    expect(saidIn(await history(session)).filter((text) => !text.includes("Summarise"))).toEqual([
      "first: one",
      "own: more",
      "queued: queued",
    ]);
  });

  test("joins the turn of the message before it if both were sent at once", async () => {
    const { session, turn, finish } = await steeredSession();
    finish();
    await turn.result();
    const [a, b] = [session.send("a", steer("a")), session.send("b", steer("b"))];
    expect(await b.result()).toEqual(await a.result());
    expect(saidIn(await history(session))).toEqual(["first: one", "a: a", "a<b: b"]);
  });
});

test("a message joins the turn that continues after an automatic compaction", async () => {
  const [started, finish] = [gate(), gate()];
  const long = anyTool("long", async () => {
    started.open();
    await finish.promise;
    return "looked";
  });
  const { session } = await scriptedSession(
    [{ output: [think("A"), call("long")] }, { output: [say("a summary")] }, { output: [say("first")] }],
    { tools: [long], limits: { contextTokens: 2000 } },
  );
  const turn = session.send("many words ".repeat(800), { turn: "first" });
  await started.promise;
  const steered = session.send("more", steer("now"));
  finish.open();
  expect(await turn.result()).toMatchObject({ status: "completed" });
  expect(await steered.result()).toEqual(await turn.result());
  const events = await history(session);
  expect(ofType(events, "compaction")).toHaveLength(1);
  const [joined] = ofType(events, "user_message").filter((event) => event.steer === "now");
  const [continued] = ofType(events, "user_message").filter(
    (event) => event.by === "runtime" && event.purpose === undefined,
  );
  expect(joined?.turn).toBe(continued?.turn);
  expect(joined?.turn).not.toBe("first");
  expect(ofType(events, "turn_end").map(({ status }) => status)).toEqual([
    "incomplete",
    "completed",
    "completed",
  ]);
});
