/**
 * A tool, live events, and a session that continues: run it twice.
 *
 *   npx tsx --tsconfig examples/tsconfig.json examples/tool.ts [folder]
 */

import { tmpdir } from "node:os";
import { join } from "node:path";

import { createAgent, emulator, fileStore, tool } from "throughline";
import { z } from "zod";

const print = (text: string): void => void process.stdout.write(text);

const weather = tool({
  name: "get_weather",
  description: "The weather of a city",
  input: z.object({ city: z.string() }),
  access: "read",
  idempotent: true, // may run again after a crash
  run: ({ city }) => `21 °C and sunny in ${city}`,
});

const agent = createAgent({ model: emulator(), tools: [weather], system: "Be brief." });
const store = fileStore(process.argv[2] ?? join(tmpdir(), "throughline-examples"));
await using session = await agent.open({ id: "weather", store });

for (const question of ["What is the weather in Paris and in Rome?", "Think of a number."]) {
  print(`\n› ${question}\n`);
  const turn = session.send(question);
  for await (const event of turn) {
    if (event.type === "reasoning_part_start") print(`  … ${event.title ?? "Thinking"}\n`);
    if (event.type === "tool_call") print(`  → ${event.name}(${event.arguments})\n`);
    if (event.type === "tool_result") print(`  ${event.status}: ${event.text}\n`);
    if (event.type === "text_delta") print(event.delta);
  }
  const { status, steps, usage } = await turn.result();
  print(
    `\n  ${status}: ${steps} steps, ${usage.inputTokens} tokens in, ${usage.reasoningTokens} of reasoning\n`,
  );
}
print(`\nLog: ${session.location}\n`);
