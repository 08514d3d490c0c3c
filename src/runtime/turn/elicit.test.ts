import { describe, expect, test, vi } from "vitest";

import { address, askingTool, COUNT, form, NAME } from "../../../test/contracts/elicit-fixture.ts";
import {
  anyTool,
  call,
  gate,
  history,
  ofType,
  play,
  say,
  scriptedSession,
} from "../../../test/contracts/session-fixture.ts";
import type {
  Elicitation,
  ElicitationAnswer,
  ElicitationRequest,
  SessionEvent,
} from "../../base/events/index.ts";
import { elicitFrom } from "../tools/index.ts";

type Options = NonNullable<Parameters<typeof scriptedSession>[1]>;

async function asking(request: Elicitation, options: Options = {}) {
  const got: ElicitationAnswer[] = [];
  const parts = await scriptedSession([{ output: [call("ask")] }, { output: [say("done")] }], {
    tools: [askingTool(request, got)],
    ...options,
  });
  return { ...parts, got };
}

/** Plays a turn and gives each question to `answer` without waiting for it. */
async function answered(
  { session }: Pick<Awaited<ReturnType<typeof asking>>, "session">,
  answer: (question: ElicitationRequest) => Promise<unknown>,
): Promise<readonly SessionEvent[]> {
  const turn = session.send("go");
  const events: SessionEvent[] = [];
  const answers: Promise<unknown>[] = [];
  for await (const event of turn) {
    events.push(event);
    if (event.type === "elicitation_request") answers.push(answer(event));
  }
  await Promise.all(answers);
  return events;
}

const code = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error: { readonly code: string }) => error.code,
  );

