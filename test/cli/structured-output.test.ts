/** `--output-schema` for commands that continue, repeat or change a turn, and the schema that a turn keeps. */

import { describe, expect, test } from "vitest";

import {
  emulatorOf,
  expectProblem,
  jsonLines,
  newPlace,
  onlyLog,
  type Place,
  run,
  start,
} from "./harness.ts";

const SCHEMA = JSON.stringify({
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
});
const answers = (...texts: readonly string[]) => ({
  steps: texts.map((message) => ({ output: [{ message }] })),
});

async function asked(place: Place, schema: boolean, env: Record<string, string>): Promise<number> {
  place.write("schema.json", SCHEMA);
  const ran = await run(place, ["-p", ...(schema ? ["--output-schema", "schema.json"] : []), "where?"], {
    env,
  });
  expect(ran.code).toBe(0);
  const { events } = await onlyLog(place);
  return events.find(({ type }) => type === "user_message")?.seq ?? -1;
}

describe("a turn with a schema", () => {
  test("keeps it through retry and edit: stdout has only the final answer", async () => {
    const place = newPlace();
    const { env } = await emulatorOf(
      answers('{"city":"Paris"}', "Rome, I think.", '{"city":"Rome"}', '{"city":"Oslo"}'),
    );
    const seq = await asked(place, true, env);
    const retried = await run(place, ["retry", "--last"], { env });
    expect(retried).toMatchObject({ code: 0, out: '{"city":"Rome"}\n' });
    const edited = await run(place, ["edit", "--last", String(seq), "where now?", "--json"], { env });
    expect(jsonLines(edited.out).at(-1)).toMatchObject({
      type: "result",
      status: "completed",
      output: { city: "Oslo" },
    });
  });

  test("fails with exit code 1 if a repeated answer does not fit twice", async () => {
    const place = newPlace();
    const { env } = await emulatorOf(answers('{"city":"Paris"}', "Rome", "Rome"));
    await asked(place, true, env);
    const retried = await run(place, ["retry", "--last"], { env });
    expect(retried.code).toBe(1);
    expect(retried.err).toContain("[output_invalid]");
  });

  test("keeps it after kill -9 and resume", async () => {
    const place = newPlace();
    place.write("schema.json", SCHEMA);
    const { env } = await emulatorOf({
      ...answers('{"city": "Paris in France"}', "Rome, I think.", '{"city":"Rome"}'),
      faults: [{ type: "stall", at: { where: "after", unit: "event", index: 6 } }],
    });
    const running = start(place, ["-p", "--json", "--output-schema", "schema.json", "where?"], { env });
    await running.seen(({ out }) => out.includes('"text_delta"'), "a part of the answer");
    running.kill("SIGKILL");
    await running.ended;
    const ran = await run(place, ["resume", "--last", "-p"], { env });
    expect(ran).toMatchObject({ code: 0, out: '{"city":"Rome"}\n' });
  });
});

describe("--output-schema", () => {
  test.each([
    ["retry", ["retry", "--last"]],
    ["edit", ["edit", "--last", "SEQ", "where now?"]],
  ])("makes the answer of %s JSON", async (_name, args) => {
    const place = newPlace();
    const { env } = await emulatorOf(answers("Paris.", '{"city":"Paris"}'));
    const seq = await asked(place, false, env);
    const words = args.map((word) => (word === "SEQ" ? String(seq) : word));
    const ran = await run(place, [...words, "--output-schema", "schema.json"], { env });
    expect(ran).toMatchObject({ code: 0, out: '{"city":"Paris"}\n' });
  });

  test("makes the answer of resume JSON, with a message and without", async () => {
    const place = newPlace();
    place.write("schema.json", SCHEMA);
    const { env } = await emulatorOf({
      ...answers("It is Paris in France.", '{"city":"Paris"}', '{"city":"Rome"}'),
      faults: [{ type: "stall", at: { where: "after", unit: "event", index: 6 } }],
    });
    const running = start(place, ["-p", "--json", "where?"], { env });
    await running.seen(({ out }) => out.includes('"text_delta"'), "a part of the answer");
    running.kill("SIGKILL");
    await running.ended;
    const schema = ["--output-schema", "schema.json"];
    const finished = await run(place, ["resume", "--last", ...schema], { env });
    expect(finished).toMatchObject({ code: 0, out: '{"city":"Paris"}\n' });
    const next = await run(place, ["resume", "--last", ...schema, "and now?"], { env });
    expect(next).toMatchObject({ code: 0, out: '{"city":"Rome"}\n' });
  });

  test.each([
    ["retry", "--last"],
    ["edit", "--last", "1", "x"],
    ["resume", "--last"],
  ])("of %s must name a usable schema", async (...args) => {
    const place = newPlace();
    const { env } = await emulatorOf(answers("Paris."));
    await asked(place, false, env);
    place.write("bad.json", '{"type":"array"}');
    const ran = await run(place, [...args, "--output-schema", "bad.json"], { env });
    expectProblem(ran, 2, "schema_file_invalid");
    expect(ran.err).toContain("Put the value into a property of an object");
  });
});
