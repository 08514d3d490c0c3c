/** Turns that do not simply complete, and the events that tools and permissions write. */
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as breath } from "node:timers/promises";

import { startEmulator } from "../../src/emulator/index.ts";
import { agentTool, createAgent, fileStore, tool } from "../../src/index.ts";
import { fixtureTools, towards } from "../../test/support/earlier-logs.ts";
import { call, ended, eventsOf, messages, responses, say, session, thought } from "./session.mjs";

const run = (command) => ({
  output: [thought("**Running**\n\nA command."), call("run_command", { command })],
});

/** Reads the turn until an event matches. */
async function until(turn, fits) {
  for await (const event of turn) if (fits(event)) return event;
  throw new Error("the turn ended before the expected event");
}

const isText = ({ type }) => type === "text_delta";

const slow = tool({
  name: "sleep",
  description: "Never ends of itself",
  input: { type: "object", properties: {}, additionalProperties: false },
  access: "read",
  run: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("stopped")));
    }),
});

const SCHEMA = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

const interrupted = (text, options) => async (id, folder) => {
  const life = `life-of-${id}`;
  await session(life, folder, { model: responses() }, async (opened, { ask, faults }) => {
    await ask("Think of a number.");
    faults("stall=after-event:40");
    const turn = opened.send(text, options);
    await until(turn, isText);
    const live = join(folder, `${life}.live`);
    while (!existsSync(live) || !readFileSync(live, "utf8").includes(',"text",')) await breath();
    for (const end of ["jsonl", "live"])
      copyFileSync(join(folder, `${life}.${end}`), join(folder, `${id}.${end}`));
    turn.cancel();
    await ended(turn, "cancelled");
  });
  rmSync(join(folder, `${life}.jsonl`));
};

