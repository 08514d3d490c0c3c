/**
 * A writer of the takeover test: Throughline, with a real turn on the built-in model.
 *
 *   node ours.mjs URL STORE_URL LEASE_MS "in the tool"|"before the tool"
 *
 * "in the tool" stops after the log has `tool_start`; "before the tool" stops while the call waits for its permission.
 *
 * @module
 */
import { library, pause, serve } from "../figures.mjs";
import { ANSWER_ONE, ANSWER_TWO, stop, takeEffect } from "./child.mjs";

const [url, storeUrl, leaseMs, place] = process.argv.slice(2);
const { createAgent, emulator, postgresStore, tool } = await library();
const { loadScenario } = await library("emulator/index.js");
const store = postgresStore(storeUrl, { leaseMs: Number(leaseMs) });
let session;

const agentOf = (thread, steps, stops) =>
  createAgent({
    model: emulator({ scenario: loadScenario(JSON.stringify({ steps }), "takeover") }),
    permissions: stops && place === "before the tool" ? "ask" : "auto",
    tools: [
      tool({
        name: "charge",
        description: "Charges once",
        input: { type: "object", properties: {}, additionalProperties: false },
        access: "write",
        async run() {
          if (stops && place === "in the tool") stop();
          await takeEffect(url, thread);
          return "done";
        },
      }),
    ],
  });

/** Tries until the lease of the stopped process is over. */
async function opened(agent, thread) {
  for (;;) {
    try {
      return await agent.open({ store, id: thread });
    } catch (error) {
      if (error.code !== "session_locked") throw error;
      await pause(50);
    }
  }
}

async function answerOf(turn) {
  const result = await turn.result();
  if (result.status !== "completed") throw new Error(`the turn ended ${result.status}`);
  return result.text;
}

serve({
  first: async (thread) => {
    const steps = [
      { output: [{ function_call: { name: "charge", arguments: {} } }] },
      { output: [{ message: ANSWER_ONE }] },
    ];
    session = await opened(agentOf(thread, steps, true), thread);
    const turn = session.send("one");
    if (place === "before the tool") void approve(turn);
    const { status, error } = await turn.result();
    return {
      told: status === "interrupted" && error?.code === "session_fenced",
      value: `${status}: ${error?.code}`,
    };
  },
  takeOver: async (thread) => {
    const steps = [{ output: [{ message: ANSWER_ONE }] }, { output: [{ message: ANSWER_TWO }] }];
    session = await opened(agentOf(thread, steps, false), thread);
    return answerOf(session.resume());
  },
  more: () => answerOf(session.send("two")),
  messages: async (thread) => {
    const log = await store.open(thread, { mode: "read" });
    const messages = log.events.flatMap((event) => {
      if (event.type === "user_message") return event.content.map(({ text }) => text);
      return event.type === "assistant_message" ? [event.text] : [];
    });
    await log.close();
    return messages;
  },
});

/** Stops where a person has just decided, and nothing of it is in the log. */
async function approve(turn) {
  for await (const event of turn) {
    if (event.type !== "permission_request") continue;
    stop();
    await session.approve(event.requestId).catch(() => undefined);
  }
}
