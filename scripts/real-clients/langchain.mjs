/** The conversation of every LangChain client, on any API. */
import assert from "node:assert/strict";

/** 1.4.16 is a version of langgraph that can be installed: newer ones depend on a package that is not published. */
export const LANGCHAIN = ["langchain@latest", "@langchain/core@latest", "@langchain/langgraph@1.4.16"];

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

/** An app that keeps messages. `modelFor(name, key)`: a model without tools. `thoughtsOf(message)`: how it holds thoughts. */
export function appOf({ AIMessage, HumanMessage, ToolMessage }, look, { models, modelFor, thoughtsOf }) {
  const edited = (edit) => (history) =>
    history.flatMap((message) => (AIMessage.isInstance(message) ? (edit(message) ?? []) : message));
  const bare = ({ text, tool_calls }) => new AIMessage({ content: text, tool_calls });
  return {
    ...models,
    user: (content) => new HumanMessage(content),
    text: ({ text }) => text,
    isResult: (message) => ToolMessage.isInstance(message),
    async send(messages, { model: name = models.own, key } = {}) {
      const model = modelFor(name, key).bindTools([look]);
      const history = [...messages];
      for (;;) {
        const answer = await model.invoke(history);
        history.push(answer);
        if (answer.tool_calls.length === 0) return history;
        for (const call of answer.tool_calls)
          history.push(new ToolMessage({ tool_call_id: call.id, content: await look.invoke(call.args) }));
      }
    },
    without: {
      reasoning: edited((message) => thoughtsOf(message, () => undefined)),
      metadata: edited(bare),
      payloads: edited((message) => thoughtsOf(message, withoutPayload)),
      words: edited((message) => thoughtsOf(message, withoutWords)),
      tools: (history) =>
        edited((message) => (message.tool_calls.length > 0 ? undefined : message))(
          history.filter((message) => !ToolMessage.isInstance(message)),
        ),
      allButText: (history) =>
        edited((message) => (message.tool_calls.length > 0 ? undefined : new AIMessage(message.text)))(
          history.filter((message) => !ToolMessage.isInstance(message)),
        ),
      allButThoughts: edited((message) => {
        const { content, additional_kwargs } = message;
        const thoughts = Array.isArray(content) ? content.filter(({ type }) => type === "thinking") : "";
        return new AIMessage({ content: thoughts, additional_kwargs });
      }),
    },
  };
}

const withoutPayload = (thought) => {
  const { encrypted_content: _, ...rest } = thought;
  return "signature" in rest ? { ...rest, signature: "" } : rest;
};

const withoutWords = (thought) => ({
  ...thought,
  ...("thinking" in thought ? { thinking: "" } : { summary: [] }),
});