describe("a tool that asks", () => {
  test("gets the checked values, and the log has the question and the action, not the values", async () => {
    const parts = await asking(form());
    const events = await answered(parts, ({ requestId }) =>
      parts.session.answer(requestId, { action: "accept", content: { name: "Ada-Typed-Only" } }),
    );
    expect(parts.got).toEqual([{ action: "accept", content: { name: "Ada-Typed-Only", count: 3 } }]);
    const [asked] = ofType(events, "elicitation_request");
    const [answer] = ofType(events, "elicitation_answer");
    expect(asked).toMatchObject({
      server: "people",
      message: "Who are you?",
      mode: "form",
      fields: [NAME, COUNT],
    });
    expect(answer).toMatchObject({ requestId: asked?.requestId, action: "accept", by: "person" });
    expect(
      events.map(({ type }) => type).filter((type) => /^(?:tool_(?:start|result)|elic)/.test(type)),
    ).toEqual(["tool_start", "elicitation_request", "elicitation_answer", "tool_result"]);
    expect(JSON.stringify(await history(parts.session))).not.toContain("Ada-Typed-Only");
  });

  test("waits until an answer fits: a malformed one is none", async () => {
    const parts = await asking(form());
    await answered(parts, async ({ requestId }) => {
      const answer = (given: unknown): Promise<unknown> =>
        code(parts.session.answer(requestId, given as ElicitationAnswer));
      expect(await answer({ action: "accept", content: {} })).toBe("elicitation_invalid");
      expect(await answer({ action: "accept", content: { name: "A", count: 10 } })).toBe(
        "elicitation_invalid",
      );
      expect(await answer({ action: "accept", content: { name: "A", more: 1 } })).toBe("elicitation_invalid");
      expect(await answer({ action: "decline", content: {} })).toBe("elicitation_invalid");
      for (const given of [
        undefined,
        null,
        "accept",
        {},
        { action: "yes" },
        { action: "accept", values: {} },
      ])
        expect(await answer(given)).toBe("options_invalid");
      expect(await code(parts.session.answer(`${requestId}x`, { action: "decline" }))).toBe(
        "elicitation_not_pending",
      );
      expect(parts.got).toEqual([]);
      expect(await answer({ action: "decline" })).toBe("no error");
      expect(await answer({ action: "accept", content: { name: "late" } })).toBe("elicitation_not_pending");
    });
    expect(parts.got).toEqual([{ action: "decline" }]);
  });

  test("may ask several questions at once, each under its own id", async () => {
    const got: string[] = [];
    const tool = anyTool("ask", async (_input, context) => {
      const answers = await Promise.all(
        ["one", "two"].map(async (message) => elicitFrom(context)?.(form([NAME], message))),
      );
      got.push(...answers.map((one) => (one?.action === "accept" ? String(one.content["name"]) : "")));
      return "ok";
    });
    const parts = await scriptedSession([{ output: [call("ask")] }, { output: [say("done")] }], {
      tools: [tool],
    });
    await answered(parts, ({ requestId, message }) =>
      parts.session.answer(requestId, { action: "accept", content: { name: `for ${message}` } }),
    );
    expect(got).toEqual(["for one", "for two"]);
  });

  test("gets cancel when the turn is stopped, and the log says so before the result", async () => {
    const parts = await asking(form());
    const events = await answered(parts, () => parts.session.cancel());
    expect(parts.got).toEqual([{ action: "cancel" }]);
    expect(ofType(events, "elicitation_answer")).toMatchObject([
      { action: "cancel", by: "policy", reason: "the user stopped the turn" },
    ]);
    const types = events.map(({ type }) => type);
    expect(types.indexOf("elicitation_answer")).toBeLessThan(types.indexOf("tool_result"));
  });

  test("that ends without waiting takes its question with it", async () => {
    const late: unknown[] = [];
    const tool = anyTool("ask", async (_input, context) => {
      const elicit = elicitFrom(context);
      void elicit?.(form()).then((answer) => late.push(answer));
      late.push(async () => elicit?.(form()));
      return "not waiting";
    });
    const parts = await scriptedSession([{ output: [call("ask")] }, { output: [say("done")] }], {
      tools: [tool],
    });
    const { events } = await play(parts.session.send("go"));
    expect(ofType(events, "elicitation_answer")).toMatchObject([
      { action: "cancel", by: "policy", reason: "the call ended first" },
    ]);
    const [again, first] = late as [() => Promise<unknown>, unknown];
    expect(first).toEqual({ action: "cancel" });
    expect(await again()).toEqual({ action: "cancel" }); // no question of a call that has ended is logged
    const asked = ofType(await history(parts.session), "elicitation_request");
    expect(asked).toHaveLength(1);
    expect(await code(parts.session.answer(asked[0]?.requestId ?? "", { action: "decline" }))).toBe(
      "elicitation_not_pending",
    );
  });

  test("gets decline from the policy where nobody can be asked", async () => {
    const parts = await asking(form(), { interactive: false });
    const { events } = await play(parts.session.send("go"));
    expect(parts.got).toEqual([{ action: "decline" }]);
    expect(ofType(events, "elicitation_answer")).toMatchObject([{ action: "decline", by: "policy" }]);
  });

  test("may send the person to an address, which has no values", async () => {
    const parts = await asking(address("https://auth.example/login"));
    const events = await answered(parts, ({ requestId }) =>
      parts.session.answer(requestId, { action: "accept", content: {} }),
    );
    expect(ofType(events, "elicitation_request")).toMatchObject([
      { mode: "url", url: "https://auth.example/login" },
    ]);
    expect(parts.got).toEqual([{ action: "accept", content: {} }]);
  });

  test("that is run by no session has nobody to ask", () => {
    const context = {
      signal: new AbortController().signal,
      callId: "c",
      idempotencyKey: "k",
      progress: () => undefined,
    };
    expect(elicitFrom(context)).toBeUndefined();
  });
});

