/** T15: a call to a name that no API accepts back blocks no session, in any dialect, at home or abroad. */

import { expect, test } from "vitest";

import { sendableToolName } from "../../src/base/support/index.ts";
import { type Emulator, loadScenario, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, type LoggedEvent, memoryStore, type Session } from "../../src/index.ts";
import { emulatedModel } from "../exhaustive/corpus.ts";
import { instantClock } from "../support/instant-clock.ts";
import { calls, closeLater, echoTool, expectSound, ofType, thought } from "./harness.ts";

const NAMES = [
  "functions.look_up",
  "multi_tool_use.parallel",
  "look_up<|channel|>commentary",
  "look up",
  '""',
  " ",
  "look_up\0\0",
  "ls -l /srv && ".repeat(20),
  "x".repeat(200),
];
const MODELS = [
  "emu-reasoner",
  "emu-claude",
  "emu-deepseek",
  "emu-mistral",
  "emu-chat",
  "emu-router",
] as const;

async function eventsOf(session: Session): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}

/** Every name in a call of a request, in any dialect. */
function namesIn(text: string): readonly string[] {
  const found: string[] = [];
  const { input, messages } = JSON.parse(text) as Record<string, unknown>;
  JSON.stringify(input ?? messages, (_, value: unknown) => {
    const one = (value ?? {}) as Record<string, unknown>;
    if (one["type"] === "function_call" || one["type"] === "tool_use") found.push(String(one["name"]));
    if (one["type"] === "function") found.push((one["function"] as { name: string }).name);
    return value;
  });
  return found;
}

async function scriptedEmulator(name: string): Promise<Emulator> {
  const steps = [
    { output: [thought(), { function_call: { name, arguments: { q: "a" } } }, calls("b")] },
    { output: [{ message: { text: "I see." } }] },
  ];
  const scenario = loadScenario(JSON.stringify({ steps }), "test.json");
  return closeLater(await startEmulator({ scenario, clock: instantClock() }));
}

test.each(MODELS.flatMap((model) => NAMES.map((name) => [model, name] as const)))(
  "T15 on %s a call to %j is not run, the model learns so, and every later request is accepted, there and elsewhere",
  async (model, name) => {
    const emulator = await scriptedEmulator(name);
    const look = echoTool();
    const on = (one: string): ReturnType<typeof emulatedModel> => emulatedModel(one, emulator.baseUrl);
    const agent = createAgent({
      model: on(model),
      tools: [look],
      permissions: "auto",
      clock: instantClock(),
    });
    const session = closeLater(await agent.open({ id: "s", store: memoryStore() }));
    for (const text of ["Look.", "And?", "More."])
      expect(await session.send(text).result()).toMatchObject({ status: "completed" });
    expect(look.runs).toEqual(["b"]);
    const sent = sendableToolName(name, () => false);
    const asked = emulator.exchanges.map(({ requestText }) => namesIn(requestText));
    expect(asked.slice(1)).toEqual(asked.slice(1).map(() => [sent, "look_up"]));
    expectSound(emulator);
    const events = await eventsOf(session);
    expect(ofType(events, "tool_call").map((call) => call.name)).toEqual([name, "look_up"]);
    expect(ofType(events, "tool_result")[0]).toMatchObject({
      status: "error",
      text: `not executed: there is no tool "${name}"; available are: look_up`,
    });
    for (const other of MODELS.filter((one) => one !== model)) {
      await session.setModel(on(other));
      expect(await session.send("Hello").result()).toMatchObject({ status: "completed" });
      expect(namesIn(emulator.exchanges.at(-1)?.requestText ?? "")).toEqual([sent, "look_up"]);
    }
    expect(emulator.report().totals.refused).toBe(0);
    expect(ofType(await eventsOf(session), "replay_override")).toEqual([]);
  },
);

test("T15 a tool that is declared later never takes over a name that was mapped", async () => {
  const name = "functions.look_up";
  const emulator = await scriptedEmulator(name);
  const sent = sendableToolName(name, () => false);
  const model = emulatedModel("emu-reasoner", emulator.baseUrl);
  const options = { model, permissions: "auto", clock: instantClock() } as const;
  const store = memoryStore();
  const first = await createAgent({ ...options, tools: [echoTool()] }).open({ id: "s", store });
  await first.send("Look.").text();
  await first.close();
  const tools = [echoTool(), echoTool(sent)];
  const second = closeLater(await createAgent({ ...options, tools }).open({ id: "s", store }));
  await second.send("And?").text();
  const [mapped] = namesIn(emulator.exchanges.at(-1)?.requestText ?? "");
  expect(mapped).toBe(sendableToolName(name, (one) => one === sent));
  expect(mapped).not.toBe(sent);
  expect(emulator.report().totals.refused).toBe(0);
});
