/**
 * The cost of a step must not grow with the session, and the cost of a stream must grow with its length and no faster.
 * Work is counted, not timed (bench/ does that), so a quadratic cannot return unseen, however slow the machine.
 */

import { afterEach, expect, test } from "vitest";

import { type Agent, createAgent, memoryStore, openai, tool } from "../../src/index.ts";
import { between, countWork, total, type Work } from "./count-work.ts";

const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0)) one();
});

type Json = Readonly<Record<string, unknown>>;

const sse = (events: readonly Json[]): Response =>
  new Response(
    events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
    {
      headers: { "content-type": "text/event-stream" },
    },
  );

/** A whole answer: a thought, and a call or a text. */
function answer(step: number, last: boolean): readonly Json[] {
  const thought = {
    id: `rs_${step}`,
    type: "reasoning",
    summary: [],
    encrypted_content: `${step}${"x".repeat(800)}`,
  };
  const done = last
    ? {
        id: `msg_${step}`,
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Done.", annotations: [] }],
      }
    : {
        id: `fc_${step}`,
        type: "function_call",
        status: "completed",
        call_id: `call_${step}`,
        name: "look",
        arguments: `{"at":${step}}`,
      };
  const output = [thought, done];
  return [
    ...output.map((item, index) => ({ type: "response.output_item.done", output_index: index, item })),
    { type: "response.completed", response: { id: `r_${step}`, status: "completed", output } },
  ];
}

/** Answers in order; `onRequest` sees each request before its answer. */
function agentWith(
  answers: (request: number) => readonly Json[],
  onRequest: (request: number, bytes: number) => void = () => undefined,
): Agent {
  let count = 0;
  const fetch = (async (_url: unknown, init: { readonly body: Uint8Array }) => {
    onRequest(count, init.body.length);
    count += 1;
    return sse(answers(count - 1));
  }) as unknown as typeof globalThis.fetch;
  const look = tool({
    name: "look",
    description: "Looks.",
    access: "read",
    input: { type: "object", properties: { at: { type: "number" } } },
    run: () => "seen ".repeat(40),
  });
  return createAgent({
    model: openai("gpt-5.1", { apiKey: "sk-test", baseUrl: "http://127.0.0.1:9/v1" }),
    tools: [look],
    fetch,
    limits: { maxSteps: 1000 },
  });
}

test("a step of a long tool loop costs as much as a step of a short one", async () => {
  const steps = 120;
  const seen: Work[] = [];
  const sizes: number[] = [];
  const work = countWork();
  undo.push(() => work.stop());
  const agent = agentWith(
    (request) => answer(request, request === steps),
    (_request, bytes) => {
      seen.push(work.read());
      sizes.push(bytes);
    },
  );
  const session = await agent.open({ store: memoryStore() });
  expect((await session.send("Begin.").result()).steps).toBe(steps + 1);
  const step = (number: number): number => total(between(seen[number - 1] as Work, seen[number] as Work));
  expect(sizes[steps - 1]).toBeGreaterThan(9 * (sizes[10] as number));
  expect(step(steps - 1)).toBeLessThan(1.5 * step(10));
});

test("the next turn of a long session costs a small part of its request", async () => {
  const agentSteps = 200;
  let size = 0;
  const agent = agentWith(
    (request) => answer(request, request >= agentSteps),
    (_request, bytes) => {
      size = bytes;
    },
  );
  const session = await agent.open({ store: memoryStore() });
  await session.send("Begin.").result();
  const work = countWork();
  undo.push(() => work.stop());
  await session.send("Go on.").result();
  expect(size).toBeGreaterThan(200_000);
  expect(total(work.read())).toBeLessThan(size / 10);
});

test("arguments are parsed once when they are whole, not with every chunk", async () => {
  const costs: number[] = [];
  for (const pieces of [1000, 4000]) {
    const text = `{"text":"${"abcdefghij".repeat(pieces)}"}`;
    const call = { id: "fc_1", type: "function_call", status: "completed", call_id: "c_1", name: "look" };
    const deltas = Array.from({ length: pieces }, (_, index) => ({
      type: "response.function_call_arguments.delta",
      output_index: 0,
      delta: text.slice(index * 10, index * 10 + 10),
    }));
    const item = { ...call, arguments: text };
    const stream = [
      { type: "response.output_item.added", output_index: 0, item: { ...call, arguments: "" } },
      ...deltas,
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "r", status: "completed", output: [item] } },
    ];
    const work = countWork();
    undo.push(() => work.stop());
    const agent = agentWith((request) => (request === 0 ? stream : answer(1, true)));
    const session = await agent.open({ store: memoryStore() });
    await session.send("Begin.").result();
    const done = work.read();
    work.stop();
    expect(done.parses).toBeLessThan(pieces + 100);
    costs.push(total(done));
  }
  expect(costs[1]).toBeLessThan(4.4 * (costs[0] as number));
});
