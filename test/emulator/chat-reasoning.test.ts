/**
 * Reasoning that goes back: what each vendor shows, accepts and reads again; and what the report says about thoughts
 * that are missing, changed or another model's.
 */

import { describe, expect, test } from "vitest";

import type { Emulator, RequestReport } from "../../src/emulator/index.ts";
import {
  assistant,
  callsOf,
  chat,
  chatStream,
  choiceOf,
  messageOf,
  oneStep,
  resultsOf,
  stepOf,
  toolResult,
  user,
} from "./chat-client.ts";
import { emulatorFor, type Json, outputOf, post, scripted, without } from "./emulator-client.ts";

const tools = [
  {
    type: "function",
    function: {
      name: "get_weather",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
];

const lastReport = (emulator: Emulator): RequestReport => {
  const report = emulator.report().requests.at(-1);
  if (report === undefined) throw new Error("no request was made");
  return report;
};

/** A client that appends every answer unchanged. */
async function say(
  emulator: Emulator,
  model: string,
  messages: Json[],
  text: string,
  more: Json = {},
): Promise<string> {
  messages.push(user(text));
  for (let step = 0; step < 5; step += 1) {
    const reply = await chat(emulator, { model, messages, tools, ...more });
    expect([reply.status, reply.json["error"] ?? null]).toEqual([200, null]);
    const message = messageOf(reply);
    messages.push(message);
    if (callsOf(message).length === 0) return textOf(message);
    messages.push(...callsOf(message).map((call) => toolResult(call["id"], "sunny")));
  }
  throw new Error("the tool loop does not end");
}

function textOf(message: Json): string {
  const { content } = message;
  if (typeof content === "string") return content;
  return (content as Json[]).map(({ text }) => (typeof text === "string" ? text : "")).join("");
}

const showing = ["emu-deepseek", "emu-kimi", "emu-mistral", "emu-groq", "emu-router"];

describe("a client that sends everything back", () => {
  test.each([...showing, "emu-chat", "emu-chat-plain"])(
    "%s: two turns with tools, recall 1",
    async (model) => {
      const emulator = await emulatorFor();
      const messages: Json[] = [{ role: "system", content: "Be brief." }];
      expect(await say(emulator, model, messages, "Compare the weather in Paris and Rome.")).toContain(
        "Rome: sunny",
      );
      const answer = await say(emulator, model, messages, "What is the weather in Oslo?");
      expect(answer).toContain("Oslo: sunny");
      expect(answer).not.toContain("I no longer have my notes");
      const { requests } = emulator.report();
      expect(requests.map((one) => [one.verdict, one.recall, one.prefixStable])).toEqual(
        Array.from({ length: 4 }, () => ["accepted", 1, true]),
      );
      expect(new Set(requests.map((one) => one.conversation)).size).toBe(1);
      const shows = showing.includes(model);
      // Kimi does not read its own thoughts of an earlier turn, unless it called tools with them.
      expect(lastReport(emulator).sent).toHaveLength(shows ? (model === "emu-kimi" ? 2 : 3) : 0);
      expect(requests.flatMap((one) => [...one.modified, ...one.foreign])).toEqual([]);
    },
  );

  test("a thought that is not sent back is missed, by the report and by the model", async () => {
    const emulator = await emulatorFor();
    const messages: Json[] = [];
    await say(emulator, "emu-groq", messages, "What is the weather in Paris?");
    const bare = messages.map((message) => without(message, "reasoning"));
    expect(await say(emulator, "emu-groq", bare, "What is the weather in Oslo?")).toContain(
      "I no longer have my notes from 2 earlier thoughts",
    );
    expect(lastReport(emulator)).toMatchObject({
      recall: 1 - 2 / 3,
      sent: { length: 1 },
      missing: { length: 2 },
    });
  });
});

async function remember(
  model: string,
  more: Json = {},
  clearThinking: "vendor" | "clear" | "keep" = "vendor",
): Promise<string> {
  const emulator = await emulatorFor({ switches: { clearThinking } });
  const messages: Json[] = [];
  await say(emulator, model, messages, "Think of a number.", more);
  return say(emulator, model, messages, "Which number was it?", more);
}

describe("the model remembers thoughts that go back and are read", () => {
  test.each(["emu-mistral", "emu-groq", "emu-router"])("%s", async (model) => {
    expect(await remember(model)).toContain("It was in my own notes, and they came back to me.");
  });

  test("pure chat has nothing to send back", async () => {
    expect(await remember("emu-chat")).toContain("I no longer have my notes from when I thought of a number");
  });

  test("DeepSeek ignores the reasoning of turns without tools, and the report says so", async () => {
    const emulator = await emulatorFor();
    const messages: Json[] = [];
    const bare = { tools: undefined };
    await say(emulator, "emu-deepseek", messages, "Think of a number.", bare);
    const answer = await say(emulator, "emu-deepseek", messages, "Which number was it?", bare);
    expect(answer).toContain("so I cannot tell you which one it was");
    expect(answer).not.toContain("was not sent back to me");
    expect(lastReport(emulator)).toMatchObject({
      sent: [],
      acceptable: [],
      dropped: { length: 1 },
      recall: 1,
    });
  });

  test("DeepSeek reads and requires the reasoning of every answer while tools are carried, or only of tool rounds", async () => {
    const kept = "they came back to me";
    expect(await remember("emu-deepseek")).toContain(kept);
    for (const [requires, status] of [
      ["tools-carried", 400],
      ["tools-called", 200],
    ] as const) {
      const emulator = await emulatorFor({ switches: { requires } });
      const messages = [user("Hi."), { role: "assistant", content: "Hello." }, user("So?")];
      const reply = await chat(emulator, { model: "emu-deepseek", messages, tools });
      expect(reply.status).toBe(status);
      expect((await chat(emulator, { model: "emu-deepseek", messages })).status).toBe(200);
    }
  });

  test("deepseek-chat names the mode without thinking: it shows no thoughts and requires none", async () => {
    const emulator = await emulatorFor();
    const messages: Json[] = [];
    await say(emulator, "deepseek-chat", messages, "What is the weather in Paris?");
    expect(JSON.stringify(messages)).not.toContain("reasoning_content");
  });

  test("Kimi reads earlier turns with thinking.keep, V09: GLM with clear_thinking false, or by the switch", async () => {
    const kept = "they came back to me";
    expect(await remember("emu-kimi")).not.toContain(kept);
    expect(await remember("emu-kimi", { thinking: { type: "enabled", keep: "all" } })).toContain(kept);
    expect(await remember("emu-glm")).not.toContain(kept);
    expect(await remember("emu-glm", { thinking: { type: "enabled", clear_thinking: false } })).toContain(
      kept,
    );
    expect(await remember("emu-groq", { include_reasoning: true })).toContain(kept);
    expect(await remember("emu-deepseek", {}, "keep")).toContain(kept);
    expect(await remember("emu-groq", {}, "clear")).not.toContain(kept);
  });

  test("no thoughts are shown or read while thinking is off", async () => {
    const emulator = await emulatorFor();
    const off = { thinking: { type: "disabled" } };
    const messages: Json[] = [];
    await say(emulator, "emu-deepseek", messages, "What is the weather in Paris?", off);
    expect(JSON.stringify(messages)).not.toContain("reasoning_content");
    expect(lastReport(emulator).issued).toEqual([]);
  });
});

describe("the report says whose reasoning it is", () => {
  test("modified: another text on a message that had one", async () => {
    const { emulator, history } = await oneStep("emu-deepseek");
    const answer = { ...history.answer, reasoning_content: "I looked at one place only." };
    await chat(emulator, { model: "emu-deepseek", messages: [history.first, answer, ...history.results] });
    const [issued] = lastReport(emulator).issued;
    expect(lastReport(emulator)).toMatchObject({
      verdict: "accepted",
      modified: [issued],
      foreign: [],
      missing: [issued],
    });
  });

  test("modified: as visible text (V07), or in another message", async () => {
    const { emulator, history } = await oneStep("emu-deepseek");
    const thought = String(history.answer["reasoning_content"]);
    const second = assistant(`<think>${thought}</think>Yes.`);
    await chat(emulator, {
      model: "emu-deepseek",
      messages: [...history.messages, closing(), user("a"), second, user("b")],
    });
    expect(lastReport(emulator).modified).toHaveLength(1);
    const moved = assistant("Something else.", { reasoning_content: thought });
    await chat(emulator, {
      model: "emu-deepseek",
      messages: [...history.messages, closing(), user("a"), moved, user("b")],
    });
    expect(lastReport(emulator).modified).toHaveLength(1);
  });

  test("foreign: another vendor's model's thought, in any field and as text", async () => {
    const headers = { "x-emulator-conversation": "crossing" };
    const thought = "A thought that belongs to me only.";
    const emulator = await scripted(
      `steps: [{output: [{reasoning: {text: '${thought}'}}, {message: Yes.}]}]`,
    );
    await chat(emulator, { model: "emu-deepseek", messages: [user("go")] }, headers);
    const told = async (model: string, message: Json, more = headers): Promise<readonly string[]> => {
      const messages = [user("go"), message, user("more")];
      expect((await chat(emulator, { model, messages }, more)).status).toBe(200);
      return lastReport(emulator).foreign;
    };
    const leak = await told("emu-kimi", assistant("Yes.", { reasoning_content: thought }));
    expect(leak).toEqual(lastReport(emulator).issued.slice(0, 1));
    expect(await told("emu-kimi", assistant("Hi.", { reasoning_content: thought }))).toEqual(leak);
    expect(await told("emu-groq", assistant("Yes.", { reasoning: thought }))).toEqual(leak);
    expect(await told("emu-chat", assistant(`I thought: ${thought}`))).toEqual(leak);
    expect(await told("emu-chat", assistant("Yes."))).toEqual([]);
    expect(await told("emu-deepseek", assistant("Yes.", { reasoning_content: thought }))).toEqual([]);
    // Even if the conversation is not recognised, unless the model itself once said the same.
    const elsewhere = { "x-emulator-conversation": "elsewhere" };
    const carried = assistant("Yes.", { reasoning_content: thought });
    expect(await told("emu-kimi", carried, elsewhere)).toEqual(leak);
    expect(await told("emu-deepseek", carried, elsewhere)).toEqual([]);
  });

  test("foreign: a ciphertext of the Responses dialect anywhere in a message", async () => {
    const emulator = await emulatorFor();
    const reply = await fetch(`${emulator.baseUrl}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer sk-test", "content-type": "application/json" },
      body: JSON.stringify({ model: "emu-reasoner", input: "hello", store: false }),
    });
    const { output } = (await reply.json()) as { output: Json[] };
    const payload = output.find((item) => item["type"] === "reasoning");
    const messages = [
      user("hello"),
      assistant("Hi.", { reasoning_content: payload?.["encrypted_content"] }),
      user("x"),
    ];
    await chat(emulator, { model: "emu-kimi", messages });
    expect(lastReport(emulator).foreign).toEqual([payload?.["id"]]);
  });

  test("A → B → A: the first model gets its reasoning back, the second gets none of it", async () => {
    const headers = { "x-emulator-conversation": "there-and-back" };
    const emulator = await scripted(
      "steps: [{output: [{reasoning: {text: 'A thought that belongs to me only.'}}, {message: Yes.}]}]\nafterwards: repeat",
    );
    const ask = async (model: string, messages: readonly Json[]): Promise<Json> =>
      messageOf(await chat(emulator, { model, messages }, headers));
    const one = await ask("emu-groq", [user("1")]);
    const two = await ask("emu-mistral", [user("1"), without(one, "reasoning"), user("2")]);
    expect(lastReport(emulator)).toMatchObject({ sent: [], foreign: [], recall: 1 });
    const plainTwo = assistant("Yes.");
    await ask("emu-groq", [user("1"), one, user("2"), plainTwo, user("3")]);
    expect(lastReport(emulator)).toMatchObject({ sent: { length: 1 }, foreign: [], recall: 1 });
    expect(two["content"]).toMatchObject([
      { type: "thinking", thinking: [{ type: "text", text: "A thought that belongs to me only." }] },
      { type: "text", text: "Yes." },
    ]);
  });

  test("modified: a router's detail whose summary was rewritten; joined deltas are not", async () => {
    const { emulator, history } = await oneStep("emu-router");
    const details = history.answer["reasoning_details"] as Json[];
    const send = async (changed: readonly Json[]): Promise<RequestReport> => {
      const answer = { ...history.answer, reasoning_details: changed };
      await chat(emulator, { model: "emu-router", messages: [history.first, answer, ...history.results] });
      return lastReport(emulator);
    };
    const [summary, sealed] = details;
    const text = String(summary?.["summary"]);
    const pieces = [text.slice(0, 5), text.slice(5)].map((one) => ({ ...summary, summary: one }));
    expect(await send([...pieces, sealed ?? {}])).toMatchObject({ modified: [], sent: { length: 1 } });
    expect(await send([{ ...summary, summary: "Other words." }, sealed ?? {}])).toMatchObject({
      modified: { length: 1 },
    });
  });
});

function closing(): Json {
  return assistant("All done.", { reasoning_content: "Both have answered, so I can close." });
}

describe("reasoning details prove their origin", () => {
  test("V08: a rotated key makes details stale; without them the request passes", async () => {
    const { emulator, history } = await oneStep("emu-router");
    emulator.rotateKey();
    const reply = await chat(emulator, { model: "emu-router", messages: history.messages });
    expect([reply.status, lastReport(emulator).rule]).toEqual([400, "V08"]);
    const bare = without(history.answer, "reasoning_details", "reasoning");
    const messages = [history.first, bare, ...history.results];
    expect((await chat(emulator, { model: "emu-router", messages })).status).toBe(200);
  });

  test("V08: details of another account and of another model are refused", async () => {
    const { emulator, history } = await oneStep("emu-router");
    const { messages } = history;
    const other = await chat(
      emulator,
      { model: "emu-router", messages },
      { authorization: "Bearer sk-other" },
    );
    expect([other.status, lastReport(emulator).message]).toEqual([
      400,
      expect.stringContaining("organization_id did not match"),
    ]);
    const model = await chat(emulator, { model: "openrouter/other", messages });
    expect([model.status, lastReport(emulator).rule]).toEqual([400, "V08"]);
  });

  test("details survive a restart together with the memory in them; plain text is accepted as unknown", async () => {
    const before = await emulatorFor();
    const conversation = async (model: string): Promise<Json[]> => {
      const messages: Json[] = [];
      await say(before, model, messages, "Think of a number.");
      return messages;
    };
    const sealed = await conversation("emu-router");
    const plain = await conversation("emu-groq");
    const after = await emulatorFor();
    expect(await say(after, "emu-router", sealed, "Which number was it?")).toContain("they came back to me");
    expect(await say(after, "emu-groq", plain, "Which number was it?")).toContain("so I cannot tell you");
    expect(after.report().requests.map((one) => one.verdict)).toEqual(["accepted", "accepted"]);
  });
});

describe("only completed answers may go back", () => {
  test("a cut stream issues nothing; a finished one does", async () => {
    const { emulator } = await oneStep("emu-deepseek");
    const conversation = { "x-emulator-conversation": "cut" };
    const ask = { model: "emu-deepseek", messages: [user("go")] };
    const cut = await chatStream(emulator, ask, { ...conversation, "x-emulator-fault": "cut=after-item:0" });
    expect(JSON.stringify(cut.events)).not.toContain('finish_reason":"');
    await chatStream(emulator, ask, conversation);
    expect(lastReport(emulator).issued).toEqual([]);
    await chatStream(emulator, ask, conversation);
    expect(lastReport(emulator).issued).toHaveLength(1);
  });

  test("V10: a budget spent on thinking leaves no content, and is not required back", async () => {
    const { emulator } = await oneStep("emu-kimi");
    const body = { model: "emu-kimi", messages: [user("go")], max_tokens: 20 };
    const reply = await chat(emulator, body, { "x-emulator-conversation": "budget" });
    const choice = choiceOf(reply.json);
    expect([choice["finish_reason"], messageOf(reply)["content"]]).toEqual(["length", ""]);
    expect(String(messageOf(reply)["reasoning_content"]).length).toBeGreaterThan(5);
    expect(lastReport(emulator).outcome).toBe("incomplete");
    await chat(emulator, { ...body, max_tokens: 2000 }, { "x-emulator-conversation": "budget" });
    expect(lastReport(emulator).issued).toEqual([]);
  });
});

test("conversations are told apart without ids: by calls, and by what was said", async () => {
  const emulator = await emulatorFor();
  const [one, two] = [[] as Json[], [] as Json[]];
  await say(emulator, "emu-groq", one, "My name is Ada.");
  await say(emulator, "emu-groq", two, "My name is Bob.");
  await say(emulator, "emu-groq", one, "What is my name?");
  await say(emulator, "emu-groq", two, "What is my name?");
  const names = emulator.report().requests.map((request) => request.conversation);
  expect(names).toEqual([names[0], names[1], names[0], names[1]]);
  expect(names[0]).not.toBe(names[1]);
});

test("a conversation is found again after a vendor that got other call ids", async () => {
  const emulator = await emulatorFor();
  const messages: Json[] = [];
  await say(emulator, "emu-groq", messages, "What is the weather in Paris?");
  const mapped = messages.map((message) => {
    const bare = without(message, "reasoning");
    const calls = callsOf(message).map((call) => ({ ...call, id: "Ab3dEf6hI" }));
    if (calls.length > 0) return { ...bare, tool_calls: calls };
    return message["role"] === "tool" ? { ...bare, tool_call_id: "Ab3dEf6hI" } : bare;
  });
  await say(emulator, "emu-mistral", mapped, "Thank you.");
  messages.push(user("Thank you."), assistant(textOf(mapped.at(-1) ?? {})));
  await say(emulator, "emu-groq", messages, "Goodbye.");
  expect(lastReport(emulator)).toMatchObject({
    sent: { length: 2 },
    recall: 1,
    foreign: [],
    prefixStable: true,
  });
});

test("a call of another dialect leads to its conversation", async () => {
  const emulator = await scripted("steps: [{output: [{function_call: {name: look, arguments: {}}}]}]");
  const reply = await post(
    emulator,
    { model: "emu-reasoner", input: "go", store: false },
    { "x-emulator-conversation": "begun-elsewhere" },
  );
  const [made] = outputOf(reply);
  const call = { id: made?.["call_id"], type: "function", function: { name: "look", arguments: "{}" } };
  const messages = [user("go"), assistant(null, { tool_calls: [call] }), toolResult(call.id)];
  await chat(emulator, { model: "emu-chat", messages });
  expect(lastReport(emulator)).toMatchObject({ verdict: "accepted", conversation: "begun-elsewhere" });
});

test("on a branch with the same text, only that branch's thought is expected", async () => {
  const emulator = await scripted(
    "steps: [{output: [{reasoning: {text: One way to think.}}, {message: Yes.}]}, {output: [{reasoning: {text: Another way to think.}}, {message: Yes.}]}]",
  );
  const headers = { "x-emulator-conversation": "branches" };
  const ask = { model: "emu-groq", messages: [user("1")] };
  const one = messageOf(await chat(emulator, ask, headers));
  const two = messageOf(await chat(emulator, ask, headers));
  expect([one["content"], two["content"]]).toEqual(["Yes.", "Yes."]);
  for (const answer of [one, two]) {
    await chat(emulator, { model: "emu-groq", messages: [user("1"), answer, user("2")] }, headers);
    expect(lastReport(emulator)).toMatchObject({ sent: { length: 1 }, missing: [], recall: 1 });
  }
  await chat(emulator, { model: "emu-groq", messages: [user("1"), assistant("Yes."), user("2")] }, headers);
  expect(lastReport(emulator)).toMatchObject({ sent: [], missing: { length: 1 }, recall: 0 });
});

test("a prefix is stable for one model: another gets the conversation in its own form", async () => {
  const emulator = await emulatorFor();
  const headers = { "x-emulator-conversation": "two-models" };
  const ask = async (model: string, messages: readonly Json[]): Promise<boolean> => {
    expect((await chat(emulator, { model, messages }, headers)).status).toBe(200);
    return lastReport(emulator).prefixStable;
  };
  expect(await ask("emu-groq", [user("1")])).toBe(true);
  expect(await ask("emu-mistral", [user([{ type: "text", text: "1" }]), assistant("a"), user("2")])).toBe(
    true,
  );
  expect(await ask("emu-groq", [user("1"), assistant("a"), user("2"), assistant("b"), user("3")])).toBe(true);
  expect(await ask("emu-groq", [user("one"), assistant("a"), user("2")])).toBe(false);
});

test("another system prompt keeps the conversation; numbered call ids do not join two conversations", async () => {
  const emulator = await emulatorFor();
  const [one, two] = [[] as Json[], [] as Json[]];
  await say(emulator, "emu-kimi", one, "What is the weather in Paris?");
  await say(emulator, "emu-kimi", two, "What is the weather in Rome?");
  one.unshift({ role: "system", content: "Be brief." });
  await say(emulator, "emu-kimi", one, "Thank you.");
  const [first, , third, , last] = emulator.report().requests.map((request) => request.conversation);
  expect([last, third === first]).toEqual([first, false]);
});

test("the same text twice is two thoughts, each with its own message", async () => {
  const emulator = await scripted(
    "steps: [{output: [{reasoning: {text: 'The same thought every time.'}}, {message: Yes.}]}]\nafterwards: repeat",
  );
  const messages: Json[] = [];
  for (const text of ["1", "2", "3"]) await say(emulator, "emu-groq", messages, text);
  expect(lastReport(emulator)).toMatchObject({ sent: { length: 2 }, acceptable: { length: 2 }, missing: [] });
});

test("parallel calls of a step can be answered in any order", async () => {
  const emulator = await emulatorFor();
  const history = await stepOf(
    await scripted("steps: [{output: [{function_call: {name: a}}, {function_call: {name: b}}]}]"),
    "emu-chat",
  );
  const messages = [history.first, history.answer, ...resultsOf(history.answer).toReversed()];
  expect((await chat(emulator, { model: "emu-chat", messages })).status).toBe(200);
});
