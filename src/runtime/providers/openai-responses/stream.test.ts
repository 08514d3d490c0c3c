import { describe, expect, test } from "vitest";

import type { SseFrame } from "../../wire/index.ts";
import type { StreamEnd, StreamEvent } from "../provider.ts";
import { ResponsesDecoder } from "./stream.ts";

type Json = Record<string, unknown>;

const frame = (event: Json | string): SseFrame => ({
  event: "",
  data: typeof event === "string" ? event : JSON.stringify(event),
});

function decode(...events: readonly (Json | string)[]): readonly StreamEvent[] {
  const decoder = new ResponsesDecoder();
  return [...decoder.feed(events.map(frame)), ...decoder.close()];
}

function endOf(events: readonly StreamEvent[]): StreamEnd {
  const ends = events.flatMap((event) => (event.type === "end" ? [event.end] : []));
  expect(ends).toHaveLength(1); // there is always exactly one terminal state
  expect(events.at(-1)?.type).toBe("end");
  return ends[0] as StreamEnd;
}

const itemsOf = (events: readonly StreamEvent[]): readonly unknown[] =>
  events.flatMap((event) => (event.type === "item_done" ? [event.draft] : []));

const textOf = (events: readonly StreamEvent[]): string =>
  events.map((event) => (event.type === "delta" ? event.text : "")).join("");

const created: Json = { type: "response.created", response: { id: "resp_1", model: "m-2026" } };
const added = (output_index: number, item: Json): Json => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: Json): Json => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const completed = (output: readonly Json[] = [], more: Json = {}): Json => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", output, ...more },
});
const message = (text: string, more: Json = {}): Json => ({
  id: "msg_1",
  type: "message",
  content: [{ type: "output_text", text }],
  ...more,
});
const thought = (more: Json = {}): Json => ({
  id: "rs_1",
  type: "reasoning",
  summary: [],
  encrypted_content: "gA",
  ...more,
});
const textDelta = (delta: string, output_index = 0, content_index = 0): Json => ({
  type: "response.output_text.delta",
  output_index,
  content_index,
  delta,
});

describe("a whole response", () => {
  test("yields starts, deltas, items and one end", () => {
    const events = decode(
      created,
      added(0, { type: "message", phase: "commentary" }),
      textDelta("Hel"),
      textDelta("lo"),
      { type: "response.output_text.done", output_index: 0, content_index: 0, text: "Hello" },
      done(0, message("Hello", { phase: "commentary" })),
      added(1, { type: "function_call", name: "f", call_id: "c1" }),
      { type: "response.function_call_arguments.delta", output_index: 1, delta: "{}" },
      done(1, { id: "fc_1", type: "function_call", call_id: "c1", name: "f", arguments: "{}" }),
      completed([], {
        reasoning: { context: "all_turns" },
        usage: {
          input_tokens: 5,
          input_tokens_details: { cached_tokens: 4 },
          output_tokens: 3,
          output_tokens_details: { reasoning_tokens: 2 },
        },
      }),
    );
    expect(
      events.map((event) => (event.type === "item_done" ? [event.type, event.outputIndex] : event)),
    ).toEqual([
      { type: "item_start", outputIndex: 0, kind: "message", phase: "commentary" },
      { type: "delta", outputIndex: 0, channel: "text", part: 0, text: "Hel" },
      { type: "delta", outputIndex: 0, channel: "text", part: 0, text: "lo" },
      ["item_done", 0],
      { type: "item_start", outputIndex: 1, kind: "tool_call", name: "f", callId: "c1" },
      { type: "delta", outputIndex: 1, channel: "arguments", part: 0, text: "{}" },
      ["item_done", 1],
      {
        type: "end",
        end: {
          status: "completed",
          providerResponseId: "resp_1",
          servedModel: "m-2026",
          reasoningContext: "all_turns",
          usage: { inputTokens: 5, cachedTokens: 4, outputTokens: 3, reasoningTokens: 2 },
        },
      },
    ]);
  });

  test("has no usage if none was reported: unknown is not zero", () => {
    expect(endOf(decode(completed([], { usage: null }))).usage).toBeUndefined();
  });
});

