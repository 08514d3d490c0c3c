/** Group F: streams, aborts, retries. */

import { expect, test } from "vitest";

import {
  bench,
  bodies,
  calls,
  completed,
  echoTool,
  expectNoneRefused,
  expectSound,
  fcItem,
  inputOf,
  type Json,
  lastInput,
  msgItem,
  ofType,
  outline,
  rsItem,
  says,
  scriptedBench,
  thought,
  until,
} from "./harness.ts";

const answer = [{ output: [thought(), says("Hello.")] }];

test("R01 a stream that ends without its terminal event is discarded and requested again", async () => {
  const b = await bench({ steps: [...answer, ...answer], faults: ["no-terminal"] });
  await b.ask("Hi.");
  await b.ask("Again.");
  const log = await b.log();
  expect(ofType(log, "response_end").map(({ status }) => status)).toEqual(["cut", "completed", "completed"]);
  expect(outline(lastInput(b.emulator))).toEqual(["user", "reasoning+", "assistant+", "user"]);
  expect(b.clock.slept).toHaveLength(1);
  expectSound(b.emulator);
});

test.each([
  "cut=after-item:0",
  "reset=after-event:5",
  "end=after-byte:900",
  "bad-json=4",
  "cut=before-item:0",
])("R01 after %s the turn ends well and nothing of the lost attempt is sent", async (fault) => {
  const b = await bench({ steps: [...answer, ...answer], faults: [fault] });
  await b.ask("Hi.");
  await b.ask("Again.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "reasoning+", "assistant+", "user"]);
  // Whether the server believes that it delivered the lost attempt is a race; what it received is not.
  expectNoneRefused(b.emulator);
  expect(b.emulator.report().totals.prefixBreaks).toBe(0);
});

test("R01 retries are bounded: then the turn fails, and the next one works", async () => {
  const b = await bench({ faults: Array.from({ length: 4 }, () => "no-terminal") });
  expect(await b.say("Hi.")).toMatchObject({
    status: "failed",
    error: { code: "stream_cut", class: "TRUNC" },
  });
  expect(b.clock.slept).toHaveLength(3);
  await b.ask("Again.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "user"]);
  expectSound(b.emulator);
});

test("R02 an incomplete response is not taken for a complete one, and its thought is not replayed", async () => {
  const b = await bench({
    steps: [{ output: [thought()], status: "incomplete", reason: "max_output_tokens" }],
  });
  expect(await b.say("Think.")).toMatchObject({
    status: "incomplete",
    reason: "max_output_tokens",
    text: "",
  });
  await b.ask("Go on.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "user"]);
  expectSound(b.emulator);
});

test("R02 the finished messages of an incomplete response are sent as plain text", async () => {
  const b = await bench({
    steps: [
      {
        output: [thought(), says("A whole sentence."), says("half a")],
        faults: ["incomplete=content_filter,items:2"],
      },
    ],
  });
  expect(await b.say("Talk.")).toMatchObject({ status: "incomplete", reason: "content_filter" });
  await b.ask("Go on.");
  const input = lastInput(b.emulator);
  expect(input.filter((item) => "id" in item || item["type"] === "reasoning")).toEqual([]);
  expect(JSON.stringify(input)).toContain("A whole sentence.");
  expectSound(b.emulator);
});

test("R03 a limit smaller than the thinking ends the turn as incomplete, and the session continues", async () => {
  const b = await scriptedBench((_, request) =>
    request === 1
      ? {
          status: 400,
          json: {
            error: {
              message:
                "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
              type: "invalid_request_error",
              param: null,
              code: null,
            },
          },
        }
      : completed([msgItem("Fine.")]),
  );
  expect(await b.say("Think.")).toMatchObject({
    status: "incomplete",
    reason: "max_output_tokens",
    error: { class: "LIMIT", message: expect.stringContaining("output limit was reached") },
  });
  expect(b.clock.slept).toEqual([]);
  await b.ask("Again.");
});

test.each(["empty-output", "missing-output"])(
  "R04 with %s in the terminal event the items are those of the stream",
  async (fault) => {
    const b = await bench({
      steps: [
        { output: [thought(), calls("a")], faults: [fault] },
        { output: [thought(), says("Done.")], faults: [fault] },
      ],
      tools: [echoTool()],
    });
    await b.ask("Look.");
    await b.ask("Thanks.");
    expect(outline(lastInput(b.emulator))).toEqual([
      "user",
      "reasoning+",
      "function_call+",
      "function_call_output",
      "reasoning+",
      "assistant+",
      "user",
    ]);
    expectSound(b.emulator);
  },
);

test("R05 content that arrived only in `done` is still shown, once", async () => {
  const b = await bench({
    steps: [{ output: [thought("**Title**\n\nbody"), says("Hello there.")], faults: ["done-only"] }],
  });
  const turn = b.session.send("Hi.");
  let text = "";
  let reasoning = "";
  const titles: unknown[] = [];
  for await (const event of turn) {
    if (event.type === "text_delta") text += event.delta;
    if (event.type === "reasoning_delta") reasoning += event.delta;
    if (event.type === "reasoning_part_start") titles.push(event.title);
  }
  expect({ text, reasoning, titles }).toEqual({
    text: "Hello there.",
    reasoning: "**Title**\n\nbody",
    titles: ["Title"],
  });
  await b.ask("Again.");
  expectSound(b.emulator);
});

test.each(["nested", "flat"])(
  "R06 an error event of the %s shape ends the attempt, and only once",
  async (shape) => {
    const b = await bench({
      steps: [...answer, ...answer],
      faults: [`error-event=${shape},code:server_error`],
    });
    await b.ask("Hi.");
    const ends = ofType(await b.log(), "response_end");
    expect(ends.map(({ status }) => status)).toEqual(["failed", "completed"]);
    expect(ends[0]?.error).toMatchObject({ code: "server_error", class: "TRUNC" });
    await b.ask("Again.");
    expectSound(b.emulator);
  },
);

test("R07 a retry discards what the lost attempt had finished, and no tool runs twice", async () => {
  const look = echoTool();
  const b = await bench({
    steps: [
      { output: [thought(), calls("a"), calls("b")], faults: ["cut=after-item:1"] },
      { output: [thought(), calls("a")] },
      { output: [thought(), says("Done.")] },
    ],
    tools: [look],
  });
  await b.ask("Look.");
  expect(look.runs).toEqual(["a"]);
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "reasoning+",
    "function_call+",
    "function_call_output",
  ]);
  expect(ofType(await b.log(), "response_start").map(({ step, attempt }) => [step, attempt])).toEqual([
    [1, 1],
    [1, 2],
    [2, 1],
  ]);
  expectSound(b.emulator);
});

test("R08 half a thought is for people: kept as a partial, never sent", async () => {
  const b = await bench({
    steps: [
      { output: [thought("**Half**\n\na thought that is cut"), says("x")], faults: ["stall=after-event:7"] },
    ],
  });
  const turn = b.session.send("Think.");
  await until(turn, (event) => event.type === "reasoning_delta");
  turn.cancel();
  await turn.result();
  const log = await b.log();
  expect(ofType(log, "partial").map(({ kind }) => kind)).toEqual(["reasoning"]);
  expect(ofType(log, "reasoning")).toEqual([]);
  await b.ask("Again.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "user"]);
  expectSound(b.emulator);
});

test("R09 a response with only thoughts is requested once more, with a different request", async () => {
  const b = await bench({ steps: [{ output: [thought()] }, { output: [thought(), says("Here.")] }] });
  await b.ask("Think.");
  const [first, second] = bodies(b.emulator);
  expect(second?.["input"]).not.toEqual(first?.["input"]);
  expect(outline(inputOf(second))).toEqual(["user", "developer"]);
  expectNoneRefused(b.emulator);
});

test("R09 a second empty response ends the turn and does not loop", async () => {
  const b = await bench({ steps: [{ output: [thought()] }, { output: [thought()] }] });
  expect(await b.say("Think.")).toMatchObject({ status: "incomplete", reason: "empty_response" });
  expect(bodies(b.emulator)).toHaveLength(2);
  await b.ask("Again.");
  expectNoneRefused(b.emulator);
});

test("R10 a rate limit inside the stream is waited out as long as its text says", async () => {
  const b = await bench({ steps: [...answer, ...answer], faults: ["failed=rate_limit_exceeded,items:0"] });
  await b.ask("Hi.");
  expect(b.clock.slept).toEqual([2400]);
  await b.ask("Again.");
  expectSound(b.emulator);
});

test.each([
  ["http=429,retry-after:7", 7000],
  ["http=429,retry-after-ms:1500", 1500],
  ["http=503,retry-after:2", 2000],
])("R10 %s is waited out as its header says", async (fault, wait) => {
  const b = await bench({ faults: [fault] });
  const turn = b.session.send("Hi.");
  const retries: unknown[] = [];
  for await (const event of turn) if (event.type === "retry") retries.push([event.attempt, event.delayMs]);
  expect((await turn.result()).status).toBe("completed");
  expect(b.clock.slept).toEqual([wait]);
  expect(retries).toEqual([[2, wait]]);
  expectSound(b.emulator);
});

test.each(["insufficient_quota", "cyber_policy", "invalid_prompt"])(
  "R10 %s inside the stream is not retried",
  async (code) => {
    const b = await bench({ faults: [`failed=${code},items:0`] });
    expect(await b.say("Hi.")).toMatchObject({ status: "failed", error: { code, class: "FATAL" } });
    expect(b.clock.slept).toEqual([]);
    await b.ask("Again.");
    expectSound(b.emulator);
  },
);

test("R10 a context that is too long ends the turn as incomplete", async () => {
  const b = await bench({ faults: ["failed=context_length_exceeded,items:0"] });
  expect(await b.say("Hi.")).toMatchObject({
    status: "incomplete",
    reason: "context",
    error: { class: "LIMIT" },
  });
  await b.ask("Again.");
  // A compaction removes what did not fit, and only that event breaks the prefix.
  expect(b.emulator.report().totals).toMatchObject({ refused: 0, recall: 1, prefixBreaks: 1 });
  expect(outline(lastInput(b.emulator)).at(-1)).toBe("user");
});

test("R11 a failure after a good stream does not loop", async () => {
  const b = await bench({
    steps: Array.from({ length: 4 }, () => answer[0] as never),
    faults: Array.from({ length: 4 }, () => "failed=server_error"),
  });
  expect(await b.say("Hi.")).toMatchObject({ status: "failed", error: { code: "server_error" } });
  expect(bodies(b.emulator)).toHaveLength(4);
  await b.ask("Again.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "user"]);
  expectSound(b.emulator);
});

test("R12 a plan's limit is final until it is lifted", async () => {
  const b = await scriptedBench((_, request) =>
    request === 1
      ? {
          status: 429,
          json: {
            type: "error",
            error: {
              type: "usage_limit_reached",
              message: "The usage limit has been reached",
              plan_type: "plus",
              resets_at: 1777936568,
              resets_in_seconds: 13872,
            },
            status_code: 429,
          },
        }
      : completed([msgItem("Fine.")]),
  );
  expect(await b.say("Hi.")).toMatchObject({
    status: "failed",
    error: { code: "usage_limit_reached", class: "FATAL", message: "The usage limit has been reached" },
  });
  expect(b.clock.slept).toEqual([]);
  await b.ask("Again.");
});

test("R14 items with gaps between their indexes and out of order are sent in index order", async () => {
  const items = [msgItem("first"), rsItem(), msgItem("second")] as const;
  const b = await scriptedBench((_, request) => {
    if (request > 1) return completed([msgItem("Fine.")]);
    const { events = [] } = completed([items[2], items[0], items[1]], { output: [] }, [9, 0, 4]);
    return { events: events.map((event) => withoutOutput(event)) };
  });
  await b.ask("Hi.");
  await b.ask("Again.");
  expect(
    inputOf(b.server.bodies[1])
      .slice(1, 4)
      .map((item) => item["id"]),
  ).toEqual(items.map((item) => item["id"]));
});

function withoutOutput(event: Json): Json {
  if (event["type"] !== "response.completed") return event;
  return { ...event, response: { ...(event["response"] as Json), output: [] } };
}

test("R14 items that are open at the same time do not mix", async () => {
  const interleaved = await scriptedBench((_, request) =>
    request > 1 ? completed([msgItem("Fine.")]) : { events: interleave([msgItem("abc"), msgItem("xyz")]) },
  );
  expect(await interleaved.say("Hi.")).toMatchObject({ status: "completed", text: "abc\n\nxyz" });
  const messages = ofType(await interleaved.log(), "assistant_message");
  expect(messages.map(({ outputIndex, text }) => [outputIndex, text])).toEqual([
    [1, "xyz"],
    [0, "abc"],
  ]);
});

const delta = (output_index: number, text: string): Json => ({
  type: "response.output_text.delta",
  output_index,
  content_index: 0,
  delta: text,
});

function interleave(items: readonly Json[]): readonly Json[] {
  const [a, b] = items;
  return [
    { type: "response.output_item.added", output_index: 0, item: { type: "message" } },
    { type: "response.output_item.added", output_index: 1, item: { type: "message" } },
    delta(0, "a"),
    delta(1, "x"),
    delta(0, "bc"),
    delta(1, "yz"),
    { type: "response.output_item.done", output_index: 1, item: b },
    { type: "response.output_item.done", output_index: 0, item: a },
    { type: "response.completed", response: { status: "completed", output: [] } },
  ];
}

test("R15 a call that is done counts as done, whatever its status says", async () => {
  const look = echoTool();
  const b = await scriptedBench(
    (_, request) =>
      request === 1
        ? completed([
            { id: "cm_1", type: "program", call_id: "call_p", code: "text(1)", fingerprint: "gAAA" },
            fcItem("a", { status: "in_progress", caller: { type: "program", caller_id: "call_p" } }),
          ])
        : completed([msgItem("Fine.")]),
    { tools: [look] },
  );
  await b.ask("Look.");
  expect(look.runs).toEqual(["a"]);
  expect(inputOf(b.server.bodies[1])[2]).toMatchObject({
    status: "in_progress",
    caller: { type: "program", caller_id: "call_p" },
  });
});

test("R16 a steered response is incomplete and not an error", async () => {
  const b = await bench({
    steps: [{ output: [thought(), says("Never mind.")], status: "incomplete", reason: "steered" }],
  });
  const result = await b.say("Hi.");
  expect(result).toMatchObject({ status: "incomplete", reason: "steered" });
  expect(result.error).toBeUndefined();
  await b.ask("Again.");
  expectSound(b.emulator);
});

test("R17 nothing of a cancelled response reaches a viewer or the log after the turn's end", async () => {
  const b = await bench({ steps: answer, faults: ["slow=5"] });
  const turn = b.session.send("Hi.");
  await until(turn, (event) => event.type === "reasoning_start");
  turn.cancel();
  await turn.result();
  const seen: string[] = [];
  for await (const event of turn) seen.push(event.type);
  expect(seen.at(-1)).toBe("turn_end");
  const log = await b.log();
  expect(log.at(-1)?.type).toBe("turn_end");
  await b.ask("Again.");
  const later = (await b.log()).slice(log.length);
  expect(later.filter((event) => event.turn === log.at(-1)?.turn)).toEqual([]);
  expectSound(b.emulator);
});
