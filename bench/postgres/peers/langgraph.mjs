/**
 * A writer of the takeover test: LangGraph JS with its PostgresSaver, durability "sync".
 *
 *   node langgraph.mjs URL
 *
 * @module
 */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";

import { serve } from "../figures.mjs";
import { ANSWER_ONE, ANSWER_TWO, outcomeOf, stop, takeEffect } from "./child.mjs";

const [url] = process.argv.slice(2);
let stops = false;
const charge = tool(
  async ({ thread }) => {
    if (stops) stop();
    await takeEffect(url, thread);
    return "done";
  },
  { name: "charge", description: "Charges once", schema: z.object({ thread: z.string() }) },
);
const saver = PostgresSaver.fromConnString(url);
await saver.setup();
const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", ({ messages }, { configurable }) => ({
    messages: [answer(messages.at(-1), configurable)],
  }))
  .addNode("tools", new ToolNode([charge]))
  .addEdge(START, "model")
  .addConditionalEdges("model", ({ messages }) => (messages.at(-1).tool_calls?.length > 0 ? "tools" : END), [
    "tools",
    END,
  ])
  .addEdge("tools", "model")
  .compile({ checkpointer: saver });

function answer(last, { thread_id: thread }) {
  if (last.getType() === "tool") return new AIMessage(ANSWER_ONE);
  if (last.content === "two") return new AIMessage(ANSWER_TWO);
  return new AIMessage({
    content: "",
    tool_calls: [{ name: "charge", args: { thread }, id: `call_${thread}` }],
  });
}

const of = (thread) => ({ configurable: { thread_id: thread }, durability: "sync" });
const lastOf = ({ messages }) => messages.at(-1).content;

serve({
  first: (thread) => {
    stops = true;
    return outcomeOf(async () =>
      lastOf(await graph.invoke({ messages: [new HumanMessage("one")] }, of(thread))),
    );
  },
  // Without input, a graph goes on from the last checkpoint.
  takeOver: async (thread) => lastOf(await graph.invoke(null, of(thread))),
  more: async (thread) => lastOf(await graph.invoke({ messages: [new HumanMessage("two")] }, of(thread))),
  messages: async (thread) =>
    (await graph.getState(of(thread))).values.messages.map(({ content }) => content),
});
