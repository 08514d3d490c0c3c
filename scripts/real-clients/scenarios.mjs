/**
 * What applications do to the history of a library, as reports describe it. Each scenario is written once, for an app:
 *
 *   send(history, { model?, key? })  the history with the answer; the app runs the tools
 *   user(text), text(entry)          an entry of the user; the visible text of an entry
 *   isUser(entry), isResult(entry)
 *   without.NAME(history)            what a store of this kind brings back (losses.mjs)
 *   other, bound?, plain?            another model of the same API; one that binds thoughts to their prefix; one that does
 *                                    not think
 *
 * The number of "Think of a number" stands only in the thought of that answer.
 *
 * @module
 */
import assert from "node:assert/strict";

const WEATHER = "What is the weather in Paris?";
const THINK = "Think of a number.";
const WHICH = "Which number was it?";
const OTHER_KEY = "sk-emulator-other-key";

const ask = (app, history, text, options) => app.send([...history, app.user(text)], options);
const answerOf = (app, history) => app.text(history.at(-1));

async function remembers(app, history, options) {
  const after = await ask(app, history, WHICH, options);
  assert.match(answerOf(app, after), /I thought of \d+/);
  return after;
}

/** Every turn goes through a store that loses this. */
const stored = (loss) => async (app) => {
  const lose = app.without[loss];
  let history = lose(await ask(app, [], WEATHER));
  history = lose(await ask(app, history, THINK));
  history = lose(await remembers(app, history));
  history = lose(await ask(app, history, "What is the weather in Oslo?"));
  assert.match(answerOf(app, history), /Sunny in Oslo/);
};

/** The history up to the open calls of its last tool loop, and their results. */
function openLoop(app, history) {
  const from = history.findIndex(app.isResult);
  const results = history.slice(from).filter(app.isResult);
  return { open: history.slice(0, from), results };
}

const switched = (options) => async (app) => {
  let history = await ask(app, await ask(app, [], WEATHER), THINK);
  history = await ask(app, history, "What is the weather in Oslo?", options(app));
  assert.match(answerOf(app, history), /Sunny in Oslo/);
  await remembers(app, history);
};

const SCENARIOS = {
  "drop-reasoning": stored("reasoning"),
  "drop-metadata": stored("metadata"),
  "drop-payloads": stored("payloads"),
  "empty-thoughts": stored("words"),
  "text-only": stored("allButText"),
  "drop-tools": stored("tools"),
  "switch-model": switched((app) => ({ model: app.other })),
  /** To a model that does not think, and takes no thoughts, and back. */
  "switch-plain": switched((app) => ({ model: app.plain })),
  "switch-key": switched(() => ({ key: OTHER_KEY })),

  /** The process died while a tool ran. Its store kept no reasoning; the tool ran again. */
  "resume-in-loop": async (app) => {
    const { open, results } = openLoop(app, await ask(app, [], WEATHER));
    let history = await app.send([...app.without.reasoning(open), ...results]);
    assert.match(answerOf(app, history), /Sunny in Paris/);
    history = await ask(app, history, THINK);
    await remembers(app, history);
  },

  /** The user stopped a tool and went on. */
  "abort-in-loop": async (app) => {
    const { open } = openLoop(app, await ask(app, [], WEATHER));
    await remembers(app, await ask(app, open, THINK));
  },

  /** A stream that was cut after its thought; the store kept the thought. */
  "orphan-thought": async (app) => {
    const before = [...(await ask(app, [], WEATHER)), app.user("Hello.")];
    const cut = await app.send(before);
    const orphan = app.without.allButThoughts(cut.slice(before.length));
    await remembers(app, await ask(app, [...before, ...orphan], THINK));
  },

  /** The app replaces its oldest entries and cuts through a tool loop. */
  compact: async (app) => {
    let history = await ask(app, await ask(app, [], WEATHER), THINK);
    const { open } = openLoop(app, history);
    history = [app.user("Summary: the user asked for the weather."), ...history.slice(open.length)];
    await remembers(app, history);
  },

  /** The user edits the first message; the store kept no reasoning. */
  edit: async (app) => {
    let history = await ask(app, await ask(app, [], WEATHER), THINK);
    history = [app.user("What is the weather in Paris, France?"), ...app.without.reasoning(history).slice(1)];
    await remembers(app, history);
  },

  /** Two branches of one history; the store kept no reasoning. */
  branch: async (app) => {
    const root = app.without.reasoning(await ask(app, [], WEATHER));
    const one = app.without.reasoning(await ask(app, root, THINK));
    const two = app.without.reasoning(await ask(app, root, "Please think of a number."));
    await remembers(app, one);
    await remembers(app, two);
  },

  /** The app adds a reminder to the last message of the user, and takes it away in the next request. */
  reminders: async (app) => {
    let history = [];
    for (const [turn, text] of [WEATHER, THINK, WHICH].entries()) {
      const reminder = `<system-reminder>It is ${9 + turn}:00.</system-reminder>`;
      const after = await app.send([...history, app.user(`${text}\n${reminder}`)]);
      if (text === WHICH) assert.match(answerOf(app, after), /I thought of \d+/);
      history = app.without.reasoning([...history, app.user(text), ...after.slice(history.length + 1)]);
    }
  },

  /** A retry stored the last answer twice. */
  "doubled-answer": async (app) => {
    const before = await ask(app, [], WEATHER);
    const history = await ask(app, before, THINK);
    await remembers(app, [...history, ...history.slice(before.length + 1)]);
  },

  /** The user edits the first message; the store kept every thought, which the model binds to what came before. */
  "edit-bound": async (app) => {
    const model = app.bound;
    let history = await ask(app, await ask(app, [], WEATHER, { model }), THINK, { model });
    history = [app.user("What is the weather in Paris, France?"), ...history.slice(1)];
    history = await ask(app, history, "What is the weather in Oslo?", { model });
    assert.match(answerOf(app, history), /Sunny in Oslo/);
  },
};

/** The scenarios that make sense for an app: `{ NAME: run(order) }`. `skip` names those that do not. */
export function scenariosOf(makeApp, skip = []) {
  const chosen = Object.entries(SCENARIOS).filter(([name]) => !skip.includes(name));
  return Object.fromEntries(chosen.map(([name, run]) => [name, async (order) => run(await makeApp(order))]));
}
