import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

import { loadScenario } from "../../emulator/index.ts";
import { emulator } from "../models/index.ts";
import type { TurnLimits } from "../turn/index.ts";
import { createAgent } from "./agent.ts";
import type { OutputSchema, Session } from "./types.ts";

const PARIS = '{"city":"Paris","degrees":21}';
const ROME = '{"city":"Rome","degrees":30}';

/** A session whose model gives these answers, then fails. */
async function answering(answers: readonly string[], limits?: Partial<TurnLimits>): Promise<Session> {
  const steps = answers.map((message) => ({ output: [{ message }] }));
  const scenario = loadScenario(JSON.stringify({ steps, afterwards: "error" }), "test.json");
  return createAgent({ model: emulator({ scenario }), limits }).open();
}

/** A Standard Schema with a check of its own. */
function schemaWith(validate: (value: unknown) => unknown): OutputSchema {
  const standard = {
    version: 1,
    vendor: "test",
    validate,
    jsonSchema: { input: () => ({ type: "object" }) },
  };
  return { "~standard": standard };
}

/** What the runtime told the model. */
async function corrections(session: Session): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const event of session.events())
    if (event.type === "user_message" && event.by === "runtime")
      texts.push(...event.content.map((part) => (part.type === "text" ? part.text : part.type)));
  return texts;
}

const Weather = z.object({ city: z.string(), degrees: z.number() });

test("the value of an answer has the type of its Standard Schema; a plain JSON Schema gives no type", async () => {
  const session = await answering([PARIS, PARIS]);
  const { output } = await session.send("Weather?", { output: Weather }).result();
  expectTypeOf(output).toEqualTypeOf<{ city: string; degrees: number } | undefined>();
  expect(output).toEqual({ city: "Paris", degrees: 21 });
  const plain = session.send("Weather?", { output: { type: "object" } });
  expectTypeOf(plain.result()).resolves.toHaveProperty("output").toEqualTypeOf<unknown>();
  expect(await plain.result()).toMatchObject({ status: "completed", output: { city: "Paris", degrees: 21 } });
});

test("without a schema the output is undefined", async () => {
  const session = await answering([PARIS]);
  expect(await session.send("Weather?").result()).toMatchObject({ status: "completed", output: undefined });
});

describe("an answer that the schema refuses", () => {
  const Warm = Weather.refine(({ degrees }) => degrees > 25, {
    path: ["degrees"],
    message: "must be above 25",
  });

  test("gets one corrective step, and a good answer completes the turn", async () => {
    const session = await answering([PARIS, ROME]);
    const result = await session.send("Weather?", { output: Warm }).result();
    expect(result).toMatchObject({ status: "completed", steps: 2, output: { city: "Rome", degrees: 30 } });
    expect(await corrections(session)).toEqual([expect.stringContaining("degrees: must be above 25")]);
  });

  test("fails the turn with output_invalid the second time", async () => {
    const session = await answering([PARIS, PARIS]);
    const turn = session.send("Weather?", { output: Warm });
    const result = await turn.result();
    expect(result).toMatchObject({
      status: "failed",
      steps: 2,
      text: PARIS,
      error: { code: "output_invalid", message: "degrees: must be above 25" },
    });
    expect(result.output).toBeUndefined();
    await expect(turn.text()).rejects.toMatchObject({ code: "output_invalid", retryable: false });
    expect(await corrections(session)).toHaveLength(1);
  });

  test.for(["It is warm.", "[1]", "null", '"Paris"', `\`\`\`json\n${PARIS}\n\`\`\``])(
    "is anything but a JSON object: %s",
    async (answer) => {
      const session = await answering([answer, PARIS]);
      const result = await session.send("Weather?", { output: Weather }).result();
      expect(result).toMatchObject({ status: "completed", steps: 2, output: { city: "Paris", degrees: 21 } });
      expect(await corrections(session)).toEqual([expect.stringContaining("it is not a JSON object")]);
    },
  );

  test("at the limit of steps fails the turn without a further request", async () => {
    const session = await answering([PARIS, ROME], { maxSteps: 1 });
    const result = await session.send("Weather?", { output: Warm }).result();
    expect(result).toMatchObject({ status: "failed", steps: 1, error: { code: "output_invalid" } });
  });

  test("does not count against the next turn", async () => {
    const session = await answering([PARIS, ROME, PARIS, ROME]);
    for (const _ of [1, 2]) {
      const result = await session.send("Weather?", { output: Warm }).result();
      expect(result).toMatchObject({ status: "completed", steps: 2 });
    }
  });
});

