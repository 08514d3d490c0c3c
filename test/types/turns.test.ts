import * as v from "valibot";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";

import type {
  CompletedTurn,
  ErrorInfo,
  FailedTurn,
  IncompleteReason,
  IncompleteTurn,
  InferOutput,
  OutputSchema,
  SendOptions,
  Session,
  SessionEvent,
  SessionHandle,
  StoppedTurn,
  Turn,
  TurnResponseOptions,
  TurnResult,
  TurnStatus,
} from "../../src/index.ts";
import { compileOnly } from "./compile-only.ts";

test("a completed turn has the OUTPUT type of its zod schema: after defaults and transforms", () => {
  const schema = z.object({
    city: z.string(),
    days: z.number().default(1),
    when: z.string().transform((text) => new Date(text)),
  });
  compileOnly(async (session: Session) => {
    const turn = session.send("Plan a trip.", { output: schema });
    const result = await turn.result();
    expectTypeOf(result.output).toEqualTypeOf<{ city: string; days: number; when: Date } | undefined>();
    if (result.status !== "completed") return;
    expectTypeOf(result).toEqualTypeOf<CompletedTurn<{ city: string; days: number; when: Date }>>();
    expectTypeOf(result.output.when).toEqualTypeOf<Date>();
  });
  expectTypeOf<InferOutput<typeof schema>>().toEqualTypeOf<{ city: string; days: number; when: Date }>();
});

test("a completed turn has the OUTPUT type of its valibot schema", () => {
  const schema = v.object({ days: v.pipe(v.string(), v.transform(Number)) });
  compileOnly(async (session: Session) => {
    const result = await session.send("How long?", { output: schema }).result();
    if (result.status === "completed") expectTypeOf(result.output).toEqualTypeOf<{ days: number }>();
  });
});

test("the output is unknown for a JSON Schema and undefined without a schema", () => {
  compileOnly(async (session: Session, schema: OutputSchema, options: SendOptions) => {
    const plain = await session.send("Describe a city.", { output: { type: "object" } }).result();
    if (plain.status === "completed") expectTypeOf(plain.output).toBeUnknown();

    expectTypeOf(session.send("Hello")).toEqualTypeOf<Turn<undefined>>();
    expectTypeOf(session.send("Hello", { effort: "low" })).toEqualTypeOf<Turn<undefined>>();
    const none = await session.send("Hello").result();
    if (none.status === "completed") expectTypeOf(none.output).toBeUndefined();

    expectTypeOf(session.send("Hello", { output: schema })).toEqualTypeOf<Turn>();
    expectTypeOf(session.send("Hello", { whenBusy: "steer" })).toEqualTypeOf<Turn>();
    expectTypeOf(session.send("Hello", options)).toEqualTypeOf<Turn>();
  });
});

test("resume, retry and edit have the type of the schema they are given, and unknown without one", () => {
  const schema = z.object({ days: z.string().transform(Number) });
  compileOnly((session: Session, handle: SessionHandle) => {
    expectTypeOf(session.resume({ output: schema })).toEqualTypeOf<Turn<{ days: number }>>();
    expectTypeOf(session.retry({ output: schema, from: "message" })).toEqualTypeOf<Turn<{ days: number }>>();
    expectTypeOf(session.edit(1, "Hello", { output: schema })).toEqualTypeOf<Turn<{ days: number }>>();
    expectTypeOf(session.resume()).toEqualTypeOf<Turn>();
    expectTypeOf(session.retry({ from: "message" })).toEqualTypeOf<Turn>();
    expectTypeOf(session.edit(1, "Hello")).toEqualTypeOf<Turn>();
    expectTypeOf(session.resume({ output: { type: "object" } })).toEqualTypeOf<Turn>();
    expectTypeOf(handle.resume({ output: { type: "object" } })).toEqualTypeOf<Turn>();
    // @ts-expect-error a string is not a schema
    session.resume({ output: "city" });
  });
});

test("a handle takes JSON Schemas and model names only", () => {
  compileOnly(async (handle: SessionHandle) => {
    const result = await handle
      .send("Hello", { output: { type: "object" }, model: "openai/gpt-5.6" })
      .result();
    if (result.status === "completed") expectTypeOf(result.output).toBeUnknown();
  });
});

