/** Needed by every recipe: a separate emulator, and a session on the file store that uses it. */
import { loadScenario, parseFaults, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, fileStore } from "../../src/index.ts";
import { fixtureModel, fixtureTools, SYSTEM, towards } from "../../test/support/earlier-logs.ts";

export const responses = (name = "emu-reasoner", profile = "openai", more = {}) =>
  fixtureModel(name, "openai-responses", { profile, ...more });
export const messages = (name = "emu-claude", profile = "anthropic", more = {}) =>
  fixtureModel(name, "anthropic-messages", { profile, ...more });
export const chat = (name, profile, more = {}) => fixtureModel(name, "openai-chat", { profile, ...more });

export const thought = (text) => ({ reasoning: [text] });
export const say = (message) => ({ message });
export const call = (name, args, call_id) => ({
  function_call: { name, arguments: args, ...(call_id === undefined ? {} : { call_id }) },
});

/** Short answers without a thought. The purpose of such a turn is to send back what came before it. */
const welcome = Array.from({ length: 6 }, () => ({ when: "Thanks", output: [say("Welcome.")] }));

/**
 * `steps` are the emulator's answers; after them its built-in model answers. `agent` has further options of the agent.
 * `fetch` makes the fetch for the emulator. Default: `towards`.
 * Resolves when the session is closed.
 */
export async function session(id, folder, given, run) {
  const { model, steps = [], agent = {}, emulator: options = {}, fetch = towards } = given;
  const scenario = loadScenario(JSON.stringify({ steps: [...steps, ...welcome] }), `${id}.json`);
  const emulator = await startEmulator({ ...options, scenario });
  const made = createAgent({
    model,
    system: SYSTEM,
    tools: fixtureTools(),
    permissions: "auto",
    cwd: "/project",
    fetch: fetch(emulator),
    ...agent,
  });
  const opened = await made.open({ id, store: fileStore(folder) });
  try {
    await run(opened, {
      emulator,
      faults: (...texts) => emulator.addFaults(...texts.map((text) => parseFaults(text)[0])),
      /** The turn must end with this status; otherwise the recipe is wrong. */
      ask: (input, more) => ended(opened.send(input, more)),
      agent: made,
    });
  } finally {
    await opened.close();
    await emulator.close();
  }
}

export async function ended(turn, status = "completed") {
  const result = await turn.result();
  if (result.status !== status)
    throw new Error(
      `the turn ended ${result.status}, not ${status}: ${JSON.stringify(result.error ?? result)}`,
    );
  return result;
}

export async function eventsOf(opened) {
  const events = [];
  for await (const event of opened.events()) events.push(event);
  return events;
}