describe("text", () => {
  test.each([
    ["response.reasoning_summary_text", "summary", "summary_index", "text"],
    ["response.reasoning_text", "reasoning", "content_index", "text"],
    ["response.reasoning", "reasoning", "content_index", "text"],
    ["response.output_text", "text", "content_index", "text"],
    ["response.refusal", "text", "content_index", "refusal"],
    ["response.function_call_arguments", "arguments", undefined, "arguments"],
    ["response.custom_tool_call_input", "arguments", undefined, "input"],
  ])("of %s arrives on its channel, and done adds only the missing part", (type, channel, index, field) => {
    const at = { output_index: 2, ...(index === undefined ? {} : { [index]: 1 }) };
    const part = index === undefined ? 0 : 1;
    const [start, ...deltas] = decode(
      { type: `${type}.delta`, ...at, delta: "ab" },
      { type: `${type}.done`, ...at, [field]: "abcd" },
      { type: `${type}.done`, ...at, [field]: "abcd" },
    );
    expect(start?.type).toBe("item_start");
    expect(deltas.slice(0, -1)).toEqual([
      { type: "delta", outputIndex: 2, channel, part, text: "ab" },
      { type: "delta", outputIndex: 2, channel, part, text: "cd" },
    ]);
  });

  test("of a part that begins empty is announced, so that a title can be awaited", () => {
    const events = decode(added(0, { type: "reasoning" }), {
      type: "response.reasoning_summary_part.added",
      output_index: 0,
      summary_index: 0,
      part: { type: "summary_text", text: "" },
    });
    expect(events[1]).toEqual({ type: "delta", outputIndex: 0, channel: "summary", part: 0, text: "" });
  });

  test("that was never streamed arrives as one delta before its item", () => {
    const item = thought({
      summary: [{ text: "s1" }, { text: "s2" }],
      content: [{ text: "t1" }],
    });
    expect(decode(done(0, item), completed()).filter((event) => event.type === "delta")).toEqual([
      { type: "delta", outputIndex: 0, channel: "summary", part: 0, text: "s1" },
      { type: "delta", outputIndex: 0, channel: "summary", part: 1, text: "s2" },
      { type: "delta", outputIndex: 0, channel: "reasoning", part: 0, text: "t1" },
    ]);
    expect(textOf(decode(done(0, message("Hello")), completed()))).toBe("Hello");
    const refused = { type: "message", content: [{ type: "refusal", refusal: "no" }] };
    expect(textOf(decode(done(0, refused), completed()))).toBe("no");
  });

  test("of a message in several parts is completed across all of them", () => {
    const item = { type: "message", content: [{ text: "abc" }, { text: "def" }] };
    expect(textOf(decode(textDelta("abc", 0, 0), textDelta("d", 0, 1), done(0, item), completed()))).toBe(
      "abcdef",
    );
  });

  test("that arrives after its item is done is ignored", () => {
    expect(textOf(decode(done(0, message("x")), textDelta("late"), completed()))).toBe("x");
  });

  test("that is empty or not a string adds no delta after the first", () => {
    const events = decode(textDelta("a"), textDelta(""), { ...textDelta("x"), delta: 7 });
    expect(events.filter((event) => event.type === "delta")).toHaveLength(1);
  });
});

const call = (n: number, call_id: string): Json => ({
  id: `fc_${n}`,
  type: "function_call",
  call_id,
  name: "f",
  arguments: "",
});

