/** A program that uses the installed package. The package test type-checks it and does not run it. */

import { createAgent, emulator, memoryStore, tool } from "throughline";
import { checkHistory } from "throughline/check";
import { startEmulator } from "throughline/emulator";

const weather = tool({
  name: "get_weather",
  description: "The weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  access: "read",
  run: ({ city }) => `21 °C and sunny in ${String(city)}`,
});

const agent = createAgent({ model: emulator(), tools: [weather] });
await using session = await agent.open({ store: memoryStore() });
const turn = session.send("What is the weather in Paris?");
for await (const event of turn) {
  if (event.type === "text_delta") process.stdout.write(event.delta);
}
const { status, usage } = await turn.result();
const tokens: number = usage.inputTokens;
process.stdout.write(`${status} ${tokens}\n`);

const server = await startEmulator();
await server.close();

export const { findings } = checkHistory(JSON.stringify({ input: [] }));