test("a result narrows by its status", () => {
  compileOnly((result: TurnResult<number>) => {
    expectTypeOf(result.status).toEqualTypeOf<TurnStatus>();
    switch (result.status) {
      case "completed":
        expectTypeOf(result).toEqualTypeOf<CompletedTurn<number>>();
        expectTypeOf(result.output).toEqualTypeOf<number>();
        expectTypeOf(result.reason).toBeUndefined();
        expectTypeOf(result.error).toBeUndefined();
        break;
      case "incomplete":
        expectTypeOf(result).toEqualTypeOf<IncompleteTurn>();
        expectTypeOf(result.reason).toEqualTypeOf<IncompleteReason>();
        expectTypeOf(result.error).toEqualTypeOf<ErrorInfo | undefined>();
        expectTypeOf(result.output).toBeUndefined();
        break;
      case "failed":
        expectTypeOf(result).toEqualTypeOf<FailedTurn>();
        expectTypeOf(result.error).toEqualTypeOf<ErrorInfo>();
        expectTypeOf(result.reason).toBeUndefined();
        expectTypeOf(result.output).toBeUndefined();
        break;
      case "cancelled":
      case "interrupted":
        expectTypeOf(result).toEqualTypeOf<StoppedTurn>();
        expectTypeOf(result.status).toEqualTypeOf<"cancelled" | "interrupted">();
        expectTypeOf(result.reason).toBeUndefined();
    }
    // @ts-expect-error there is no such status
    return result.status === "done";
  });
});

test("a reason is a known limit or the provider's own text", () => {
  expectTypeOf<"max_steps">().toExtend<IncompleteReason>();
  expectTypeOf<"content_filter">().toExtend<IncompleteReason>();
  expectTypeOf<number>().not.toExtend<IncompleteReason>();
});

test("a turn is an async iterable of events with a result, a text and a way to stop it", () => {
  expectTypeOf<Turn>().toExtend<AsyncIterable<SessionEvent>>();
  expectTypeOf<Turn["text"]>().toEqualTypeOf<() => Promise<string>>();
  expectTypeOf<Turn["cancel"]>().toEqualTypeOf<() => void>();
  expectTypeOf<Turn<number>["result"]>().returns.resolves.toEqualTypeOf<TurnResult<number>>();
  compileOnly(async (turn: Turn) => {
    for await (const event of turn) {
      if (event.type === "text_delta") expectTypeOf(event.delta).toBeString();
      if (event.type === "turn_end") expectTypeOf(event.status).toEqualTypeOf<TurnStatus>();
      // @ts-expect-error there is no such event
      if (event.type === "message_delta") break;
    }
  });
});

test("wrong options of `send` do not compile", () => {
  compileOnly((session: Session) => {
    // @ts-expect-error "fast" is not an effort
    session.send("Hello", { effort: "fast" });
    // @ts-expect-error there is no option `schema`
    session.send("Hello", { schema: z.object({}) });
    // @ts-expect-error a string is not a schema
    session.send("Hello", { output: "city" });
    // @ts-expect-error "drop" is not a choice
    session.send("Hello", { whenBusy: "drop" });
    // @ts-expect-error an image needs a media type and data, or a URL
    session.send([{ type: "image" }]);
    // @ts-expect-error there is no option `keepEvents`
    session.send("Hello", { keepEvents: false });
    // @ts-expect-error with a schema, too, there is no option `schema`
    session.send("Hello", { output: z.object({}), schema: 1 });
  });
});

test("a turn has its text as a stream and itself as a web response", () => {
  compileOnly(async (turn: Turn, options: TurnResponseOptions) => {
    for await (const text of turn.textStream) expectTypeOf(text).toEqualTypeOf<string>();
    expectTypeOf(turn.toResponse()).toEqualTypeOf<Response>();
    expectTypeOf(turn.toResponse(options)).toEqualTypeOf<Response>();
    // @ts-expect-error headers are names and values
    turn.toResponse({ headers: 1 });
  });
});