describe("items", () => {
  test("are matched by index, whatever their ids", () => {
    const events = decode(
      added(0, { type: "message", id: "a" }),
      { ...textDelta("Hi"), item_id: "b" },
      done(0, message("Hi", { id: "c" })),
      completed([message("Hi", { id: "d" })]),
    );
    expect(itemsOf(events)).toMatchObject([{ itemId: "c", text: "Hi" }]);
    expect(events.filter((event) => event.type === "item_start")).toHaveLength(1);
  });

  test("that arrive twice are counted and kept once", () => {
    const events = decode(done(0, message("first")), done(0, message("second")), completed());
    expect(itemsOf(events)).toMatchObject([{ text: "first" }]);
    expect(endOf(events).unknown).toEqual({ "repeated output_item.done": 1 });
  });

  test("of an unknown type are kept and counted", () => {
    const events = decode(done(0, { type: "brand_new", id: "x" }), completed());
    expect(itemsOf(events)).toMatchObject([{ type: "other_item", itemType: "brand_new" }]);
    expect(endOf(events).unknown).toEqual({ "item brand_new": 1 });
  });

  test("may be named output_item, as on one server", () => {
    const events = decode(
      { type: "response.output_item.added", output_index: 0, output_item: { type: "message" } },
      { type: "response.output_item.done", output_index: 0, output_item: message("x") },
      completed(),
    );
    expect(itemsOf(events)).toMatchObject([{ text: "x" }]);
  });

  test("that share a call id are told apart by index", () => {
    const events = decode(
      done(0, call(0, "call_0")),
      done(1, call(1, "call_0")),
      done(2, call(2, "")),
      done(3, call(3, "")),
      completed(),
    );
    expect(itemsOf(events).map((item) => (item as { readonly callId: string }).callId)).toEqual([
      "call_0",
      "call_0_1",
      "",
      "call_3",
    ]);
  });

  test.each([
    ["no item", { type: "response.output_item.done", output_index: 0 }],
    ["an item that is not an object", { type: "response.output_item.done", output_index: 0, item: "x" }],
    ["a negative index", { type: "response.output_item.done", output_index: -1, item: {} }],
    ["an index that is not a number", { type: "response.output_item.done", output_index: "x", item: {} }],
    [
      "an item that is nested too deep",
      `{"type":"response.output_item.done","output_index":0,"item":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`,
    ],
  ])("with %s end the response as a bad event", (_, event) => {
    expect(endOf(decode(event))).toMatchObject({
      status: "failed",
      error: { code: "bad_event", class: "TRUNC" },
    });
  });
});

describe("the terminal event", () => {
  test("delivers an item that never got its done, at its position", () => {
    const events = decode(
      done(0, thought()),
      added(1, { type: "message" }),
      textDelta("He", 1),
      completed([thought(), message("Hello")]),
    );
    expect(itemsOf(events)).toMatchObject([
      { type: "reasoning", outputIndex: 0 },
      { type: "assistant_message", outputIndex: 1, text: "Hello" },
    ]);
    expect(textOf(events)).toBe("Hello");
  });

  test("does not deliver items of a failed response", () => {
    const failed = {
      type: "response.failed",
      response: { status: "failed", output: [message("x")], error: { code: "server_error", message: "no" } },
    };
    expect(itemsOf(decode(failed))).toEqual([]);
  });

  test("delivers a payload the done item lacked, by position if ids differ", () => {
    const late = thought({ id: "rs_other", encrypted_content: "gLate" });
    const bare = thought({ encrypted_content: undefined });
    expect(endOf(decode(done(0, bare), done(1, message("x")), completed([late, message("x")]))).late).toEqual(
      [{ outputIndex: 0, item: JSON.stringify(late) }],
    );
  });

  test("delivers nothing if the payload already arrived, even if it differs", () => {
    const events = decode(
      done(0, thought()),
      done(1, message("x")),
      completed([thought({ encrypted_content: "gOther" }), message("x")]),
    );
    expect(endOf(events)).not.toHaveProperty("late");
  });

  test("may list nothing: the items are those that were done", () => {
    expect(itemsOf(decode(done(0, thought()), done(1, message("x")), completed([])))).toHaveLength(2);
    expect(itemsOf(decode(done(0, message("x")), { type: "response.completed", response: {} }))).toHaveLength(
      1,
    );
  });

  test("is incomplete if the object says so, whatever the event's name", () => {
    const incomplete = completed([], {
      status: "incomplete",
      incomplete_details: { reason: "content_filter" },
    });
    expect(endOf(decode(incomplete))).toMatchObject({ status: "incomplete", reason: "content_filter" });
    expect(
      endOf(
        decode({
          type: "response.incomplete",
          response: { incomplete_details: { reason: "max_output_tokens" } },
        }),
      ),
    ).toMatchObject({
      status: "incomplete",
      reason: "max_output_tokens",
    });
  });

  test("counts only once: events after it are counted as unknown", () => {
    expect(endOf(decode(completed(), completed(), textDelta("x"))).status).toBe("completed");
    const decoder = new ResponsesDecoder();
    decoder.feed([frame(completed())]);
    expect(decoder.ended).toBe(true);
    expect(decoder.feed([frame(completed()), frame("not json")])).toEqual([]);
    expect(decoder.close()).toEqual([]);
  });
});