describe("a question that must not be shown", () => {
  const fields = Array.from({ length: 10_000 }, (_, n) => ({ ...NAME, name: `f${n}` }));
  test.each<readonly [string, unknown, string]>([
    ["a password", form([{ ...NAME, name: "password" }]), "asks for a secret, or mentions one"],
    ["10,000 fields", form(fields), "has 10000 fields, and at most 20 are shown"],
    ["a script as its address", address("javascript:alert(1)"), "has an address that is not an https one"],
    ["no form", undefined, "has a form that this version does not know"],
    ["a function", { ...form(), fields: () => [] }, "has a form that this version does not know"],
  ])(
    "because of %s is declined at once, with a notice that names the server",
    async (_what, request, problem) => {
      const parts = await asking(request as Elicitation);
      const { events, result } = await play(parts.session.send("go"));
      expect(result.status).toBe("completed");
      expect(parts.got).toEqual([{ action: "decline" }]);
      expect(ofType(events, "elicitation_request")).toEqual([]);
      const server = request === undefined ? "of a tool" : "people";
      expect(ofType(events, "notice")).toMatchObject([
        {
          code: "elicitation_refused",
          message: `the server "${server}" asked for input, which was declined and not shown: it ${problem}`,
        },
      ]);
    },
  );

  test("because it holds a secret of this process is not logged either", async () => {
    const parts = await asking(form([NAME], "Is KEY-1234567890 yours?"), { secrets: ["KEY-1234567890"] });
    await play(parts.session.send("go"));
    expect(parts.got).toEqual([{ action: "decline" }]);
    expect(JSON.stringify(await history(parts.session))).not.toContain("KEY-1234567890");
  });

  test("has its control characters shown where the notice names the server", async () => {
    const parts = await asking({ ...form([]), server: "a\u001B]0;x\u0007\u202Eb" });
    const { events } = await play(parts.session.send("go"));
    expect(ofType(events, "notice")[0]?.message).toContain(String.raw`the server "a␛]0;x␇\\u{202E}b" asked`);
  });

  test("keeps nothing of a form that this version does not know", async () => {
    const request = { ...form([Object.assign({ html: "<b>" }, NAME)]), type: "turn_end", turn: "other" };
    const parts = await asking(request);
    const events = await answered(parts, ({ requestId }) =>
      parts.session.answer(requestId, { action: "decline" }),
    );
    expect(ofType(events, "elicitation_request")).toMatchObject([
      { fields: [NAME], message: "Who are you?" },
    ]);
    expect(JSON.stringify(events)).not.toContain("<b>");
  });
});

describe("while a person thinks", () => {
  /** The timers of the call and the turn, by their length. */
  const TURN_MS = 3_456_789;
  const CALL_MS = 2_345_678;

  test("neither the time limit of the turn nor that of the call runs, and both run again afterwards", async () => {
    const running = new Set<number>();
    const real = { set: globalThis.setTimeout, clear: globalThis.clearTimeout };
    const kinds = new Map<unknown, number>();
    vi.spyOn(globalThis, "setTimeout").mockImplementation((run: () => void, after = 0) => {
      const timer = real.set(run, after);
      const kind = after > CALL_MS ? TURN_MS : CALL_MS;
      if (after > CALL_MS - 600_000) {
        kinds.set(timer, kind);
        running.add(kind);
      }
      return timer;
    });
    vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
      const kind = kinds.get(timer);
      if (kind !== undefined) running.delete(kind);
      real.clear(timer);
    });
    const seen: (readonly number[])[] = [];
    const after = gate();
    const look = (): void => void seen.push([...running].toSorted((a, b) => a - b));
    const tool = anyTool(
      "ask",
      async (_input, context) => {
        look();
        await elicitFrom(context)?.(form());
        look();
        after.open();
        return "ok";
      },
      { timeoutMs: CALL_MS },
    );
    const parts = await scriptedSession([{ output: [call("ask")] }, { output: [say("done")] }], {
      tools: [tool],
      limits: { turnTimeoutMs: TURN_MS },
    });
    await answered(parts, async ({ requestId }) => {
      look();
      await parts.session.answer(requestId, { action: "decline" });
      await after.promise;
    });
    expect(seen).toEqual([[CALL_MS, TURN_MS], [], [CALL_MS, TURN_MS]]);
  });
});
