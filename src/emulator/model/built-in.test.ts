import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { JsonObject } from "../../base/support/index.ts";
import type { Draft } from "../output/draft.ts";
import { answer } from "./built-in.ts";
import { recipes } from "./recipes.ts";
import { valueFor } from "./schema-value.ts";
import { introduction } from "./step.ts";
import type { ModelView, Seen } from "./view.ts";

const tool = (name: string, ...required: string[]): JsonObject => ({
  type: "function",
  name,
  parameters: {
    type: "object",
    properties: Object.fromEntries(required.map((property) => [property, { type: "string" }])),
    required,
    additionalProperties: false,
  },
});

const tools = [
  tool("list_files", "path"),
  tool("read_file", "path"),
  tool("search_files", "pattern"),
  tool("write_file", "path", "content"),
  tool("edit_file", "path", "find", "replace"),
  tool("run_command", "command"),
  tool("get_weather", "city"),
];

const view = (seen: readonly Seen[], more: Partial<ModelView> = {}): ModelView => ({
  seen,
  instructions: "",
  tools,
  toolChoice: "auto",
  parallel: true,
  reasons: true,
  effort: "medium",
  summary: "auto",
  format: { type: "text" },
  lost: 0,
  model: "emu-reasoner",
  ...more,
});

/** Answers every call with `result` until the model is done; returns the shape of each step. */
function play(
  prompt: string,
  result: (name: string) => string = (name) => `result of ${name}`,
  more: Partial<ModelView> = {},
) {
  const seen: Seen[] = [{ type: "user", text: prompt }];
  const steps: string[] = [];
  for (let step = 0; step < 12; step += 1) {
    const { output } = answer(view(seen, more));
    steps.push(output.map(shape).join(" "));
    let calls = 0;
    const results: Seen[] = [];
    for (const draft of output) {
      if (draft.type === "reasoning") seen.push({ type: "notes", text: draft.notes ?? "" });
      if (draft.type === "message") seen.push({ type: "assistant", text: draft.text });
      if (draft.type !== "function_call") continue;
      const callId = `${step}-${calls}`;
      calls += 1;
      seen.push({ type: "call", callId, name: draft.name, arguments: draft.arguments });
      results.push({ type: "result", callId, text: result(draft.name) });
    }
    if (calls === 0) break;
    seen.push(...results);
  }
  const last = seen.at(-1);
  return { steps, text: last?.type === "assistant" ? last.text : "" };
}

function shape(draft: Draft): string {
  if (draft.type === "function_call") return `${draft.name}${draft.arguments}`;
  if (draft.type === "message") return draft.refusal === true ? "refusal" : `message:${draft.phase ?? ""}`;
  return draft.type === "reasoning" ? `rs${draft.summary.length}` : draft.type;
}

describe("the documented prompts have fixed call sequences", () => {
  const final = "rs1 message:final_answer";
  test.each([
    ["What is the weather in Paris?", ['rs2 get_weather{"city":"Paris"}', final]],
    [
      "Compare the weather in Paris and Rome.",
      ['rs2 get_weather{"city":"Paris"} get_weather{"city":"Rome"}', final],
    ],
    ["Read README.md and summarise it.", ['rs1 read_file{"path":"README.md"}', final]],
    [
      "Find TODO in notes.txt and replace it with DONE.",
      [
        'rs1 search_files{"pattern":"TODO"}',
        'rs1 edit_file{"path":"notes.txt","find":"TODO","replace":"DONE"}',
        final,
      ],
    ],
    [
      "Do the five-step chain.",
      [
        'rs1 list_files{"path":"."}',
        'rs1 read_file{"path":"README.md"}',
        'rs1 search_files{"pattern":"emulator"}',
        'rs1 write_file{"path":"emulator-note.txt","content":"Written by the emulator.\\n"}',
        'rs1 read_file{"path":"emulator-note.txt"}',
        final,
      ],
    ],
    ["Run a command that I will refuse.", ['rs1 run_command{"command":"date"}', final]],
    ["Read a file that does not exist.", ['rs1 read_file{"path":"does-not-exist.txt"}', final]],
    ["Write a long answer.", ["rs2 message:final_answer"]],
    ["Summarise this conversation.", [final]],
    ["Think without a summary.", ["rs0 message:final_answer"]],
    [
      "Look at two files, thinking in between.",
      ['rs1 read_file{"path":"README.md"} rs1 read_file{"path":"package.json"}', final],
    ],
    [
      "Explain while you work.",
      ['rs1 message:commentary list_files{"path":"."}', "rs1 message:commentary message:final_answer"],
    ],
    ["Give me the facts as JSON.", [final]],
    ["Please refuse this.", ["rs1 refusal"]],
  ])("%s", (prompt, steps) => {
    expect(play(prompt).steps).toEqual(steps);
  });

  test("every recipe responds to its own prompt", () => {
    const hosted = [...tools, { type: "web_search" }];
    for (const recipe of recipes) {
      const turn = play(recipe.prompt, () => "fine", { tools: hosted });
      expect(turn.steps.at(-1), recipe.prompt).toMatch(/message|refusal/);
    }
  });
});

