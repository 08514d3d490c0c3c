/** The conversation of every AI SDK client, on any API. */
import assert from "node:assert/strict";

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
