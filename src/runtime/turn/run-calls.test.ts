import { describe, expect, test } from "vitest";

import { afterTest, countedIo, temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  call,
  eventsOf,
  gate,
  history,
  inputOf,
  ofType,
  play,
  say,
  scriptedSession,
  think,
} from "../../../test/contracts/session-fixture.ts";
import { fileStore } from "../log/index.ts";
import { tool } from "../tools/index.ts";

const city = tool({
  name: "get_weather",
  description: "Weather of a city",
  input: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  access: "read",
  run: (input) => `Sunny in ${String(input["city"])}`,
});

/** Runs one step with these calls, then an answer; returns the results in the order the model read them. */
async function results(
  calls: readonly object[],
  options: Parameters<typeof scriptedSession>[1],
): Promise<{ readonly texts: readonly unknown[]; readonly statuses: readonly string[] }> {
  const { session, emulator } = await scriptedSession(
    [{ output: [think("Calling"), ...calls] }, { output: [say("done")] }],
    options,
  );
  const { result } = await play(session.send("go"));
  expect(result).toMatchObject({ status: "completed", text: "done", steps: 2 });
  expect(emulator.report().totals.refused).toBe(0);
  const texts = inputOf(emulator, 1).flatMap((item) =>
    item["type"] === "function_call_output" || item["type"] === "custom_tool_call_output"
      ? [item["output"]]
      : [],
  );
  const statuses = ofType(await history(session), "tool_result").map(({ status }) => status);
  return { texts, statuses };
}

const stops = (_input: unknown, { signal }: { readonly signal: AbortSignal }): Promise<void> =>
  new Promise((done) => signal.addEventListener("abort", () => done()));

