/** User operations on a history: other models, branches, forks, cuts, summaries. */
import { importHistory } from "../../src/diagnostics/import/index.ts";
import { fileStore } from "../../src/index.ts";
import { chat, ended, eventsOf, messages, responses, say, session, thought } from "./session.mjs";

const lastMessage = async (opened) =>
  (await eventsOf(opened)).findLast(({ type }) => type === "user_message").seq;

/** Sends messages into the turn while its first answer arrives, so that they follow the results of its tools. */
async function steered(opened, input, more) {
  const turn = opened.send(input);
  for await (const event of turn)
    if (event.type === "response_start" && event.step === 1)
      for (const text of more) opened.send(text, { whenBusy: "steer" });
  await ended(turn);
}

export const histories = {
  // Two consecutive requests omit the same items: the second one only refers to the first (leftOutAs).
  "switch-between-dialects": (id, folder) =>
    session(id, folder, { model: responses() }, async (opened, { ask }) => {
      await ask("What is the weather in Paris?");
      await opened.setModel(messages());
      await ask("What is the weather in Rome?");
      await ask("Thanks");
      await opened.setModel(chat("emu-deepseek", "deepseek"));
      await ask("What is the weather in Lima?");
      await opened.setModel(responses());
      await ask("Thanks again");
      await ask("And once elsewhere", { model: chat("emu-mistral", "mistral") });
    }),
  "foreign-notes": (id, folder) =>
    session(
      id,
      folder,
      { model: responses(), agent: { replay: { otherModels: "note" } } },
      async (opened, { ask }) => {
        await ask("What is the weather in Paris?");
        await opened.setModel(messages());
        await ask("Thanks");
        await opened.setModel(chat("emu-router", "openrouter"));
        await ask("Thanks again");
      },
    ),
  "replay-since-last-user": (id, folder) =>
    session(
      id,
      folder,
      { model: responses(), agent: { replay: { reasoning: "since_last_user" } } },
      async (_, { ask }) => {
        await ask("What is the weather in Paris?");
        await ask("Think of a number.");
        await ask("Thanks");
      },
    ),
  // Messages that joined a running turn, in every dialect, with what retry, edit and undo make of them.
  steered: (id, folder) =>
    session(id, folder, { model: responses() }, async (opened, { ask }) => {
      await steered(opened, "What is the weather in Paris?", ["Be quick.", "And friendly."]);
      await ask("Thanks");
      await opened.setModel(messages());
      await steered(opened, "What is the weather in Rome?", ["In one line."]);
      await opened.setModel(chat("emu-mistral", "mistral"));
      await steered(opened, "What is the weather in Lima?", ["In one line."]);
      await ended(opened.retry());
      await ended(opened.retry({ from: "message" }));
      const joined = (await eventsOf(opened)).findLast(({ steer }) => steer !== undefined);
      await ended(opened.edit(joined.seq, "In two lines."));
      await opened.undo();
      await ask("Thanks again");
    }),
  branches: (id, folder) =>
    session(id, folder, { model: responses() }, async (opened, { ask }) => {
      await opened.rename("Branches of a talk");
      await ask("Hello");
      await ended(opened.retry());
      await ask("Think of a number.");
      const edited = await lastMessage(opened);
      await ended(opened.edit(edited, "Think of another number."));
      await opened.undo();
      await ask("Which number did you think of?");
      await opened.checkout({ to: edited });
      await ask("Which number was it?");
      await opened.truncateFrom(await lastMessage(opened));
      await ask("Thanks");
      await opened.keepLastTurns(1);
      await ask("Thanks again");
    }),
  // Also writes the log of the fork, with its root and parent.
  "fork-parent": (id, folder) =>
    session(id, folder, { model: responses() }, async (opened, { ask }) => {
      await ask("What is the weather in Paris?");
      const at = (await eventsOf(opened)).length - 1;
      const fork = await opened.fork({ at, id: "fork-child" });
      await ended(fork.send("Think of a number."));
      await fork.close();
    }),
  "compaction-by-model": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        steps: [
          { output: [thought("**A**\n\nFirst."), say("answer a")] },
          { output: [thought("**B**\n\nSecond."), say("answer b")] },
          { output: [say("They greeted each other twice.")] },
          { output: [thought("**C**\n\nThird."), say("answer c")] },
          { output: [say("And once more.")] },
        ],
      },
      async (opened, { ask }) => {
        await ask("one");
        await ask("two");
        await opened.compact({ instructions: "In one sentence." });
        await ask("three");
        await opened.compact({ keepTurns: 0 });
        await ask("Thanks");
      },
    ),
  "compaction-by-digest": (id, folder) =>
    session(
      id,
      folder,
      { model: messages(), agent: { limits: { maxRetries: 0 } } },
      async (opened, { ask, faults }) => {
        await ask("Think of a number.");
        await ask("My name is Ada");
        faults("500");
        await opened.compact();
        await ask("Thanks");
      },
    ),
  "compaction-of-itself": (id, folder) =>
    session(
      id,
      folder,
      {
        model: chat("emu-deepseek", "deepseek", { capabilities: { contextTokens: 1200 } }),
        emulator: { models: { "emu-deepseek": { contextTokens: 1200 } } },
      },
      async (opened, { ask }) => {
        for (const city of ["Paris", "Rome", "Lima", "Bonn"])
          await ask(`What is the weather in ${city}? ${"It matters much. ".repeat(30)}`);
      },
    ),
  "imported-history": async (id, folder) => {
    const history = [
      { role: "user", content: "What is the weather in Paris?" },
      {
        role: "assistant",
        content: null,
        reasoning_content: "Paris is a city.",
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "get_weather", arguments: '{"city":"Paris"}' },
          },
          { id: "call_2", type: "function", function: { name: "get_weather", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "sunny" },
      { role: "assistant", content: "It is sunny." },
    ];
    await importHistory(fileStore(folder), JSON.stringify(history), { id, name: "history.json" });
    await session(id, folder, { model: responses() }, async (_, { ask }) => {
      await ask("Thanks");
    });
  },
};