describe("the built-in model answers from results", () => {
  test("and does not try a refused tool again", () => {
    const { text, steps } = play("Run a command that I will refuse.", () => "not executed: denied by user");
    expect(steps).toHaveLength(2);
    expect(text).toContain("You did not allow it");
  });

  test("and summarises a file", () => {
    const { text } = play("Read README.md and summarise it.", () => "# Demo\n\nA small project.\n");
    expect(text).toContain("README.md has 3 lines and 5 words. It is headed “Demo”.");
  });

  test("and reports a failing tool", () => {
    const { text } = play("Read a file that does not exist.", () => "Error: ENOENT, no such file");
    expect(text).toContain("That did not work: Error: ENOENT");
  });

  test("and takes the weather from the tool, one call after another if calls cannot be parallel", () => {
    const { text, steps } = play("Weather in Paris and Rome?", () => "Sunny, 21C", { parallel: false });
    expect(steps).toHaveLength(3);
    expect(text).toContain("- Paris: Sunny, 21C\n- Rome: Sunny, 21C");
  });
});

const said = (seen: readonly Seen[], more: Partial<ModelView> = {}): string => {
  const { output } = answer(view(seen, more));
  const last = output.at(-1);
  return last?.type === "message" ? last.text : "";
};

describe("the built-in model says what it is and what it has lost", () => {
  test("in its first answer and when asked", () => {
    expect(said([{ type: "user", text: "hello" }])).toContain(introduction);
    expect(play("Explain while you work.").text).toContain(introduction);
    const later: Seen[] = [
      { type: "user", text: "hello" },
      { type: "assistant", text: "hi" },
      { type: "user", text: "Are you a real model?" },
    ];
    expect(said(later)).toContain("I am the Throughline emulator.");
    expect(said([...later.slice(0, 2), { type: "user", text: "fine" }])).not.toContain("emulator:");
  });

  test("a number in its notes: recalled if they come back, admitted as lost if not", () => {
    const first = answer(view([{ type: "user", text: "Think of a number." }])).output;
    const notes = first[0]?.type === "reasoning" ? (first[0].notes ?? "") : "";
    const number = (JSON.parse(notes) as { number: number }).number;
    const spoken = first[1]?.type === "message" ? first[1].text : "";
    expect(spoken).not.toContain(String(number));
    const ask: Seen[] = [
      { type: "assistant", text: spoken },
      { type: "user", text: "Which number was it?" },
    ];
    const begin: Seen = { type: "user", text: "Think of a number." };
    expect(said([begin, { type: "notes", text: notes }, ...ask])).toContain(`I thought of ${number}.`);
    expect(said([begin, ...ask], { lost: 1 })).toBe(
      "I no longer have my notes from when I thought of a number, so I cannot tell you which one it was.\n\n(I no longer have my notes from one earlier thought: that reasoning was not sent back to me.)",
    );
  });
});