describe("a call ends in one result the model can read", () => {
  test("if the tool succeeds", async () => {
    expect(await results([call("get_weather", { city: "Paris" })], { tools: [city] })).toEqual({
      texts: ["Sunny in Paris"],
      statuses: ["ok"],
    });
  });

  test("if the tool is unknown, with a list of the tools there are", async () => {
    expect(await results([call("get_wether", { city: "Paris" })], { tools: [city] })).toEqual({
      texts: ['not executed: there is no tool "get_wether"; available are: get_weather'],
      statuses: ["error"],
    });
    expect((await results([call("x")], {})).texts).toEqual([
      'not executed: there is no tool "x"; available are: none',
    ]);
  });

  test.each(["functions.bump", "bump<|channel|>commentary", "bu mp", "bump ", "Bump", '""', "x".repeat(200)])(
    "if the name is almost that of a tool, and nothing runs: %s",
    async (name) => {
      const ran: unknown[] = [];
      const tools = [anyTool("bump", () => ran.push("bump"))];
      for (const written of ["{}", '{"by": ']) {
        expect(await results([{ function_call: { name, arguments: written } }], { tools })).toEqual({
          texts: [`not executed: there is no tool "${name}"; available are: bump`],
          statuses: ["error"],
        });
      }
      expect(ran).toEqual([]);
    },
  );

  test.each([
    ["invalid JSON", '{"city": "Par', /not executed: The arguments were not accepted: .*not valid JSON/],
    ["nothing", "", /they are empty/],
    ["an array", "[1]", /an array, not a JSON object/],
    ["a wrong type", '{"city": 7}', /do not fit "get_weather": .*city/],
    ["a missing field", "{}", /do not fit "get_weather": .*city/],
    ["an extra field", '{"city":"P","x":1}', /do not fit "get_weather"/],
  ])(
    "if the arguments are wrong (%s): they are never guessed, and the tool does not run",
    async (_what, args, message) => {
      let ran = 0;
      const counting = { ...city, run: () => (ran += 1) };
      const { texts, statuses } = await results([call("get_weather", args)], { tools: [counting] });
      expect([texts, statuses, ran]).toEqual([[expect.stringMatching(message)], ["error"], 0]);
    },
  );

  test("if the tool throws, at once or later, an Error or anything else", async () => {
    const tools = [
      anyTool("sync", () => {
        throw new Error("no luck");
      }),
      anyTool("later", () => Promise.reject(new Error("still none"))),
      // oxlint-disable-next-line prefer-promise-reject-errors -- tools reject with anything
      anyTool("odd", () => Promise.reject(undefined)),
    ];
    expect(await results([call("sync"), call("later"), call("odd")], { tools })).toEqual({
      texts: [
        'the tool "sync" failed: no luck',
        'the tool "later" failed: still none',
        'the tool "odd" failed: not an Error: undefined',
      ],
      statuses: ["error", "error", "error"],
    });
  });

  test("if the tool takes too long, by its own limit or the agent's, and even if it does not stop", async () => {
    const tools = [
      anyTool("own", stops, { timeoutMs: 1 }),
      anyTool("common", stops),
      anyTool("stubborn", () => new Promise(() => undefined)),
    ];
    const limits = { toolTimeoutMs: 2, toolGraceMs: 1 };
    expect(await results([call("own"), call("common"), call("stubborn")], { tools, limits })).toEqual({
      texts: [
        'the tool "own" was stopped after 1 ms',
        'the tool "common" was stopped after 2 ms',
        'the tool "stubborn" was stopped after 2 ms; it did not stop, so its outcome is unknown',
      ],
      statuses: ["timeout", "timeout", "timeout"],
    });
  });

  test("if an abandoned tool ends late, which becomes a notice and not a second result", async () => {
    const late = gate();
    const { session } = await scriptedSession([{ output: [call("slow")] }, { output: [say("done")] }], {
      tools: [anyTool("slow", () => late.promise)],
      limits: { toolTimeoutMs: 1, toolGraceMs: 1 },
    });
    await session.send("go").result();
    const follower = session.follow({ after: (await history(session)).length - 1 });
    late.open();
    for await (const event of follower) {
      expect(event).toMatchObject({
        type: "notice",
        code: "late_result",
        message: expect.stringContaining("it succeeded"),
      });
      break;
    }
    expect(ofType(await history(session), "tool_result")).toHaveLength(1);
  });

  test("if the output is huge: the model gets head and tail and what is missing, and the full text is a blob", async () => {
    const text = `BEGIN ${"x".repeat(300_000)} END`;
    const folder = temporaryFolder();
    const { session } = await scriptedSession([{ output: [call("big")] }, { output: [say("done")] }], {
      tools: [anyTool("big", () => text)],
      store: fileStore(folder),
    });
    await session.send("go").result();
    const [result] = ofType(await history(session), "tool_result");
    expect(Buffer.byteLength(result?.text ?? "")).toBeLessThanOrEqual(64 * 1024);
    expect(result?.text).toMatch(/^BEGIN x+.*bytes left out.*x+ END$/s);
    await session.close();
    const log = await fileStore(folder).open("s1", { mode: "read" });
    expect(Buffer.from((await log.getBlob(result?.blob ?? "")) ?? []).toString()).toBe(text);
  });

  test("if the result is not text", async () => {
    const tools = [anyTool("nothing", () => undefined), anyTool("object", () => ({ a: [1, -0], b: 10n }))];
    const { texts, statuses } = await results([call("nothing"), call("object")], { tools });
    expect(statuses).toEqual(["ok", "ok"]);
    expect(texts[1]).toContain('"a"');
    expect(texts.every((text) => typeof text === "string")).toBe(true);
  });

  test("if it is a custom tool, whose free-form text is its `input`, answered in its own kind", async () => {
    const echo = anyTool("shell", (input) => `ran ${String(input["input"])}`);
    const custom = { custom_tool_call: { name: "shell", input: "ls -l\n{not json" } };
    expect((await results([custom], { tools: [echo] })).texts).toEqual(["ran ls -l\n{not json"]);
  });
});

const writes = (done: string[]): ReturnType<typeof anyTool> =>
  anyTool("write", () => done.push("ran") && "written", { access: "write" });