test("defaults and transforms are in the output, and the text stays as the model wrote it", async () => {
  const session = await answering([PARIS]);
  const schema = z.object({
    city: z.string().transform((city) => city.toUpperCase()),
    degrees: z.number().transform(String),
    unit: z.string().default("°C"),
  });
  const result = await session.send("Weather?", { output: schema }).result();
  expect(result).toMatchObject({
    status: "completed",
    text: PARIS,
    output: { city: "PARIS", degrees: "21", unit: "°C" },
  });
});

test("an async refinement decides", async () => {
  const session = await answering([PARIS, ROME]);
  const schema = Weather.refine(async ({ city }) => (await Promise.resolve(city)) === "Rome", "not in Italy");
  const result = await session.send("Weather?", { output: schema }).result();
  expect(result).toMatchObject({ status: "completed", steps: 2, output: { city: "Rome" } });
  expect(await corrections(session)).toEqual([expect.stringContaining("(input): not in Italy")]);
});

test("a transform runs once per answer that reaches it", async () => {
  const seen: string[] = [];
  const schema = z.object({
    city: z.string().transform((city) => {
      seen.push(city);
      return city;
    }),
    degrees: z.number(),
  });
  const session = await answering(["no JSON", ROME]);
  const turn = session.send("Weather?", { output: schema });
  expect((await turn.result()).status).toBe("completed");
  await turn.result();
  await turn.text();
  expect(seen).toEqual(["Rome"]);
});

describe("a check that never settles", () => {
  const never = schemaWith(() => new Promise(() => {}));

  async function checking(session: Session): Promise<ReturnType<Session["send"]>> {
    const turn = session.send("Weather?", { output: never });
    for await (const event of turn) if (event.type === "response_end") break;
    return turn;
  }

  test("does not keep cancel() from ending the turn", async () => {
    const session = await answering([PARIS, PARIS]);
    const turn = await checking(session);
    expect(await session.cancel()).toBe(true);
    expect(await turn.result()).toMatchObject({ status: "cancelled", text: PARIS });
    expect((await session.send("And now?").result()).status).toBe("completed");
  });

  test("does not keep close() from ending the session", async () => {
    const session = await answering([PARIS]);
    const turn = await checking(session);
    await session.close();
    expect((await turn.result()).status).toBe("cancelled");
  });

  test("ends with the time of the turn", async () => {
    const session = await answering([PARIS], { turnTimeoutMs: 300 });
    const turn = session.send("Weather?", { output: never });
    expect(await turn.result()).toMatchObject({ status: "incomplete", reason: "time" });
  });
});

test.for<readonly [name: string, validate: (value: unknown) => unknown, complaint: string]>([
  [
    "throws",
    () => {
      throw new Error("boom");
    },
    "the check itself failed: boom",
  ],
  ["rejects", () => Promise.reject(new Error("later")), "the check itself failed: later"],
  ["returns nothing", () => undefined, "the check itself failed"],
  ["names no issue", () => ({ issues: [] }), "(input): does not match the schema"],
])("a check that %s is a complaint, not a crash", async ([, validate, complaint]) => {
  const session = await answering([PARIS, PARIS]);
  const result = await session.send("Weather?", { output: schemaWith(validate) }).result();
  expect(result).toMatchObject({
    status: "failed",
    steps: 2,
    error: { code: "output_invalid", message: expect.stringContaining(complaint) },
  });
  expect(await corrections(session)).toEqual([expect.stringContaining(complaint)]);
});

test.for<readonly [name: string, schema: OutputSchema, problem: string]>([
  ["is not an object at the top", z.string(), "it must describe an object at the top level"],
  ["is an array", z.array(z.string()), "Put the value into a property of an object"],
  ["is a JSON Schema of an array", { type: "array" }, "Put the value into a property of an object"],
  ["has no type", { properties: {} }, "it must describe an object at the top level"],
  [
    "is a list of schemas",
    [{ type: "object" }] as never,
    "must be a Standard Schema or a JSON Schema object",
  ],
  ["refers to nothing", { type: "object", properties: { a: { $ref: "#/b" } } }, 'refers to "#/b"'],
  ["is not a schema", "city" as never, "must be a Standard Schema or a JSON Schema object"],
])("a schema that %s is refused before a turn starts", async ([, output, problem]) => {
  const session = await answering([PARIS]);
  expect(() => session.send("Weather?", { output })).toThrow(
    expect.objectContaining({ code: "schema_invalid", message: expect.stringContaining(problem) }),
  );
  expect(session.lastSeq).toBe(-1);
});