describe("the built-in model", () => {
  test("gives unknown tools arguments that satisfy their schema", () => {
    const schema = {
      type: "object",
      properties: {
        ticket: { type: "integer", minimum: 10, maximum: 20, multipleOf: 5 },
        state: { enum: ["open", "closed"] },
        due: { type: "string", format: "date" },
        tags: { type: "array", items: { type: "string", minLength: 3 }, minItems: 2, uniqueItems: true },
        owner: { anyOf: [{ $ref: "#/$defs/person" }, { type: "null" }] },
        code: { type: "string", pattern: "^[A-Z]{3}$" },
      },
      required: ["ticket", "state", "due", "tags", "owner", "code"],
      additionalProperties: false,
      $defs: { person: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
    };
    const seen: Seen[] = [{ type: "user", text: "please update ticket" }];
    const { output } = answer(
      view(seen, { tools: [{ type: "function", name: "update_ticket", parameters: schema }] }),
    );
    const call = output.find((draft) => draft.type === "function_call");
    const value: unknown = JSON.parse(call?.type === "function_call" ? call.arguments : "null");
    expect(new Validator(schema as object, "2020-12").validate(value)).toMatchObject({ valid: true });
  });

  test("leaves out optional properties: a folder the user never mentioned would not exist", () => {
    const parameters = {
      type: "object",
      properties: {
        command: { type: "string" },
        workdir: { type: "string" },
        timeout: { type: "number" },
        description: { type: "string" },
      },
      required: ["command"],
    };
    const seen: Seen[] = [{ type: "user", text: "Use bash to run 'ls src'" }];
    const { output } = answer(view(seen, { tools: [{ type: "function", name: "bash", parameters }] }));
    expect(output.map(shape)).toEqual(["rs1", 'bash{"command":"ls src"}']);
  });

  test("takes text in backticks literally, whatever quotes a client puts around it", () => {
    const mine = [tool("bash", "command"), { type: "custom", name: "script" }];
    const called = (text: string): readonly string[] => {
      const { output } = answer(view([{ type: "user", text }], { tools: mine }));
      return output.map((draft) => (draft.type === "custom_tool_call" ? draft.input : shape(draft)));
    };
    expect(called("\"Use bash to run `echo 'a b'`\"")).toEqual(["rs1", `bash{"command":"echo 'a b'"}`]);
    expect(called("Use script: `text('a')`")).toEqual(["rs1", "text('a')"]);
  });

  test("answers a json_schema request with JSON and nothing else", () => {
    const schema = {
      type: "object",
      properties: { answer: { type: "string" }, score: { type: "number", minimum: 0, maximum: 1 } },
      required: ["answer", "score"],
      additionalProperties: false,
    };
    const format = { type: "json_schema", name: "reply", schema, strict: true };
    const { output } = answer(view([{ type: "user", text: "Give me the facts as JSON." }], { format }));
    const last = output.at(-1);
    const value: unknown = JSON.parse(last?.type === "message" ? last.text : "");
    expect(new Validator(schema as object, "2020-12").validate(value)).toMatchObject({ valid: true });
  });

  test("satisfies any simple object schema", () => {
    const leaf = fc.oneof(
      fc.record({ type: fc.constant("string"), minLength: fc.nat(8) }),
      fc.record({ type: fc.constant("integer"), minimum: fc.integer({ min: -50, max: 50 }) }),
      fc.constant({ type: "boolean" }),
      fc.constant({ type: ["string", "null"] }),
      fc.record({ enum: fc.array(fc.string(), { minLength: 1, maxLength: 3 }) }),
      fc.record({ type: fc.constant("array"), items: fc.constant({ type: "number" }), minItems: fc.nat(3) }),
    );
    const name = fc.constantFrom("path", "city", "count", "note", "query", "x");
    fc.assert(
      fc.property(fc.dictionary(name, leaf, { maxKeys: 5 }), (properties) => {
        const schema = { type: "object", properties, required: Object.keys(properties) };
        const value = valueFor(schema, () => undefined);
        expect(new Validator(schema as object, "2020-12").validate(value).valid).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("makes one call under tool_choice required, then answers", () => {
    const seen: Seen[] = [{ type: "user", text: "hello" }];
    const { output } = answer(view(seen, { toolChoice: "required", tools: [tool("ping", "to")] }));
    expect(output.map((draft) => draft.type)).toEqual(["reasoning", "function_call"]);
  });
});
