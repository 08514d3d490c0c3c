/** Group B: item ids and server state. */

import { expect, test } from "vitest";

import {
  appendToLog,
  bench,
  bodies,
  calls,
  completed,
  echoTool,
  expectNoneRefused,
  expectSound,
  inputOf,
  issued,
  type Json,
  lastInput,
  msgItem,
  ofType,
  outline,
  refusal,
  rsItem,
  says,
  scriptedBench,
  thought,
} from "./harness.ts";

test("I01 reasoning with a null payload is omitted, and so are the ids of its group", async () => {
  const b = await bench({
    steps: [
      { output: [{ reasoning: { summary: ["**Null**"], ciphertext: null } }, calls("a")] },
      { output: [{ reasoning: { summary: ["**None**"], ciphertext: false } }, says("Done.")] },
    ],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  await b.ask("Thanks.");
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "function_call",
    "function_call_output",
    "assistant",
    "user",
  ]);
  expectSound(b.emulator);
});

test("I02 I10 no request refers to anything a server would have to remember, so zero retention changes nothing", async () => {
  const b = await bench({
    steps: [
      { output: [thought(), calls("a")] },
      { output: [thought(), { web_search_call: "x" }, says("Done.")] },
    ],
    tools: [echoTool()],
    emulator: { switches: { zeroDataRetention: true } },
    openai: { parameters: { previous_response_id: "resp_1", conversation: "conv_1" } },
  });
  await b.ask("Look.");
  await b.ask("Thanks.");
  for (const body of bodies(b.emulator)) {
    expect(body).not.toHaveProperty("previous_response_id");
    expect(body).not.toHaveProperty("conversation");
    expect(inputOf(body).filter((item) => item["type"] === "item_reference")).toEqual([]);
  }
  expectSound(b.emulator);
});

