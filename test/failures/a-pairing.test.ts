/** Group A: pairing and ordering. Each test drives a session into the situation and checks the next request. */

import { expect, test } from "vitest";

import {
  appendToLog,
  bare,
  bench,
  bodies,
  calls,
  echoTool,
  expectNoneRefused,
  expectSound,
  gate,
  inputOf,
  issued,
  type Json,
  lastInput,
  ofType,
  outline,
  says,
  thought,
  until,
} from "./harness.ts";

test("P01 a cut turn leaves no orphan reasoning in the next request", async () => {
  const b = await bench({
    steps: [{ output: [thought(), says("never heard")], faults: ["end=after-item:0"] }],
    agent: { limits: { maxRetries: 0 } },
  });
  expect(await b.say("Think.")).toMatchObject({ status: "failed", error: { code: "stream_cut" } });
  await b.ask("And now?");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "user"]);
  expectSound(b.emulator);
});

test("P01 a turn cancelled while it thinks leaves no orphan reasoning in the next request", async () => {
  const b = await bench({
    steps: [{ output: [thought(), says("never heard")], faults: ["stall=after-item:0"] }],
  });
  const turn = b.session.send("Think.");
  await until(turn, (event) => event.type === "reasoning");
  turn.cancel();
  expect((await turn.result()).status).toBe("cancelled");
  await b.ask("And now?");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "user"]);
  expect(ofType(await b.log(), "reasoning")).toHaveLength(2); // still kept in the log
  expectSound(b.emulator);
});

test("P02 a call whose reasoning arrived without a payload goes back without its id and without the reasoning", async () => {
  const b = await bench({
    steps: [{ output: [bare(), calls("a")] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "function_call", "function_call_output"]);
  expectSound(b.emulator);
});

test("P03 a message whose reasoning arrived without a payload goes back without its id and without the reasoning", async () => {
  const b = await bench({ steps: [{ output: [bare(), says("Hello.")] }] });
  await b.ask("Hi.");
  await b.ask("Again.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "assistant", "user"]);
  expectSound(b.emulator);
});

test("P04 hosted items go back in their group with its reasoning and all ids", async () => {
  const b = await bench({
    steps: [{ output: [thought(), { web_search_call: "rivers" }, thought(), says("The Nile.")] }],
  });
  await b.ask("Longest river?");
  await b.ask("Sure?");
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "reasoning+",
    "web_search_call+",
    "reasoning+",
    "assistant+",
    "user",
  ]);
  expectSound(b.emulator);
});

test("P04 hosted items are omitted from a group that goes without ids, because they need theirs", async () => {
  const b = await bench({
    steps: [{ output: [bare(), { web_search_call: "rivers" }, bare(), says("The Nile.")] }],
  });
  await b.ask("Longest river?");
  await b.ask("Sure?");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "assistant", "user"]);
  expectNoneRefused(b.emulator);
});