export const endings = {
  // Another model continues in the middle of a tool loop; the next turn returns to the first.
  fallback: (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        agent: { fallback: [messages()] },
        steps: [
          { output: [thought("**Asking**\n\nThe weather."), call("get_weather", { city: "Paris" })] },
          { output: [thought("**Reading**\n\nThe result."), say("Sunny in Paris.")] },
        ],
      },
      async (_, { ask, faults }) => {
        faults("none", "429=code:insufficient_quota");
        await ask("How is it in Paris?");
        await ask("Thanks");
      },
    ),
  "repaired-arguments": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        agent: { repairArguments: ({ arguments: text }) => `${text}}` },
        steps: [
          {
            output: [
              thought("**Asking**\n\nTwo cities."),
              call("get_weather", '{"city":"Paris"'),
              call("get_weather", { city: "Rome" }),
            ],
          },
          { output: [say("Done.")] },
        ],
      },
      async (_, { ask }) => {
        await ask("How is it in both?");
        await ask("Thanks");
      },
    ),
  // Two logs: the caller's, and the sub-agent's under a fixed name.
  "sub-agent": async (id, folder) => {
    const own = await startEmulator({});
    const sub = createAgent({
      model: responses(),
      tools: fixtureTools(),
      cwd: "/project",
      fetch: towards(own),
    });
    const research = agentTool({ name: "research", description: "Researches", agent: sub });
    const steps = [
      {
        output: [
          thought("**Delegating**\n\nA question."),
          call("research", { prompt: "Think of a number." }),
        ],
      },
      { output: [say("The sub-agent has answered.")] },
    ];
    let called;
    await session(
      id,
      folder,
      { model: responses(), steps, agent: { tools: [research] } },
      async (opened, { ask }) => {
        await ask("Find out.");
        const result = (await eventsOf(opened)).find(({ type }) => type === "tool_result");
        called = result.spent[0].session;
        await ask("Thanks");
      },
    );
    await own.close();
    copyFileSync(join(folder, `${called}.jsonl`), join(folder, `${id}-called.jsonl`));
    await fileStore(folder).remove(called);
  },
  "cancelled-with-partial": (id, folder) =>
    session(id, folder, { model: responses() }, async (opened, { ask, faults }) => {
      await ask("Think of a number.");
      faults("stall=after-event:40");
      const turn = opened.send("Write a long answer.");
      await until(turn, isText);
      turn.cancel();
      await ended(turn, "cancelled");
      await ask("Thanks");
    }),
  "cancelled-messages": (id, folder) =>
    session(id, folder, { model: messages() }, async (opened, { ask, faults }) => {
      faults("stall=after-event:40");
      const turn = opened.send("Write a long answer.");
      await until(turn, isText);
      turn.cancel();
      await ended(turn, "cancelled");
      await ask("Thanks");
    }),
  // Copies the files while an answer is being written: a process that dies then leaves them in this state.
  "interrupted-with-journal": interrupted("Write a long answer."),
  "interrupted-structured": interrupted("Write a long answer as JSON.", { output: SCHEMA }),
  "cancelled-in-a-tool": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        agent: { tools: [...fixtureTools(), slow] },
        steps: [{ output: [call("sleep", {}), call("get_weather", { city: "Rome" })] }],
      },
      async (opened, { ask }) => {
        const turn = opened.send("Sleep.");
        await until(turn, ({ type }) => type === "tool_start");
        turn.cancel();
        await ended(turn, "cancelled");
        await ask("Thanks");
      },
    ),
  "failed-and-incomplete": (id, folder) =>
    session(
      id,
      folder,
      { model: responses(), agent: { limits: { maxRetries: 1, maxSteps: 1 } } },
      async (opened, { faults }) => {
        faults("500", "none");
        await ended(opened.send("Think of a number."));
        faults("failed=server_error,items:1", "error-event=nested,items:1");
        await ended(opened.send("Thanks"), "failed");
        faults("incomplete=max_output_tokens,items:1");
        await ended(opened.send("Write a long answer."), "incomplete");
        faults("cut=after-event:12", "none");
        await ended(opened.send("Think of a number."));
        await ended(opened.send("What is the weather in Paris?"), "incomplete");
        await ended(opened.send("Thanks again"));
      },
    ),
  permissions: (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        agent: { permissions: "ask", tools: fixtureTools("run_command") },
        steps: [run("date"), { output: [say("Done.")] }, run("rm -r ."), { output: [say("Not done.")] }],
      },
      async (opened, { ask }) => {
        for (const answer of [(one) => opened.approve(one), (one) => opened.deny(one, "not here")]) {
          const turn = opened.send("Go on.");
          const { requestId } = await until(turn, ({ type }) => type === "permission_request");
          await answer(requestId);
          await ended(turn);
        }
        await ask("Thanks");
      },
    ),
  "permission-rules": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        agent: {
          permissions: "ask",
          allow: ["run_command"],
          tools: fixtureTools("run_command", "write_file"),
        },
        steps: [
          run("date"),
          { output: [call("write_file", { path: "a.txt", content: "a" })] },
          { output: [say("Both done.")] },
          { output: [call("write_file", { path: "b.txt", content: "b" })] },
          { output: [say("Without a question.")] },
        ],
      },
      async (opened, { ask }) => {
        const turn = opened.send("Go on.");
        const { requestId } = await until(turn, ({ type }) => type === "permission_request");
        await opened.approve(requestId, { forSession: true });
        await ended(turn);
        await ask("And the other?");
        const [, added] = opened.rules;
        await opened.disallow(added.rule);
      },
    ),
  "permissions-by-function": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages(),
        agent: {
          tools: fixtureTools("run_command"),
          permissions: ({ arguments: text }) =>
            JSON.stringify(text).includes("rm") ? { deny: "never that" } : "allow",
        },
        steps: [
          {
            output: [
              thought("**Two**\n\nAt once."),
              call("run_command", { command: "date" }),
              call("run_command", { command: "rm -r ." }),
            ],
          },
          { output: [say("One was done.")] },
        ],
      },
      async (_, { ask }) => {
        await ask("Go on.");
        await ask("Thanks");
      },
    ),
  "tool-outcomes": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        agent: { tools: [...fixtureTools(), slow], limits: { toolTimeoutMs: 40, toolGraceMs: 0 } },
        steps: [
          {
            output: [
              thought("**Many**\n\nOne of each."),
              call("get_weather", { city: "Rome" }),
              call("get_weather", { city: "Oslo" }),
              call("get_weather", { town: "Rome" }),
              call("get_weather", '{"city":'),
              call("no_such_tool", {}),
              call("sleep", {}),
            ],
          },
          { output: [say("Some were done.")] },
        ],
      },
      async (_, { ask }) => {
        await ask("Do all.");
        await ask("Thanks");
      },
    ),
};
