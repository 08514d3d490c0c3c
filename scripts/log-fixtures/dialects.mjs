/** One log per dialect and per form in which an endpoint sends thoughts and accepts them back. */
import { fixtureTools, KEY } from "../../test/support/earlier-logs.ts";
import { chat, messages, responses, session } from "./session.mjs";

/** A tool loop, and a turn that sends it back. */
const talk =
  (model, options = {}) =>
  (id, folder) =>
    session(id, folder, { model, ...options }, async (_, { ask }) => {
      await ask("What is the weather in Paris?");
      await ask("Thanks");
    });

const responsesLogs = {
  "responses-tools": talk(responses("emu-reasoner", "openai", { effort: "high" })),
  "responses-prefix-bound": (id, folder) =>
    session(id, folder, { model: responses("emu-prefix-bound", "prefix-bound") }, async (opened, { ask }) => {
      await ask("Thanks");
      await ask("Think of a number.");
      await opened.keepLastTurns(1);
      await ask("Which number did you think of?");
    }),
  // Nothing is cut: every thought is sent back, because the hash of its prefix matches the log.
  "responses-prefix-bound-kept": talk(responses("emu-prefix-bound", "prefix-bound")),
  "responses-no-item-ids": (id, folder) =>
    session(id, folder, { model: responses("emu-bare", "no-item-ids") }, async (_, { ask, faults }) => {
      faults("rotate-ids=40");
      await ask("What is the weather in Paris?");
      await ask("Thanks");
    }),
  "responses-readable-reasoning": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses("emu-open", "open-responses"),
        emulator: { switches: { reasoningText: true, reasoningContent: "accept" } },
      },
      async (_, { ask }) => {
        await ask("What is the weather in Paris?");
        await ask("Thanks");
      },
    ),
  "responses-plain": (id, folder) =>
    session(id, folder, { model: responses("emu-plain") }, (_, { ask }) =>
      ask("What is the weather in Paris?"),
    ),
  "responses-late-ciphertext": (id, folder) =>
    session(id, folder, { model: responses("emu-azure", "azure") }, async (_, { ask, faults }) => {
      faults("late-ciphertext", "late-ciphertext");
      await ask("What is the weather in Paris?");
      await ask("Thanks");
    }),
  "responses-hosted-and-unknown-items": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses("emu-reasoner", "openai", { providerTools: ["web_search"] }),
        agent: { tools: fixtureTools("get_weather", "list_files") },
      },
      async (_, { ask, faults }) => {
        await ask("Search the web for release notes.");
        faults("unknown-item", "unknown-event=2");
        await ask("Please refuse this.");
        await ask("Explain while you work.");
      },
    ),
  "responses-custom-call": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        steps: [
          {
            output: [
              { reasoning: { summary: [], notes: "Nothing is shown." } },
              { custom_tool_call: { name: "sql", input: "SELECT 1;\nSELECT 2;", call_id: "call_custom" } },
            ],
          },
          { output: [{ message: { text: "It is one.", phase: "final_answer", annotations: [] } }] },
        ],
      },
      async (_, { ask }) => {
        await ask("Ask the database.");
        await ask("Thanks");
      },
    ),
};

/** An emulator on which the key belongs to the given account. */
const keyOf = (account) => ({ accounts: { [KEY]: account }, switches: { foreignThinking: "drop" } });

const messagesLogs = {
  "messages-tools": talk(messages("emu-claude", "anthropic", { effort: "high" })),
  "messages-redacted-thinking": (id, folder) =>
    session(
      id,
      folder,
      { model: messages(), agent: { tools: fixtureTools("read_file") } },
      async (_, { ask }) => {
        await ask("Think in secret.");
        await ask("Look at two files, thinking in between.");
      },
    ),
  "messages-prefix-bound": (id, folder) =>
    session(id, folder, { model: messages("emu-claude-bound") }, async (opened, { ask }) => {
      await ask("Thanks");
      await ask("Think of a number.");
      await opened.keepLastTurns(1);
      await ask("Which number did you think of?");
    }),
  "messages-prefix-bound-kept": talk(messages("emu-claude-bound")),
  "messages-hosted": (id, folder) =>
    session(
      id,
      folder,
      { model: messages("emu-claude", "anthropic", { providerTools: ["web_search_20250305"] }) },
      async (_, { ask, faults }) => {
        await ask("Search the web for release notes.");
        faults("unknown-item");
        await ask("Thanks");
      },
    ),
  // The key now belongs to another account: earlier thoughts are sent and not read.
  "messages-unread": async (id, folder) => {
    for (const account of ["one", "two"])
      await session(id, folder, { model: messages(), emulator: keyOf(account) }, (_, { ask }) =>
        ask("Think of a number."),
      );
  },
  "messages-plain": (id, folder) =>
    session(id, folder, { model: messages("emu-claude-plain") }, (_, { ask }) =>
      ask("What is the weather in Paris?"),
    ),
};

const chatLogs = {
  "chat-openai": talk(chat("emu-chat", "openai-chat", { effort: "low" })),
  "chat-reasoning-content": talk(chat("emu-deepseek", "deepseek")),
  "chat-reasoning-not-taken-back": talk(chat("emu-deepseek-old", "deepseek-old")),
  "chat-repeated-call-ids": talk(chat("emu-kimi", "moonshot")),
  "chat-content-thinking": talk(chat("emu-mistral", "mistral")),
  "chat-reasoning": talk(chat("emu-groq", "groq")),
  "chat-reasoning-details": talk(chat("emu-router", "openrouter")),
};

export const dialects = { ...responsesLogs, ...messagesLogs, ...chatLogs };
