/** The official client's tool runner: with a thread on the server, and with the whole history each time. */
import assert from "node:assert/strict";

import { weather } from "../weather.mjs";

export const client = {
  name: "anthropic-tool-runner",
  packages: ["@anthropic-ai/sdk@latest"],

  async run({ url, key }) {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const { betaTool } = await import("@anthropic-ai/sdk/helpers/beta/json-schema");
    const anthropic = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
    const look = betaTool({
      name: weather.name,
      description: weather.description,
      inputSchema: weather.parameters,
      run: (input) => weather.run(input),
    });
    for (const model of ["emu-claude", "emu-claude-bound", "emu-claude-5.5"])
      for (const stream of [false, true])
        for (const thread of [undefined, false]) {
          const settings = {
            model,
            stream,
            max_tokens: 8000,
            tools: [look],
            thinking: { type: "adaptive" },
            ...(thread === undefined ? {} : { thread }),
          };
          await conversation((messages) => anthropic.beta.messages.toolRunner({ ...settings, messages }));
        }
  },

  check({ exchanges }) {
    const bodies = exchanges.map(({ requestText }) => JSON.parse(requestText));
    const continued = bodies.filter(({ thread }) => thread?.type === "continue").length;
    assert.ok(continued > 0, "no request continued a thread");
    return `${continued} continued threads`;
  },
};

async function conversation(start) {
  let messages = [];
  const ask = async (content) => {
    const runner = start([...messages, { role: "user", content }]);
    const message = await runner.runUntilDone();
    ({ messages } = runner.params);
    return message.content.map((block) => block.text ?? "").join("");
  };
  assert.match(await ask("Compare the weather in Paris and Rome."), /Sunny in Rome/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}