describe("permissions", () => {
  test.each([
    ["read-only", 'denied by the permission policy: "read-only" does not allow write'],
    ["deny", 'denied by the permission policy: "deny" does not allow write'],
  ] as const)("of mode %s deny a write, with a reason", async (permissions, why) => {
    const done: string[] = [];
    const { texts, statuses } = await results([call("write")], { tools: [writes(done)], permissions });
    expect([texts, statuses, done]).toEqual([[`not executed: ${why}`], ["denied"], []]);
  });

  test("are read-only by default", async () => {
    const done: string[] = [];
    expect((await results([call("write")], { tools: [writes(done)] })).statuses).toEqual(["denied"]);
    expect(done).toEqual([]);
  });

  test("deny an ask if there is no one to answer, and say so", async () => {
    const done: string[] = [];
    const { texts } = await results([call("write")], {
      tools: [writes(done)],
      permissions: "ask",
      interactive: false,
    });
    expect(texts).toEqual([
      "not executed: denied by the permission policy: this call needs permission, and the session is not interactive",
    ]);
    expect(done).toEqual([]);
  });

  test("can be decided by a function, which sees the exact call and denies by failing", async () => {
    const asked: unknown[] = [];
    const done: string[] = [];
    const allowed = await results([call("write", { a: 1 })], {
      tools: [writes(done)],
      permissions: async (ask) => {
        asked.push(ask);
        return { decision: "allow" };
      },
    });
    expect([allowed.statuses, done]).toEqual([["ok"], ["ran"]]);
    expect(asked).toMatchObject([{ tool: "write", access: "write", arguments: '{"a":1}' }]);
    const broken = await results([call("write")], {
      tools: [writes(done)],
      permissions: () => Promise.reject(new Error("no policy server")),
    });
    expect(broken.texts[0]).toContain("the permission check failed: no policy server");
    expect(done).toEqual(["ran"]);
  });

  test("end with the turn if the function never answers", async () => {
    const { session } = await scriptedSession([{ output: [call("write")] }], {
      tools: [writes([])],
      permissions: () => new Promise(() => undefined),
    });
    const turn = session.send("go");
    for await (const event of turn) if (event.type === "permission_request") turn.cancel();
    expect((await turn.result()).status).toBe("cancelled");
  });

  test("log request and decision, with the hash of the arguments, before the tool starts", async () => {
    const { session } = await scriptedSession(
      [{ output: [call("write", { a: 1 })] }, { output: [say("x")] }],
      {
        tools: [writes([])],
        permissions: async () => ({ decision: "allow", reason: "because" }),
      },
    );
    await session.send("go").result();
    const events = await history(session);
    const [request] = ofType(events, "permission_request");
    const [decision] = ofType(events, "permission_decision");
    const [start] = ofType(events, "tool_start");
    expect(decision).toMatchObject({
      requestId: request?.requestId,
      callId: request?.callId,
      argumentsHash: request?.argumentsHash,
      decision: "allow",
      by: "function",
      reason: "because",
    });
    expect(request?.argumentsHash).toMatch(/^[0-9a-f]{64}$/);
    expect([request?.seq, decision?.seq, start?.seq].toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual([
      request?.seq,
      decision?.seq,
      start?.seq,
    ]);
  });

  test("may deny one of several calls while the others run", async () => {
    const done: string[] = [];
    const { statuses, texts } = await results([call("write"), call("get_weather", { city: "Rome" })], {
      tools: [writes(done), city],
    });
    expect([texts[1], done]).toEqual(["Sunny in Rome", []]);
    expect(statuses.toSorted()).toEqual(["denied", "ok"]);
  });

  test("run nothing if the turn is cancelled while asking", async () => {
    const done: string[] = [];
    const { session } = await scriptedSession(
      [{ output: [call("write"), call("get_weather", { city: "P" })] }],
      {
        tools: [writes(done), city],
        permissions: "ask",
      },
    );
    const turn = session.send("go");
    for await (const event of turn) if (event.type === "permission_request") turn.cancel();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    const events = await history(session);
    expect(ofType(events, "tool_result").map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    expect([ofType(events, "tool_start"), done]).toEqual([[], []]);
  });
});

const uses = (...names: readonly string[]): object =>
  call("parallel", {
    tool_uses: names.map((name) => ({ recipient_name: `functions.${name}`, parameters: {} })),
  });

describe("several calls at once", () => {
  test("run concurrently; results are logged as they finish and sent in call order", async () => {
    const [a, b] = [gate(), gate()];
    const { session, emulator } = await scriptedSession(
      [{ output: [call("a"), call("b")] }, { output: [say("done")] }],
      {
        tools: [
          anyTool("a", async () => {
            b.open();
            await a.promise;
            return "from a";
          }),
          anyTool("b", async () => {
            await b.promise;
            return "from b";
          }),
        ],
      },
    );
    const turn = session.send("go");
    for await (const event of turn) if (event.type === "tool_result" && event.text === "from b") a.open();
    const logged = ofType(await history(session), "tool_result").map(({ text }) => text);
    const sent = inputOf(emulator, 1).flatMap((item) => ("output" in item ? [item["output"]] : []));
    expect([logged, sent]).toEqual([
      ["from b", "from a"],
      ["from a", "from b"],
    ]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("are stopped by an abort, and their results say so", async () => {
    let running = 0;
    const begun = (): void => {
      running += 1;
      if (running === 2) turn.cancel();
    };
    const { session } = await scriptedSession([{ output: [call("waits"), call("stubborn")] }], {
      tools: [
        anyTool("waits", (_input, { signal }) => {
          begun();
          return new Promise((_done, fail) =>
            signal.addEventListener("abort", () => fail(signal.reason as Error)),
          );
        }),
        anyTool("stubborn", () => {
          begun();
          return new Promise(() => undefined);
        }),
      ],
      limits: { toolGraceMs: 1 },
    });
    const turn = session.send("go");
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    expect(ofType(await history(session), "tool_result").map(({ status, text }) => [status, text])).toEqual([
      ["cancelled", expect.stringContaining("it may have taken effect in part")],
      ["cancelled", expect.stringContaining("did not stop in time")],
    ]);
    expect(await session.send("and now?").result()).toMatchObject({ status: "completed" });
  });

  test("in the parallel wrapper are expanded to run, answered with one result, and replayed unchanged", async () => {
    const keys: string[] = [];
    const tools = [
      anyTool("a", (input, { idempotencyKey }) => keys.push(idempotencyKey) && `a ${String(input["x"])}`),
      anyTool("b", (_input, { idempotencyKey }) => keys.push(idempotencyKey) && "b"),
    ];
    const wrapper = call("multi_tool_use.parallel", {
      tool_uses: [
        { recipient_name: "functions.a", parameters: { x: 1 } },
        { recipient_name: "functions.b", parameters: {} },
      ],
    });
    const { texts, statuses } = await results([wrapper], { tools });
    expect(statuses).toEqual(["ok"]);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/a 1[\s\S]*b/);
    expect(new Set(keys).size).toBe(2); // two calls, two keys: a service may reject a repeated key
  });

  test("in the parallel wrapper keep their effects if one of them fails", async () => {
    const tools = [
      anyTool("good", () => "fine"),
      anyTool("bad", () => {
        throw new Error("broke");
      }),
    ];
    const wrapper = call("parallel", {
      tool_uses: [
        { recipient_name: "functions.good", parameters: {} },
        { recipient_name: "functions.bad", parameters: {} },
      ],
    });
    const { texts } = await results([wrapper], { tools });
    expect(texts[0]).toContain("fine");
    expect(texts[0]).toContain("broke");
  });

  test("in the parallel wrapper require the strongest access among them, and run only if all can run", async () => {
    const ran: string[] = [];
    const tools = [anyTool("r", () => ran.push("r")), anyTool("w", () => ran.push("w"), { access: "write" })];
    expect((await results([uses("r", "w")], { tools })).statuses).toEqual(["denied"]);
    expect((await results([uses("r", "nobody")], { tools })).texts).toEqual([
      'not executed: there is no tool "nobody"; available are: r, w',
    ]);
    expect(ran).toEqual([]);
  });
});

test("progress is live, never logged, and redacted", async () => {
  const { session } = await scriptedSession([{ output: [call("works")] }, { output: [say("done")] }], {
    tools: [
      anyTool("works", (_input, { progress }) => {
        progress("half way, with sk-secret-value");
        return "ok";
      }),
    ],
    secrets: ["sk-secret-value"],
  });
  const events = await eventsOf(session.send("go"));
  expect(ofType(events, "tool_progress").map(({ text }) => text)).toEqual(["half way, with [redacted]"]);
  expect(JSON.stringify(await history(session))).not.toContain("half way");
});

const syncsOf = async (calls: readonly object[]): Promise<number> => {
  const io = countedIo();
  const { session } = await scriptedSession([{ output: calls }, { output: [say("done")] }], {
    tools: [anyTool("a", () => "a"), anyTool("b", () => "b"), anyTool("c", () => "c")],
    store: fileStore(temporaryFolder(), { io }),
  });
  afterTest(() => session.close());
  await session.send("go").result();
  return io.calls.sync;
};

test("a tool step costs two syncs, and one more for each result before the last", async () => {
  // Step 1: before the request, before the tools. Step 2: before the request. Then the end of the turn.
  const one = await syncsOf([call("a")]);
  expect(one).toBe(4);
  expect(await syncsOf([say("no tool")])).toBe(2);
  expect(await syncsOf([call("a"), call("b"), call("c")])).toBeLessThanOrEqual(one + 2);
});
