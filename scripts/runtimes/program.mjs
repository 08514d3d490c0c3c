/**
 * A program as a user writes it, which scripts/runtimes.mjs bundles and runs on other runtimes. Its first argument says
 * what to do, its second is a folder for sessions:
 *
 * - `check`: a turn with a tool and structured output, a session that continues with its thoughts, cancel, the
 *   built-in tools, a sub-agent
 * - `hold`: holds a session until it is killed
 * - `try`: prints `locked` if another process holds that session, and `free` otherwise
 * - `die`: begins a turn whose tool never ends
 * - `resume`: finishes that turn
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { agentTool, builtinTools, createAgent, emulator, fileStore, tool } from "throughline";

const [what, folder] = process.argv.slice(2);
const say = (text) => process.stdout.write(`${text}\n`);

function expectThat(holds, message) {
  if (!holds) throw new Error(message);
}

const weather = (run) =>
  tool({
    name: "get_weather",
    description: "The weather of a city",
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    access: "read",
    run,
  });

const open = (options, id = what) =>
  createAgent({ model: emulator(), ...options }).open({ id, store: fileStore(folder) });

const tasks = {
  async check() {
    const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const first = await open({ tools: [weather(() => "sunny")] }, "typed");
    const typed = await first.send("What is the weather in Paris?", { output: city }).result();
    await first.close();
    expectThat(typeof typed.output?.city === "string", `no structured output: ${JSON.stringify(typed)}`);

    let answer = "";
    for (const text of ["Think of a number.", "Which number did you think of?"]) {
      const session = await open({}, "thoughts");
      answer = await session.send(text).text();
      await session.close();
    }
    expectThat(/\d/.test(answer), `the thought was lost: ${answer}`);

    const slow = await open({ model: emulator({ paceMs: 20 }) }, "cancelled");
    const turn = slow.send("Write a long answer.");
    for await (const event of turn) if (event.type === "text_delta") turn.cancel();
    expectThat((await turn.result()).status === "cancelled", "the turn was not cancelled");
    await slow.close();

    const tools = builtinTools({ cwd: folder });
    const worker = await open({ tools, permissions: "auto" }, "worker");
    await worker.send("Write hello.txt.").text();
    const read = await worker.send("Read hello.txt and summarise it.").text();
    const ran = await worker.send("Run `echo hello`").text();
    expectThat(read.includes("1 line") && ran.includes("hello [exit code 0]"), `${read} ${ran}`);
    await worker.close();

    const agent = createAgent({ model: emulator() });
    const ask = agentTool({
      name: "get_weather",
      description: "The weather",
      agent,
      input: city,
      prompt: () => "Hi",
    });
    const caller = await open({ tools: [ask] }, "caller");
    await caller.send("What is the weather in Paris?").text();
    let sub;
    for await (const event of caller.events())
      if (event.type === "tool_result") sub = event.spent?.[0]?.session;
    expectThat(sub !== undefined, "the sub-agent has no session");
    await caller.close();
  },
  async hold() {
    await open({}, "held");
    say("held");
    setInterval(() => undefined, 60_000);
    await new Promise(() => undefined);
  },
  async try() {
    try {
      await (await open({}, "held")).close();
      say("free");
    } catch (error) {
      if (error.code !== "session_locked") throw error;
      say("locked");
    }
  },
  async die() {
    const never = weather(() => {
      appendFileSync(join(folder, "effects.txt"), "effect\n");
      say("running");
      return new Promise(() => setInterval(() => undefined, 60_000));
    });
    await (await open({ tools: [never] }, "killed")).send("What is the weather in Paris?").result();
  },
  async resume() {
    const again = weather(() => appendFileSync(join(folder, "effects.txt"), "effect\n"));
    const session = await open({ tools: [again] }, "killed");
    expectThat(session.interrupted, "the turn was not interrupted");
    expectThat((await session.resume().result()).status === "completed", "the turn was not resumed");
    await session.close();
  },
};

await tasks[what]();
say("done");
process.exit(0);
