/** Refusals that led to a correction: every action of `replay_override`, with the error texts of each dialect. */
import { call, chat, messages, responses, say, session, thought } from "./session.mjs";

const refused = (message, code) => ({
  type: "http",
  status: 400,
  message,
  ...(code === undefined ? {} : { code }),
});

const loop = [
  { output: [thought("**Looking**\n\nOne call."), call("get_weather", { city: "Paris" }, "call_paris_1")] },
  { output: [thought("**Telling**\n\nIt is known."), say("Sunny.")] },
];

export const healed = {
  "healed-responses-omit-reasoning": (id, folder) =>
    session(id, folder, { model: responses() }, async (_, { ask, faults }) => {
      await ask("What is the weather in Paris?");
      faults("rotate-key");
      await ask("Thanks");
      await ask("Thanks again");
    }),
  "healed-responses-omit-ids": (id, folder) =>
    session(id, folder, { model: responses(), steps: loop }, async (_, { ask, emulator }) => {
      await ask("What is the weather in Paris?");
      emulator.addFaults(
        refused(
          "Invalid 'input[1].id': string too long. Expected a string with maximum length 64, but got a string with length 400 instead.",
          "string_above_max_length",
        ),
      );
      await ask("Thanks");
    }),
  "healed-responses-strip-field": (id, folder) =>
    session(
      id,
      folder,
      { model: responses("emu-reasoner", "openai", { effort: "low" }), steps: loop },
      async (_, { ask, emulator }) => {
        emulator.addFaults(refused("Unknown parameter: 'reasoning.summary'.", "unknown_parameter"));
        await ask("What is the weather in Paris?");
        emulator.addFaults(refused("Unknown parameter: 'input[2].status'.", "unknown_parameter"));
        await ask("Thanks");
      },
    ),
  "healed-responses-close-call": (id, folder) =>
    session(id, folder, { model: responses(), steps: loop }, async (_, { ask, emulator }) => {
      await ask("What is the weather in Paris?");
      emulator.addFaults(refused("No tool output found for function call call_paris_1."));
      await ask("Thanks");
    }),
  "healed-messages-translate": (id, folder) =>
    session(id, folder, { model: messages() }, async (_, { ask, emulator }) => {
      await ask("What is the weather in Paris?");
      const signature = refused("messages.1.content.0: Invalid `signature` in `thinking` block");
      emulator.addFaults(signature, signature);
      await ask("Thanks");
    }),
  "healed-chat-field": (id, folder) =>
    // The profile says that the server accepts reasoning_content, and the server does not.
    session(id, folder, { model: chat("emu-deepseek-old", "deepseek") }, async (_, { ask }) => {
      await ask("What is the weather in Paris?");
      await ask("Thanks");
    }),
};