test("I03 a gateway that removes the payload and keeps the id is healed, and the trace shows what was sent", async () => {
  const rs = rsItem();
  const sent: string[] = [];
  const b = await scriptedBench(
    (body, request) => {
      if (request === 1) return completed([rs, msgItem("One.")]);
      const carries = inputOf(body).some((item) => item["type"] === "reasoning");
      return carries
        ? refusal(400, {
            message: `Item with id '${String(rs["id"])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
            param: "input",
          })
        : completed([msgItem("Two.")]);
    },
    {
      agent: {
        trace: (record) => {
          if (record.type === "request") sent.push(Buffer.concat(record.body).toString("utf8"));
        },
      },
    },
  );
  await b.ask("One?");
  await b.ask("Two?");
  expect(sent[1]).toContain(rs["encrypted_content"]);
  expect(outline(inputOf(b.server.bodies[2]))).toEqual(["user", "assistant", "user"]);
  expect(ofType(await b.log(), "replay_override")).toMatchObject([
    { what: { kind: "group" }, action: "omit_reasoning", cause: { class: "GONE", status: 400 } },
  ]);
});

test("I04 an item the stream delivered twice is logged and sent once", async () => {
  const b = await bench({
    // Events of the first answer: created, in_progress, added, … The done of item 0 comes right before item 1.
    steps: [
      { output: [{ reasoning: [] }, calls("a")], faults: ["duplicate-event=3"] },
      { output: [says("Done.")] },
    ],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  const [first] = b.emulator.exchanges;
  const doneEvents = first?.events.filter((event) => event["type"] === "response.output_item.done");
  expect(doneEvents).toHaveLength(3); // the fault did its job
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "reasoning+",
    "function_call+",
    "function_call_output",
  ]);
  expect(ofType(await b.log(), "response_end")[0]?.unknown).toEqual({ "repeated output_item.done": 1 });
  expectSound(b.emulator);
});

test("I04 an item that is in the log twice is sent once", async () => {
  const b = await bench({ steps: [{ output: [thought(), says("Hello.")] }] });
  await b.ask("Hi.");
  await appendToLog(b, (events) =>
    ofType(events, "reasoning").map(({ v: _v, seq: _seq, epoch: _epoch, id: _id, ...again }) => again),
  );
  await b.reopen();
  await b.ask("Again.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "reasoning+", "assistant+", "user"]);
  expectSound(b.emulator);
});

test("I05 ids that are too long to go back are omitted, never shortened", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a")], faults: ["rotate-ids=416"] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  expect(issued(b.emulator)[0]?.["id"]).toHaveLength(416);
  expect(outline(lastInput(b.emulator))).toEqual(["user", "function_call", "function_call_output"]);
  expect(ofType(await b.log(), "replay_override")).toEqual([]); // known beforehand, not learnt from a refusal
  expectNoneRefused(b.emulator);
});

test("I06 an id with the prefix of another type is omitted with all ids of its group, and no request is wasted", async () => {
  const call = {
    type: "function_call",
    id: "call_7",
    call_id: "call_7",
    name: "look_up",
    arguments: '{"q":"a"}',
  };
  const b = await bench({
    steps: [{ output: [thought(), { item: call }] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "function_call", "function_call_output"]);
  expect(ofType(await b.log(), "replay_override")).toEqual([]);
  expect(ofType(await b.log(), "response_start")).toHaveLength(2);
  expectNoneRefused(b.emulator);
});

test("I07 an empty id is never sent", async () => {
  const b = await scriptedBench((_, request) =>
    request === 1
      ? completed([rsItem({ id: "" }), msgItem("One.", { id: "" })])
      : completed([msgItem("Two.")]),
  );
  await b.ask("One?");
  await b.ask("Two?");
  const input = inputOf(b.server.bodies[1]);
  expect(input.filter((item) => "id" in item)).toEqual([]);
  expect(input.at(-2)?.["content"]).toMatchObject([{ type: "output_text", text: "One." }]);
});

test("I08 items whose id differs in every event are matched by their index", async () => {
  const b = await bench({
    steps: [
      { output: [thought("**Rotating**\n\nids"), calls("a"), calls("b")], faults: ["rotate-ids=380"] },
      { output: [thought(), says("Done.")], faults: ["rotate-ids=380"] },
    ],
    tools: [echoTool()],
    openai: { profile: "no-item-ids" },
  });
  await b.ask("Look.");
  await b.ask("Thanks.");
  const log = await b.log();
  expect(
    ofType(log, "reasoning")
      .slice(0, 2)
      .map(({ parts }) => parts),
  ).toEqual([
    [{ kind: "summary", text: "**Rotating**\n\nids" }],
    [{ kind: "summary", text: "**Thinking**\n\nIt over." }],
  ]);
  expect(ofType(log, "tool_call").map(({ arguments: text }) => text)).toEqual(['{"q":"a"}', '{"q":"b"}']);
  // The ids are dropped and the thoughts stay: the endpoint accepts a payload without its id.
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "reasoning",
    "function_call",
    "function_call",
    "function_call_output",
    "function_call_output",
    "reasoning",
    "assistant",
    "user",
  ]);
  expectSound(b.emulator);
});

test("I09 an endpoint that accepts reasoning without ids gets no ids and every thought", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }, { output: [thought(), says("Done.")] }],
    tools: [echoTool()],
    openai: { profile: "no-item-ids" },
  });
  await b.ask("Look.");
  await b.ask("Thanks.");
  const input = lastInput(b.emulator);
  expect(input.filter((item) => "id" in item)).toEqual([]);
  expect(input.filter((item) => item["type"] === "reasoning")).toHaveLength(2);
  expectSound(b.emulator);
});

test("I09 an endpoint that needs the id next to the payload gets it", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }, { output: [thought(), says("Done.")] }],
    tools: [echoTool()],
    emulator: { switches: { reasoningWithoutId: "refuse" } },
  });
  await b.ask("Look.");
  await b.ask("Thanks.");
  expectSound(b.emulator);
});

test("I13 two items of one response with the same id are told apart by their index and go without ids", async () => {
  const b = await scriptedBench((_, request) =>
    request === 1
      ? completed([
          rsItem({ id: "rs_same", summary: [{ type: "summary_text", text: "first" }] }),
          rsItem({ id: "rs_same", summary: [{ type: "summary_text", text: "second" }] }),
          msgItem("One."),
        ])
      : completed([msgItem("Two.")]),
  );
  await b.ask("One?");
  await b.ask("Two?");
  expect(ofType(await b.log(), "reasoning").map(({ parts }) => parts[0]?.text)).toEqual(["first", "second"]);
  expect(outline(inputOf(b.server.bodies[1]))).toEqual(["user", "assistant", "user"]);
});

test("I13 an id that another response already used is not sent twice", async () => {
  const same = { id: "rs_same" };
  const b = await scriptedBench((_, request) => completed([rsItem(same), msgItem(`${request}.`)]));
  await b.ask("One?");
  await b.ask("Two?");
  await b.ask("Three?");
  expect(outline(inputOf(b.server.bodies[2]))).toEqual([
    "user",
    "reasoning+",
    "assistant+",
    "user",
    "assistant",
    "user",
  ]);
  const sent = inputOf(b.server.bodies[2]).flatMap((item: Json) => item["id"] ?? []);
  expect(new Set(sent).size).toBe(sent.length);
});
