import { expect, test } from "vitest";

import type { SessionEvent } from "../events/index.ts";
import { textOf } from "./turn-streams.ts";

const start = (response: string, step: number, purpose?: "compaction") =>
  ({ type: "response_start", turn: "tn_1", response, step, attempt: 1, purpose }) as SessionEvent;
const delta = (response: string, text: string, outputIndex = 0): SessionEvent => ({
  type: "text_delta",
  turn: "tn_1",
  response,
  outputIndex,
  delta: text,
});
const message = (response: string, text: string, outputIndex = 0) =>
  ({ type: "assistant_message", turn: "tn_1", response, outputIndex, text }) as SessionEvent;

async function textFrom(events: readonly SessionEvent[]): Promise<readonly string[]> {
  async function* arriving(): AsyncGenerator<SessionEvent> {
    yield* events;
  }
  const pieces: string[] = [];
  for await (const piece of textOf(arriving())) pieces.push(piece);
  return pieces;
}

test("deltas are passed on as they are, and the finished message adds nothing", async () => {
  const text = await textFrom([start("a", 1), delta("a", "Hel"), delta("a", "lo"), message("a", "Hello")]);
  expect(text).toEqual(["Hel", "lo"]);
});

test("a message that arrived without deltas is passed on whole", async () => {
  expect(await textFrom([start("a", 1), message("a", "Hello")])).toEqual(["Hello"]);
});

test("the end of a message that no delta carried is passed on", async () => {
  expect(await textFrom([start("a", 1), delta("a", "Hel"), message("a", "Hello")])).toEqual(["Hel", "lo"]);
});

test("a blank line separates steps and the messages of one response", async () => {
  const text = await textFrom([
    start("a", 1),
    delta("a", "I look."),
    start("b", 2),
    delta("b", "It is"),
    delta("b", " sunny."),
    delta("b", "Take a hat.", 1),
  ]);
  expect(text).toEqual(["I look.", "\n\nIt is", " sunny.", "\n\nTake a hat."]);
});

test("a repeated request does not repeat what the reader has", async () => {
  const text = await textFrom([
    start("a", 1),
    delta("a", "One, two"),
    start("b", 1),
    delta("b", "One, "),
    delta("b", "two, three"),
    delta("b", ", four"),
    message("b", "One, two, three, four"),
  ]);
  expect(text).toEqual(["One, two", ", three", ", four"]);
});

test("a repeated request that answers in other words follows after a blank line", async () => {
  const text = await textFrom([
    start("a", 1),
    delta("a", "One, two"),
    start("b", 1),
    delta("b", "One, "),
    delta("b", "zwei"),
    delta("b", ", drei"),
  ]);
  expect(text).toEqual(["One, two", "\n\nOne, zwei", ", drei"]);
});

test("a summary that the runtime requested is not part of the text", async () => {
  const text = await textFrom([
    start("a", 1, "compaction"),
    delta("a", "Summary"),
    message("a", "Summary"),
    start("b", 1),
    delta("b", "Answer"),
  ]);
  expect(text).toEqual(["Answer"]);
});
