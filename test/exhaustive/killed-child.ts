/**
 * A session in its own process, to be killed at any system call. It reports synchronously before it continues: `event
 * {json}` for everything acknowledged, `write {json}` for each write of the log, `end` if nothing killed it.
 */

import { appendFileSync, writeSync } from "node:fs";

import { createAgent, fileStore, tool } from "../../src/index.ts";
import { type FileIo, systemFileIo } from "../../src/runtime/log/index.ts";
import { text } from "../support/tool-schema.ts";
import { emulatedModel } from "./corpus.ts";
import { type KilledPlan, SESSION } from "./killed-plan.ts";

const plan = JSON.parse(process.argv[2] ?? "{}") as KilledPlan;
const { die } = plan;
const say = (word: string, value: unknown): void => {
  writeSync(1, `${word} ${JSON.stringify(value)}\n`);
};
const now = (): void => {
  process.kill(process.pid, "SIGKILL");
};

const counts = { write: 0, sync: 0, tool: 0 };

const io: FileIo = {
  ...systemFileIo,
  write(file, bytes, offset, position) {
    counts.write += 1;
    const types = [
      ...Buffer.from(bytes)
        .toString("latin1")
        .matchAll(/"type":"([a-z_]+)"/g),
    ].map(([, type]) => type);
    if (die?.at === "write" && die.nth === counts.write) {
      const some = Math.min(bytes.length, offset + die.bytes);
      if (die.bytes > 0) systemFileIo.write(file, bytes.subarray(0, some), offset, position);
      now();
    }
    const written = systemFileIo.write(file, bytes, offset, position);
    say("write", { nth: counts.write, bytes: bytes.length, types });
    return written;
  },
  async sync(file) {
    counts.sync += 1;
    const mine = die?.at === "sync" && die.nth === counts.sync ? die.when : undefined;
    if (mine === "before") now();
    await systemFileIo.sync(file);
    if (mine === "after") now();
  },
};

const weather = tool({
  name: "get_weather",
  description: "Weather of a city",
  input: text("city"),
  access: "write",
  run: async ({ city }, { idempotencyKey }) => {
    counts.tool += 1;
    const mine = die?.at === "tool" && die.nth === counts.tool ? die.when : undefined;
    if (mine === "before") now();
    appendFileSync(plan.effects, `${String(city)} ${idempotencyKey}\n`);
    if (mine === "after") now();
    return `Sunny in ${String(city)}, 21C`;
  },
});

const agent = createAgent({
  model: emulatedModel(plan.model, plan.baseUrl),
  tools: [weather],
  permissions: "auto",
});
const session = await agent.open({ id: SESSION, store: fileStore(plan.folder, { io }) });
const turns = plan.resume
  ? [() => (session.interrupted ? session.resume() : session.send("Hello"))]
  : plan.prompts.map((prompt) => () => session.send(prompt));
for (const begin of turns) {
  const turn = begin();
  for await (const event of turn) if ("seq" in event) say("event", event);
  await turn.result();
}
await session.close();
say("end", counts);
