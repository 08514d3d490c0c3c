/**
 * A message that joins a running turn, in every dialect on a strict emulator: the request after it is accepted at the
 * first attempt, keeps the thoughts, begins with the bytes of the request before, and is rebuilt from the log.
 */

import { expect, test } from "vitest";

import { sliceArray, sliceObject } from "../../../src/base/support/index.ts";
import { loadScenario, startEmulator } from "../../../src/emulator/index.ts";
import { anthropic, createAgent, type Model, openai, openaiChat } from "../../../src/index.ts";
import { afterTest } from "../../support/clean-up.ts";
import { call, history, KEY, ofType, say, think } from "../session-fixture.ts";
import { saidIn, waitingTool } from "../steer-fixture.ts";

type Make = (url: string) => Model;

const chat =
  (model: string, profile: string): Make =>
  (url) =>
    openaiChat(model, { apiKey: KEY, baseUrl: `${url}/v1`, profile });

const MODELS: readonly (readonly [name: string, model: Make, last: readonly string[]])[] = [
  [
    "Responses",
    (url) => openai("emu-reasoner", { apiKey: KEY, baseUrl: `${url}/v1` }),
    ["function_call_output", "user", "user"],
  ],
  ["Messages", (url) => anthropic("emu-claude", { apiKey: KEY, baseUrl: url }), ["user", "user", "user"]],
  ["DeepSeek's chat", chat("emu-deepseek", "deepseek"), ["tool", "user", "user"]],
  [
    "a chat that takes no user after a tool",
    chat("emu-mistral", "mistral"),
    ["tool", "assistant", "user", "user"],
  ],
  [
    "a chat that takes no user after a user",
    chat("emu-deepseek-old", "deepseek-old"),
    ["tool", "user", "assistant", "user"],
  ],
  ["any chat", chat("emu-compatible", "generic-chat"), ["tool", "user", "user"]],
];

const SCRIPT = [
  { output: [think("A"), call("wait")] },
  { output: [think("B"), call("wait")] },
  { output: [think("C"), say("done")] },
];

/** The elements of the conversation, as text. */
function elements(body: string): readonly string[] {
  const field = sliceObject(body).find(({ key }) => key === "input" || key === "messages");
  return sliceArray(field?.value ?? "[]");
}

test.each(MODELS)("%s", async (_name, make, last) => {
  const emulator = await startEmulator({
    scenario: loadScenario(JSON.stringify({ steps: SCRIPT, afterwards: "model" }), "steer.json"),
  });
  afterTest(() => emulator.close());
  const wait = waitingTool();
  const session = await createAgent({
    model: make(emulator.baseUrl.replace(/\/v1$/, "")),
    tools: [wait.tool],
  }).open({ id: "s" });
  afterTest(() => session.close());
  const turn = session.send("one", { turn: "first" });
  await wait.started;
  const steered = [
    session.send("two", { whenBusy: "steer", turn: "a" }),
    session.send("three", { whenBusy: "steer", turn: "b" }),
  ];
  wait.finish();
  const result = await turn.result();
  expect(result).toMatchObject({ status: "completed", text: "done", steps: 3 });
  expect(await Promise.all(steered.map((one) => one.result()))).toEqual([result, result]);
  await session.send("And now?", { turn: "next" }).result();

  const events = await history(session);
  expect(saidIn(events)).toEqual(["first: one", "first<a: two", "first<b: three", "next: And now?"]);
  expect(ofType(events, "response_start").map(({ step, attempt }) => [step, attempt])).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
    [1, 1],
  ]);
  expect(ofType(events, "replay_override")).toEqual([]);
  const bodies = await Promise.all([1, 2, 3, 4].map((n) => session.rebuild(n)));
  expect(bodies.map(({ proof }) => proof)).toEqual(["same", "same", "same", "same"]);
  const omitted = bodies
    .flatMap(({ decisions }) => decisions)
    .filter(({ action, why }) => action === "omit" && !why.includes("does not accept"));
  expect(omitted).toEqual([]);
  const inputs = bodies.map(({ body }) => elements(body));
  for (const [index, input] of inputs.entries())
    expect(input.slice(0, inputs[index - 1]?.length ?? 0)).toEqual(inputs[index - 1] ?? []);
  const types = (inputs[1] ?? []).map((text) => {
    const { role, type } = JSON.parse(text) as { readonly role?: string; readonly type?: string };
    return role ?? type;
  });
  expect(types.slice(-last.length)).toEqual(last);
});
