import { expect, test } from "vitest";
import { z } from "zod";

import { anyTool, call, say, scriptedSession } from "../../../test/contracts/session-fixture.ts";
import { tool, toolCalls } from "../../index.ts";

const weather = tool({
  name: "get_weather",
  description: "The weather of a city",
  input: z.object({ city: z.string(), days: z.number().default(1) }),
  access: "read",
  run: ({ city }) => `sunny in ${city}`,
});
const other = anyTool("other", () => "done");

async function all<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

test("the calls of the given tools have their validated input, live and from the history", async () => {
  const { session } = await scriptedSession(
    [
      {
        output: [
          call("get_weather", { city: "Paris" }),
          call("other", { a: 1 }),
          call("get_weather", { city: 7 }), // does not fit
          call("get_weather", '{"city":'), // is not JSON
          call("unknown", {}),
        ],
      },
      { output: [say("done")] },
    ],
    { tools: [weather, other] },
  );
  const turn = session.send("go");
  const paris = {
    name: "get_weather",
    callId: expect.any(String) as string,
    input: { city: "Paris", days: 1 },
  };
  expect(await all(toolCalls(turn, [weather]))).toEqual([paris]);
  const both = await all(toolCalls(session.events(), [weather, other]));
  expect(both).toEqual([paris, { name: "other", callId: expect.any(String) as string, input: { a: 1 } }]);
});

test("a repaired call has the input that it ran with", async () => {
  const { session } = await scriptedSession(
    [{ output: [call("get_weather", '{"city":"Par')] }, { output: [say("done")] }],
    { tools: [weather], repairArguments: async () => '{"city":"Paris"}' },
  );
  const calls = await all(toolCalls(session.send("go"), [weather]));
  expect(calls.map(({ input }) => input)).toEqual([{ city: "Paris", days: 1 }]);
});

test.each([
  [[undefined, [weather]], "toolCalls: events is undefined: use a turn"],
  [[[], [weather]], "toolCalls: events is an array: use a turn"],
])("refuses wrong arguments (%#)", async (given, message) => {
  const untyped = toolCalls as (...args: readonly unknown[]) => AsyncIterable<unknown>;
  await expect(all(untyped(...given))).rejects.toThrow(
    expect.objectContaining({
      code: "options_invalid",
      message: expect.stringContaining(message) as unknown,
    }),
  );
});

test("refuses a missing list of tools", async () => {
  const { session } = await scriptedSession([], { tools: [] });
  const untyped = toolCalls as (...args: readonly unknown[]) => AsyncIterable<unknown>;
  await expect(all(untyped(session.events()))).rejects.toThrow(
    "toolCalls: tools is undefined: use an array of tools",
  );
});
