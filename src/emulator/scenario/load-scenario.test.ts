import { describe, expect, test } from "vitest";

import { isThroughlineError } from "../../base/support/index.ts";
import { loadScenario } from "./load-scenario.ts";

const problemIn = (text: string): string => {
  try {
    loadScenario(text, "demo.yaml");
  } catch (error) {
    expect(isThroughlineError(error) && error.code).toBe("scenario_invalid");
    return (error as Error).message;
  }
  return "no problem";
};

test("loads every item type from YAML", () => {
  const scenario = loadScenario(
    `
name: all of it
afterwards: error
switches: {doneMarker: true, cacheMinimumTokens: 0}
models: {small: {contextTokens: 100}}
steps:
  - when: hello
    faults: ["late-ciphertext;crlf", 429]
    output:
      - reasoning: "**One**"
      - reasoning: ["**Two**", "**Three**"]
      - reasoning: {summary: [], notes: secret, text: long, ciphertext: null}
      - message: Hi
      - message: {text: Hi, phase: commentary, annotations: [{type: url_citation}]}
      - refusal: No.
      - function_call: {name: look, arguments: {a: 1}, call_id: call_1}
      - custom_tool_call: {name: sql, input: SELECT 1}
      - web_search_call: news
      - item: {type: anything, x: 1}
  - status: incomplete
    reason: content_filter
    output: []
  - status: failed
    error: {code: server_error, message: no}
    output: []
`,
    "demo.yaml",
  );
  expect(scenario).toMatchObject({
    name: "all of it",
    afterwards: "error",
    switches: { doneMarker: true, cacheMinimumTokens: 0 },
    models: { small: { contextTokens: 100 } },
  });
  const [first, second, third] = scenario.steps;
  expect(first?.when).toBe("hello");
  expect(first?.faults.map((fault) => fault.type)).toEqual(["late-ciphertext", "crlf", "http"]);
  expect(first?.output.map((draft) => draft.type)).toEqual([
    "reasoning",
    "reasoning",
    "reasoning",
    "message",
    "message",
    "message",
    "function_call",
    "custom_tool_call",
    "web_search_call",
    "raw",
  ]);
  expect(first?.output[6]).toEqual({
    type: "function_call",
    name: "look",
    arguments: '{"a":1}',
    callId: "call_1",
  });
  expect(second).toMatchObject({ status: "incomplete", incompleteReason: "content_filter" });
  expect(third).toMatchObject({ status: "failed", error: { code: "server_error", message: "no" } });
});

test("loads the same from JSON", () => {
  const text = JSON.stringify({ steps: [{ output: [{ message: "Hi" }] }] }, null, 2);
  expect(loadScenario(text, "demo.json")).toEqual({
    name: "demo.json",
    afterwards: "model",
    switches: {},
    models: {},
    steps: [{ output: [{ type: "message", text: "Hi" }], faults: [] }],
  });
});

describe("a problem names the file, the line and what to change:", () => {
  test.each([
    ["", "demo.yaml:1: the file must contain an object with `steps`."],
    ["steps: 3", "demo.yaml:1: `steps` must be a list of answers (steps)."],
    ["steps: []\nafterwards: stop", "demo.yaml:2: `afterwards` takes model, repeat or error (afterwards)."],
    [
      "stpes: []\nsteps: []",
      "demo.yaml:1: unknown key `stpes`; did you mean `steps`? Use one of: name, dialect, afterwards, switches, models, steps (stpes).",
    ],
    [
      "steps:\n  - output:\n      - thinking: a",
      "demo.yaml:3: an item has exactly one key, its type: reasoning, message, refusal, function_call, custom_tool_call, web_search_call, item (steps.0.output.0).",
    ],
    [
      "steps:\n  - output:\n      - message: {text: 3}",
      "demo.yaml:3: `text` must be text (steps.0.output.0.message.text).",
    ],
    [
      "steps:\n  - output: []\n    faults: [cut]",
      "demo.yaml:3: Fault 'cut' takes a position: before-item:N, after-item:N, after-event:N or after-byte:N (steps.0.faults.0).",
    ],
    [
      "switches: {phase: maybe}\nsteps: []",
      "demo.yaml:1: switch 'phase' takes true | false (switches.phase).",
    ],
    [
      "models:\n  m: {reasoning: 1}\nsteps: []",
      "demo.yaml:2: `reasoning` must be a boolean (models.m.reasoning).",
    ],
    ['{"steps": [\n  {"output": [}]}', "demo.yaml:2: it is neither JSON nor YAML: "],
  ])("%j", (text, message) => {
    expect(problemIn(text)).toContain(message);
  });

  test("more items than an id can address", () => {
    const items = Array.from({ length: 41 }, () => "{message: x}").join(", ");
    expect(problemIn(`steps: [{output: [${items}]}]`)).toContain("a response has at most 40 items");
  });
});
