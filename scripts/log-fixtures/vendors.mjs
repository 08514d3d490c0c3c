/** Differences between models and vendors: switches and fields, ways to turn thinking off, and streams with two answers. */
import { fixtureTools } from "../../test/support/earlier-logs.ts";
import { retold } from "./server-tools.mjs";
import { call, chat, ended, messages, responses, say, session, thought } from "./session.mjs";

/** A tool loop, and turns that send it back. */
const talk =
  (model, options = {}) =>
  (id, folder) =>
    session(id, folder, { model, ...options }, async (_, { ask }) => {
      await ask("What is the weather in Paris?");
      await ask("Think of a number.");
      await ask("Thanks");
    });

/** In every first answer, another one begins in the middle. */
const spliced = (model, events) => (id, folder) =>
  session(id, folder, { model }, async (_, { ask, faults }) => {
    faults(...Array.from({ length: 3 }, () => `spliced-start=${events}`));
    await ask("What is the weather in Paris?");
    await ask("Thanks");
  });

const streams = {
  "responses-spliced": spliced(responses(), 6),
  "messages-spliced": spliced(messages(), 6),
  "chat-spliced": spliced(chat("emu-deepseek", "deepseek"), 5),
};

const switches = {
  "chat-keeps-thinking-moonshot": talk(chat("emu-kimi-k2.6", "moonshot")),
  "chat-keeps-thinking-zai": talk(chat("emu-glm", "zai")),
  "chat-keeps-thinking-qwen": talk(chat("emu-qwen", "qwen")),
  "chat-keeps-thinking-vllm": talk(chat("emu-vllm", "vllm")),
  "chat-keeps-thinking-cerebras": talk(chat("emu-cerebras", "cerebras", { effort: "none" })),
  "chat-keeps-thinking-fireworks": talk(chat("emu-fireworks", "fireworks", { effort: "xhigh" })),
  "chat-shows-thinking": talk(chat("emu-minimax", "minimax")),
  "chat-effort-words": talk(chat("emu-kimi-k3", "moonshot", { effort: "medium" })),
  "chat-thinking-as-parts": talk(chat("emu-mistral", "mistral", { effort: "low" })),
  // A thought in two fields. Each is sent back in its own field.
  "chat-two-fields": talk(chat("emu-fireworks", "copilot-chat"), {
    fetch: retold([
      [/"reasoning_content":/g, '"reasoning_text":'],
      [/("delta":\{)("content":)/, '$1"reasoning_opaque":"sealed==",$2'],
    ]),
  }),
  "chat-thinking-blocks": talk(chat("emu-fireworks", "litellm"), {
    fetch: retold([
      [
        /("delta":\{)("reasoning_content":("[^"]*"))/,
        '$1"thinking_blocks":[{"type":"thinking","thinking":$3,"signature":"c2ln"}],$2',
      ],
    ]),
  }),
};

const thinking = {
  // The second model reads the thoughts of the first, and its thinking cannot be turned off.
  "messages-reads-thoughts-of": (id, folder) =>
    session(id, folder, { model: messages("emu-claude-adaptive") }, async (opened, { ask }) => {
      await ask("Think of a number.");
      await opened.setModel(messages("emu-claude-5.5"));
      await ask("What is the weather in Paris?");
      await opened.setModel(messages("emu-claude-between"));
      await ask("Thanks");
    }),
  "messages-never-off": talk(messages("emu-claude-5.5", "anthropic", { effort: "none" })),
  "messages-between-tools": talk(messages("emu-claude-between", "anthropic", { effort: "none" })),
};

const refused = (message) => ({ type: "http", status: 400, message });

/** After the first turn, one request is refused with this message and healed. */
const mended =
  (model, message, options = {}) =>
  (id, folder) =>
    session(id, folder, { model, ...options }, async (_, { ask, emulator }) => {
      await ask("What is the weather in Paris?");
      emulator.addFaults(refused(message));
      await ask("Thanks");
      await ask("Thanks again");
    });

const healedNow = {
  "healed-messages-server-call": (id, folder) =>
    session(
      id,
      folder,
      {
        model: messages("emu-claude", "anthropic", { hosted: ["web_search_20250305"] }),
        steps: [
          {
            output: [
              thought("**Looking**\n\nOnce."),
              {
                item: {
                  type: "server_tool_use",
                  id: "srvtoolu_search",
                  name: "web_search",
                  input: { query: "x" },
                },
              },
              { item: { type: "web_search_tool_result", tool_use_id: "srvtoolu_search", content: [] } },
              say("Found."),
            ],
          },
        ],
      },
      async (_, { ask, emulator }) => {
        await ask("Look it up.");
        emulator.addFaults(
          refused(
            "messages.1.content.1: `web_search` tool use with id `srvtoolu_search` was found without a corresponding `web_search_tool_result` block",
          ),
        );
        await ask("Thanks");
        await ask("Thanks again");
      },
    ),
  "healed-messages-thinking-disabled": mended(
    messages("emu-claude-adaptive", "anthropic", { effort: "none" }),
    '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  ),
  "healed-chat-thinking-enabled": mended(
    chat("emu-kimi", "moonshot"),
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
  ),
  "healed-chat-kept-field": mended(chat("emu-glm", "zai"), "Unknown parameter: 'thinking.clear_thinking'."),
  // A turn that ended after a tool's result, at an endpoint whose profile does not say what it accepts.
  "healed-chat-user-after-tool": (id, folder) =>
    session(id, folder, { model: chat("emu-mistral", "generic-chat") }, async (opened, { ask, emulator }) => {
      emulator.addFaults({ type: "none" }, { type: "http", status: 401 });
      await ended(opened.send("What is the weather in Paris?"), "failed");
      await ask("Thanks");
      await ask("Thanks again");
    }),
  "healed-chat-user-after-user": (id, folder) =>
    session(
      id,
      folder,
      { model: chat("emu-deepseek-old", "generic-chat") },
      async (opened, { ask, emulator }) => {
        emulator.addFaults({ type: "http", status: 401 });
        await ended(opened.send("Hello"), "failed");
        await ask("Thanks");
        await ask("Thanks again");
      },
    ),
  // The model always thinks and requires thoughts that another model's calls do not have. The calls become a note.
  "healed-chat-calls-as-note": (id, folder) =>
    session(id, folder, { model: chat("emu-groq", "groq") }, async (opened, { ask }) => {
      await ask("What is the weather in Paris?");
      await opened.setModel(chat("emu-kimi-k2.7", "moonshot"));
      await ask("Think of a number.");
      await ask("Thanks");
    }),
};

const histories = {
  // The branch ends after the tool's result, and the new turn has no message.
  "retry-of-a-failed-step": (id, folder) =>
    session(
      id,
      folder,
      { model: responses(), agent: { limits: { maxRetries: 0 } } },
      async (opened, { ask, faults }) => {
        faults("none", "500");
        await ended(opened.send("What is the weather in Paris?"), "failed");
        await ended(opened.retry());
        await ask("Thanks");
      },
    ),
  // Tool names that no API accepts, at home and abroad.
  "mapped-tool-names": (id, folder) =>
    session(
      id,
      folder,
      {
        model: responses(),
        agent: { tools: fixtureTools("get_weather", "list_files") },
        steps: [
          {
            output: [
              thought("**Many**\n\nNames."),
              call("functions.get_weather", { city: "Rome" }),
              call("x".repeat(200), {}),
              call("get_weather", { city: "Rome" }),
            ],
          },
          { output: [say("One was done.")] },
        ],
      },
      async (opened, { ask }) => {
        await ask("Do all.");
        await opened.setModel(messages());
        await ask("Thanks");
        await opened.setModel(chat("emu-mistral", "mistral"));
        await ask("Thanks again");
      },
    ),
};

export const vendors = { ...streams, ...switches, ...thinking, ...healedNow, ...histories };