describe("errors", () => {
  const error = { type: "server_error", code: "server_error", message: "boom", param: null };

  test("can be flat, with nothing after them", () => {
    expect(
      endOf(decode(created, { type: "error", code: "server_error", message: "boom", param: "x" })),
    ).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "boom", param: "x", class: "TRUNC" },
    });
  });

  test("can be nested and followed by the failed response: one end", () => {
    const failed = {
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error", message: "boom!" } },
    };
    expect(endOf(decode({ type: "error", error }, failed))).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "boom!" },
    });
  });

  test("can be nested and followed by a failed response without a cause", () => {
    const failed = { type: "response.failed", response: { status: "failed", error: null } };
    expect(endOf(decode({ type: "error", error }, failed)).error).toMatchObject({
      code: "server_error",
      message: "boom",
    });
  });

  test("have no details if a failed response gives none", () => {
    expect(endOf(decode({ type: "response.failed", response: { status: "failed" } }))).toEqual({
      status: "failed",
    });
  });

  test("do not include a cancelled response, which ends as cancelled", () => {
    expect(endOf(decode(completed([], { status: "cancelled" }))).status).toBe("cancelled");
  });

  test.each(["not json", "[1]", "7", '{"no":"type"}', '{"type":7}'])("include a bad event: %j", (text) => {
    expect(endOf(decode(created, text))).toMatchObject({
      status: "failed",
      providerResponseId: "resp_1",
      error: { code: "bad_event", message: expect.stringContaining(text) },
    });
  });

  test("include a stream that ends without a terminal event: it is cut", () => {
    expect(endOf(decode(created, done(0, message("all of it"))))).toEqual({
      status: "cut",
      providerResponseId: "resp_1",
      servedModel: "m-2026",
      error: { code: "stream_cut", message: "the stream ended before the response did", class: "TRUNC" },
    });
  });
});

describe("unknown or unneeded events", () => {
  test("are counted by type if unknown", () => {
    const surprise = { type: "response.surprise" };
    expect(endOf(decode(surprise, surprise, { type: "new" }, completed())).unknown).toEqual({
      "response.surprise": 2,
      new: 1,
    });
  });

  test("are unknown even if the type is a property every object has", () => {
    for (const type of ["constructor", "toString", "__proto__"]) {
      const end = endOf(decode({ type }, { type }, completed()));
      expect(end.status).toBe("completed");
      expect(Object.entries(end.unknown ?? {})).toEqual([[type, 2]]);
    }
  });

  test("emit nothing if they are known and carry no text, like the end marker", () => {
    const events = decode(
      { type: "keepalive" },
      { type: "response.in_progress", response: {} },
      { type: "response.web_search_call.searching", output_index: 0 },
      { type: "response.content_part.added", output_index: 0, part: {} },
      "[DONE]",
      completed(),
    );
    expect(events.map(({ type }) => type)).toEqual(["end"]);
    expect(endOf(events)).not.toHaveProperty("unknown");
  });
});

describe("the non-streaming form", () => {
  test("yields the same items and end", () => {
    const decoder = new ResponsesDecoder();
    const response = {
      object: "response",
      id: "resp_1",
      status: "completed",
      model: "m",
      output: [thought(), message("Hello")],
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const events = decoder.feedResponse(JSON.stringify(response));
    expect(itemsOf(events)).toMatchObject([
      { type: "reasoning" },
      { type: "assistant_message", text: "Hello" },
    ]);
    expect(endOf(events)).toMatchObject({
      status: "completed",
      servedModel: "m",
      usage: { inputTokens: 1, outputTokens: 2 },
    });
    expect(decoder.close()).toEqual([]);
  });

  test.each(["{}", "nonsense", '{"object":"list"}', "[]"])("refuses %s, which is not a response", (text) => {
    const decoder = new ResponsesDecoder();
    expect(endOf(decoder.feedResponse(text))).toMatchObject({
      status: "failed",
      error: { code: "bad_event" },
    });
  });

  test("is cut if the response does not give its status", () => {
    const decoder = new ResponsesDecoder();
    expect(endOf(decoder.feedResponse('{"object":"response","status":"in_progress"}')).status).toBe("cut");
  });
});

test("a large event keeps all fields other than its items whole, however long", () => {
  const said = "why ".repeat(2000);
  const events = decode({
    type: "response.failed",
    response: {
      id: "resp_1",
      status: "failed",
      error: { code: "server_error", message: said },
      output: [{ ...thought(), encrypted_content: "A".repeat(100_000) }],
    },
  });
  expect(endOf(events)).toMatchObject({
    status: "failed",
    providerResponseId: "resp_1",
    error: { message: said },
  });
});
