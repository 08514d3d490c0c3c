/** The conversation of every LangChain client, on any API. */
import assert from "node:assert/strict";

export async function byHand(model, look, ToolMessage) {
  const messages = [];
  const ask = async (content) => {
    messages.push({ role: "user", content });
    for (;;) {
      const answer = await model.invoke(messages);
      messages.push(answer);
      if (answer.tool_calls.length === 0) return answer.text;
      for (const call of answer.tool_calls) {
        messages.push(new ToolMessage({ tool_call_id: call.id, content: await look.invoke(call.args) }));
      }
    }
  };
  assert.match(await ask("Compare the weather in Paris and Rome."), /Rome: Sunny in Rome/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}

export async function byAgent(agent) {
  let messages = [];
  const ask = async (content) => {
    ({ messages } = await agent.invoke({ messages: [...messages, { role: "user", content }] }));
    return messages.at(-1).text;
  };
  assert.match(await ask("What is the weather in Oslo?"), /Sunny in Oslo/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}