test("P05 the ids of one response are sent all together or not at all", async () => {
  const b = await bench({
    steps: [
      { output: [thought(), calls("a")] },
      { output: [thought(), calls("b"), bare(), calls("c")] }, // one payload is missing, so the whole group is affected
      { output: [thought(), says("Done.")] },
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
    "function_call",
    "function_call",
    "function_call_output",
    "function_call_output",
    "reasoning+",
    "assistant+",
    "user",
  ]);
  expectNoneRefused(b.emulator);
});

test("P06 no request asks the server to store, even if a parameter says so", async () => {
  const b = await bench({ openai: { parameters: { store: true, metadata: { a: "b" } } } });
  await b.ask("Hello.");
  await b.ask("Hello again.");
  expect(bodies(b.emulator).map((body) => [body["store"], body["metadata"]])).toEqual([
    [false, { a: "b" }],
    [false, { a: "b" }],
  ]);
  expectSound(b.emulator);
});

test("P07 reasoning items that follow each other stay two items with their own ids", async () => {
  const b = await bench({
    steps: [{ output: [thought("**One**"), thought("**Two**"), calls("a")] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  const [, first, second] = lastInput(b.emulator);
  expect([first?.["id"], second?.["id"]]).toEqual(
    issued(b.emulator)
      .slice(0, 2)
      .map((item) => item["id"]),
  );
  expect(first?.["id"]).not.toBe(second?.["id"]);
  expectSound(b.emulator);
});

const payloads = (items: readonly Json[]): readonly unknown[] =>
  items.flatMap((item) => (item["type"] === "reasoning" ? [item["encrypted_content"]] : []));

test("P08 ten reasoning items of one response go back as ten, each with its own payload", async () => {
  const ten = Array.from({ length: 10 }, (_, n) => [thought(`**Part ${n}**`), { web_search_call: `q${n}` }]);
  const b = await bench({ steps: [{ output: [...ten.flat(), says("Done.")] }] });
  await b.ask("Search a lot.");
  await b.ask("Thanks.");
  const first = issued(b.emulator).slice(0, 21);
  expect(payloads(lastInput(b.emulator))).toEqual(payloads(first));
  expect(payloads(first)).toHaveLength(10);
  expectSound(b.emulator);
});

test("P09 the items of a response keep their order", async () => {
  const b = await bench({
    steps: [
      {
        output: [
          thought(),
          { web_search_call: "a" },
          thought(),
          { web_search_call: "b" },
          thought(),
          says("Both."),
        ],
      },
    ],
  });
  await b.ask("Search twice.");
  await b.ask("Thanks.");
  const order = lastInput(b.emulator).slice(1, 7);
  expect(order.map((item) => item["id"])).toEqual(
    issued(b.emulator)
      .slice(0, 6)
      .map((item) => item["id"]),
  );
  expectSound(b.emulator);
});

test("P10 a message sent while a tool runs waits until the group and its outputs are closed", async () => {
  const slow = echoTool();
  const answer = gate();
  const gated = {
    ...slow,
    run: async (input: unknown, context: Parameters<typeof slow.run>[1]): Promise<unknown> => {
      await answer.opened;
      return slow.run(input, context);
    },
  };
  const b = await bench({
    steps: [
      { output: [thought(), calls("a"), calls("b")] },
      { output: [thought(), says("Found.")] },
      { output: [says("Noted.")] },
    ],
    tools: [gated],
  });
  const first = b.session.send("Look.");
  await until(first, (event) => event.type === "tool_start");
  const second = b.session.send("By the way, hurry.");
  answer.open();
  expect((await first.result()).status).toBe("completed");
  expect((await second.result()).status).toBe("completed");
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "reasoning+",
    "function_call+",
    "function_call+",
    "function_call_output",
    "function_call_output",
    "reasoning+",
    "assistant+",
    "user",
  ]);
  expectSound(b.emulator);
});

test("P11 reasoning without readable text still goes back", async () => {
  const b = await bench({
    steps: [{ output: [{ reasoning: [] }, calls("a")] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  expect(lastInput(b.emulator)[1]).toEqual({
    id: issued(b.emulator)[0]?.["id"],
    type: "reasoning",
    encrypted_content: issued(b.emulator)[0]?.["encrypted_content"],
    summary: [],
  });
  expectSound(b.emulator);
});

test("P12 a call that is not run keeps its place: the reasoning stays and the output says so", async () => {
  const look = echoTool();
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }],
    tools: [look],
    agent: { limits: { maxSteps: 1 } },
  });
  expect(await b.say("Look.")).toMatchObject({ status: "incomplete", reason: "max_steps" });
  await b.ask("Go on.");
  const input = lastInput(b.emulator);
  expect(outline(input)).toEqual(["user", "reasoning+", "function_call+", "function_call_output", "user"]);
  expect(input[3]?.["output"]).toBe("not executed: the turn reached its limit of 1 steps");
  expect(look.runs).toEqual([]);
  expectSound(b.emulator);
});

test("P13 removing the tools does not change the groups that used them", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }, { output: [thought(), says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  await b.reopen({ tools: [] });
  await b.ask("And without tools?");
  expect(bodies(b.emulator).at(-1)).not.toHaveProperty("tools");
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
});

test("P14 a model that accepts no reasoning gets none, and no ids", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }, { output: [thought(), says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  await b.session.setModel(b.model("emu-plain", { summary: "none" }));
  await b.ask("And you?");
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "function_call",
    "function_call_output",
    "assistant",
    "user",
  ]);
  expect(b.emulator.report().requests.flatMap((one) => one.rule ?? [])).toEqual([]);
});

test("P15 deleting a message deletes the whole group it belongs to", async () => {
  const b = await bench({
    steps: [{ output: [thought(), says("Keep.")] }, { output: [thought(), says("Delete.")] }],
  });
  await b.ask("One.");
  await b.ask("Two.");
  const unwanted = ofType(await b.log(), "assistant_message").at(-1);
  await b.session.truncateFrom(unwanted?.seq ?? -1);
  await b.ask("Three.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "reasoning+", "assistant+", "user", "user"]);
  expectNoneRefused(b.emulator);
});

test("P15 a refused answer goes back whole, because the refusal is the thought's follower", async () => {
  const b = await bench({ steps: [{ output: [thought(), { refusal: "I will not." }] }] });
  await b.ask("Do something bad.");
  await b.ask("Why not?");
  const input = lastInput(b.emulator);
  expect(outline(input)).toEqual(["user", "reasoning+", "assistant+", "user"]);
  expect(input[2]?.["content"]).toEqual([{ type: "refusal", refusal: "I will not." }]);
  expectSound(b.emulator);
});

test("P12 a log that lost a call's result gets a constant result for it, before and after recovery", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  const events = await b.log();
  const kept = events.slice(
    0,
    events.findIndex((event) => event.type === "tool_start"),
  );
  await b.session.close();
  await b.store.remove("bench");
  await appendToLog(b, () => kept.map(({ v: _v, seq: _seq, epoch: _epoch, ...draft }) => draft));
  const session = await b.reopen();
  const before = await session.preview();
  await b.ask("What happened?");
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "reasoning+",
    "function_call+",
    "function_call_output",
    "user",
  ]);
  expect(inputOf(JSON.parse(before.body) as Json)).toEqual(lastInput(b.emulator).slice(0, 4));
  expectNoneRefused(b.emulator);
});
