/** The calls in a stream of events, typed by their tools. */

import type { SessionEvent } from "../../base/events/index.ts";
import { aList, anObject, checkArgument, isObject, type OptionCheck } from "../../base/support/index.ts";
import { parseArguments } from "./arguments.ts";
import { createRegistry } from "./registry.ts";
import type { Tool, ToolCallOf } from "./tool.ts";

/**
 * Yields the calls of these tools, discriminated by `name`, each with its validated input. Takes a turn, `follow()` or
 * `events()`, of a local or a remote session. A call
 * whose arguments `repairArguments` repaired has the repaired ones. Other calls, and calls whose arguments do not fit,
 * are only in the events.
 *
 * @example
 * ```ts
 * import { createAgent, emulator, tool, toolCalls } from "throughline";
 * import { z } from "zod";
 *
 * const weather = tool({
 *   name: "get_weather",
 *   description: "The weather of a city",
 *   input: z.object({ city: z.string() }),
 *   access: "read",
 *   run: ({ city }) => `21 °C and sunny in ${city}`,
 * });
 * const session = await createAgent({ model: emulator(), tools: [weather] }).open();
 * const turn = session.send("What is the weather in Paris?");
 * for await (const { name, input } of toolCalls(turn, [weather])) console.log(name, input.city);
 * await session.close();
 * ```
 */
export async function* toolCalls<const Tools extends readonly Tool[]>(
  events: AsyncIterable<SessionEvent>,
  tools: Tools,
): AsyncGenerator<ToolCallOf<Tools[number]>, void> {
  checkArgument("toolCalls", "events", events, someEvents);
  checkArgument("toolCalls", "tools", tools, aList(anObject, "tools"));
  const registry = createRegistry(tools);
  for await (const event of events) {
    // A call whose arguments were repaired has them in its start.
    const isCall = event.type === "tool_call";
    if (!isCall && event.type !== "tool_start") continue;
    const name = isCall ? event.name : event.tool;
    if (event.arguments === undefined) continue;
    const parsed = parseArguments(event.arguments);
    const verdict = parsed.ok ? await registry.get(name)?.validate(parsed.value) : undefined;
    if (verdict?.ok === true)
      yield { name, callId: event.callId, input: verdict.value } as ToolCallOf<Tools[number]>;
  }
}

const someEvents: OptionCheck = (value) =>
  isObject(value) &&
  typeof (value as { [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === "function"
    ? undefined
    : "a turn, session.events() or session.follow()";
