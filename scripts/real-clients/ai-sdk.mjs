/** The conversation of every AI SDK client, on any API. */
import assert from "node:assert/strict";

import { lossesOfParts, omit } from "./losses.mjs";
import { weather } from "./weather.mjs";

export async function conversation(sdk, settings, way) {
  const messages = [];
  const ask = async (content) => {
    messages.push({ role: "user", content });
    const result = await sdk[way]({ ...settings, messages });
    await result.consumeStream?.();
    const response = await result.response;
    messages.push(...((await result.responseMessages) ?? response.messages));
    return result.text;
  };
  assert.match(await ask("Compare the weather in Paris and Rome."), /Rome: Sunny in Rome/);
  assert.match(await ask("What is the weather in Oslo?"), /Sunny in Oslo/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}

/** The weather as a tool of the SDK. */
export const toolsOf = (sdk, z) => ({
  [weather.name]: sdk.tool({
    description: weather.description,
    inputSchema: z.object({ city: z.string() }),
    execute: async (input) => weather.run(input),
  }),
});

const KINDS = { reasoning: "thought", text: "text" };
const partsOf = ({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content);

/** An app that keeps model messages. `settingsFor(model, key)`: the settings of a call. */
export function appOf(sdk, { models, settingsFor, name, withoutPayload }) {
  return {
    ...models,
    user: (content) => ({ role: "user", content }),
    text: (message) =>
      partsOf(message)
        .map(({ text }) => text ?? "")
        .join(""),
    isResult: ({ role }) => role === "tool",
    async send(messages, { model = models.own, key } = {}) {
      const headers = { "x-emulator-conversation": name };
      const settings = { ...settingsFor(model, key), headers, maxRetries: 0 };
      const result = await sdk.generateText({ ...settings, messages });
      return [...messages, ...((await result.responseMessages) ?? result.response.messages)];
    },
    without: lossesOfParts({
      partsOf,
      withParts: (message, content) => ({ ...message, content }),
      kind: ({ type }) => KINDS[type],
      bare: (part) => omit(part, "providerOptions"),
      withoutPayload,
      withoutWords: (part) => ({ ...part, text: "" }),
    }),
  };
}
