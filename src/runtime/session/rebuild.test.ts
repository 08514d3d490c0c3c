import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import { weatherTool } from "../../../test/support/weather-tool.ts";
import { loadScenario, startEmulator } from "../../emulator/index.ts";
import { memoryStore } from "../log/index.ts";
import { openai } from "../models/index.ts";
import { createAgent, rebuildRequest } from "./index.ts";

test("every past request is rebuilt from the log alone, byte for byte", async () => {
  const emulator = await startEmulator();
  const store = memoryStore();
  const model = (name: string) => openai(name, { apiKey: "key-for-tests", baseUrl: emulator.baseUrl });
  const agent = createAgent({ model: model("emu-reasoner"), tools: [weatherTool], system: "Be brief." });
  const session = await agent.open({ id: "past", store });
  const picture = { type: "image", mediaType: "image/png", data: "A".repeat(100_000) } as const;
  await session.send("What is the weather in Paris and in Rome?").result();
  await session.send([{ type: "text", text: "Look at this" }, picture]).result();
  await session.setModel(model("emu-reasoner-mini"));
  await session.send("Think of a number.", { effort: "high" }).result();
  await session.retry().result();
  await session.close();

  const log = await store.open("past", { mode: "read" });
  const bodies = emulator.exchanges.map((exchange) => exchange.requestText);
  expect(bodies.length).toBeGreaterThan(4);
  for (const [index, sent] of bodies.entries()) {
    const { proof, body } = await rebuildRequest(log, index + 1);
    expect({ request: index + 1, proof }).toEqual({ request: index + 1, proof: "same" });
    expect(body).toBe(sent);
  }
  await expect(rebuildRequest(log, bodies.length + 1)).rejects.toMatchObject({ code: "request_unknown" });
  await emulator.close();
});

test("a log that does not yield the bytes that were sent says so", async () => {
  const emulator = await startEmulator();
  const store = memoryStore();
  const agent = createAgent({
    model: openai("emu-reasoner", { apiKey: "key-for-tests", baseUrl: emulator.baseUrl }),
  });
  const session = await agent.open({ id: "past", store });
  await session.send("Hello").result();
  await session.close();
  const log = await store.open("past", { mode: "read" });
  const changed = log.events.map((event) =>
    event.type === "user_message"
      ? { ...event, content: [{ type: "text" as const, text: "Goodbye" }] }
      : event,
  );
  expect((await rebuildRequest({ ...log, events: changed }, 1)).proof).toBe("differs");
  await emulator.close();
});

test("a request of an earlier version, with a tool name as the model wrote it, is rebuilt as it was sent", async () => {
  const name = "functions.look";
  const steps = [
    { output: [{ function_call: { name, arguments: {} } }] },
    { output: [{ message: "Sorry." }] },
  ];
  const scenario = loadScenario(JSON.stringify({ steps }), "test.json");
  const emulator = await startEmulator({ scenario });
  const store = memoryStore();
  const agent = createAgent({
    model: openai("emu-reasoner", { apiKey: "key-for-tests", baseUrl: emulator.baseUrl }),
  });
  const session = await agent.open({ id: "past", store });
  await session.send("Look.").result();
  await session.close();
  const now = emulator.exchanges.at(-1)?.requestText ?? "";
  const then = now.replace(/functions_look_[a-z0-9]+/, name);
  expect(then).not.toBe(now);
  const log = await store.open("past", { mode: "read" });
  const asOf = (body: string): typeof log.events =>
    log.events.map((event) =>
      event.type === "response_start" && event.step === 2
        ? { ...event, bodyHash: createHash("sha256").update(body).digest("hex") }
        : event,
    );
  for (const body of [now, then])
    expect(await rebuildRequest({ ...log, events: asOf(body) }, 2)).toMatchObject({ proof: "same", body });
  expect(await rebuildRequest({ ...log, events: asOf("other") }, 2)).toMatchObject({
    proof: "differs",
    body: now,
  });
  await emulator.close();
});
