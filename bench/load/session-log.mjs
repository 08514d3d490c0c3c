/**
 * A long session as our own log. One real turn runs first, with an injected answer. The steps are made from its events
 * through the public log contract, so this file does not depend on the format.
 *
 * @module
 */
import { historyStep } from "./history.mjs";
import { Random } from "./random.mjs";
import { MODEL } from "./response.mjs";
import { scenario, TOOL } from "./scenarios.mjs";

/** Never contacted: requests of these rows end in an injected fetch. */
export const NOWHERE = "http://127.0.0.1:9/v1";
export const API_KEY = "sk-benchmark-0000000000000000";

export function agentFor(library, { url = NOWHERE, steps = 1, run = () => "done", ...more } = {}) {
  const { createAgent, openai, tool } = library;
  const model = openai(MODEL, { baseUrl: url, apiKey: API_KEY });
  const { name, description, parameters: input } = TOOL;
  const read = tool({ name, description, input, access: "read", run });
  return createAgent({ model, tools: [read], limits: { maxSteps: steps }, ...more });
}

/**
 * The drafts of a session, in batches: `steps` steps in one turn, like those of `historyItems`. With `perTurn`, turns of
 * that many steps and an answer, until there are `events` events.
 */
export async function* sessionDrafts(library, { steps, events = Infinity, perTurn = Infinity }) {
  const templates = await realTurn(library);
  const head = [templates.session_start, templates.settings, templates.title];
  yield head;
  let [count, at] = [head.length, 0];
  while (at < steps && count < events) {
    const turn = `tn_${new Random(at).hex(24)}`;
    const drafts = [{ ...templates.user_message, turn, content: [{ type: "text", text: "Begin." }] }];
    const end = Math.min(steps, at + perTurn);
    for (let number = 1; at < end; at += 1, number += 1) drafts.push(...stepOf(templates, turn, at, number));
    if (perTurn !== Infinity) drafts.push(...answerOf(templates, turn, perTurn + 1));
    drafts.push({ ...templates.turn_end, turn, status: "incomplete", reason: "max_steps" });
    yield drafts;
    count += drafts.length;
  }
}

/** The same drafts for another session. */
export function forSession(id, drafts) {
  return drafts.map((draft) =>
    draft.type === "session_start" ? { ...draft, session: id, root: id } : draft,
  );
}

/** Writes the drafts to a log and resolves to the number of its events and steps. */
export async function writeSession(library, { store, id, ...shape }) {
  const log = await store.open(id, { mode: "write" });
  const written = { events: 0, steps: 0 };
  for await (const batch of sessionDrafts(library, shape)) {
    await log.append(forSession(id, batch));
    written.events += batch.length;
    written.steps += batch.filter(({ type }) => type === "tool_result").length;
  }
  await log.append([], { durable: true });
  await log.close();
  return written;
}

async function realTurn(library) {
  const [step, last] = scenario("loop-1").answers;
  const answers = [step.bytes, last.bytes];
  const fetch = async () =>
    new Response(answers.shift(), { headers: { "content-type": "text/event-stream" } });
  const session = await agentFor(library, { steps: 2, fetch }).open();
  const { status } = await session.send("Begin.").result();
  if (status !== "completed") throw new Error(`the turn to copy ended ${status}`);
  const templates = {};
  for await (const event of session.events()) {
    const { v: _v, seq: _seq, id: _id, at: _at, epoch: _epoch, ...draft } = event;
    templates[draft.type] ??= draft;
  }
  await session.close();
  return templates;
}

function stepOf(templates, turn, at, number) {
  const [thought, call, output] = historyStep(at);
  const response = `rsp_${new Random(700_000 + at).hex(24)}`;
  const own = { turn, response };
  const callId = call.call_id;
  return [
    { ...templates.response_start, ...own, step: number },
    {
      ...templates.reasoning,
      ...own,
      itemId: thought.id,
      item: JSON.stringify(thought),
      parts: thought.summary.map(({ text }) => ({ kind: "summary", text })),
    },
    {
      ...templates.tool_call,
      ...own,
      itemId: call.id,
      item: JSON.stringify(call),
      callId,
      arguments: call.arguments,
    },
    { ...templates.response_end, ...own },
    { ...templates.permission_decision, ...own, callId },
    { ...templates.tool_start, ...own, callId, idempotencyKey: callId },
    { ...templates.tool_result, ...own, callId, text: output.output },
  ];
}

function answerOf(templates, turn, number) {
  const response = `rsp_${turn.slice(3)}`;
  return [
    { ...templates.response_start, turn, response, step: number },
    { ...templates.assistant_message, turn, response },
    { ...templates.response_end, turn, response },
  ];
}
