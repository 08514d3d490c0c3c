/** The streamed answer: which events arrive, in which order, and whether they are consistent. */

import { describeBody } from "../acceptance.ts";
import type { Context } from "../context.ts";
import {
  brokenOff,
  differs,
  holds,
  type ProbeRow,
  probesOf,
  Skip,
  unlessRefused,
  type Verdict,
  verdict,
} from "../probe.ts";
import type { StreamView } from "../stream-view.ts";
import { describeUsage, missingFields, REQUIRED_FIELDS, usageProblems } from "./answer.ts";
import {
  addedTwice,
  badEnd,
  badFrames,
  badOrder,
  badSequence,
  badStart,
  changingIds,
  type Check,
  lastSequence,
  neverDone,
  unknownTypes,
  wrongOutput,
  wrongText,
} from "./stream-checks.ts";

interface StreamRow extends Omit<ProbeRow, "run"> {
  readonly expected: string;
  readonly check: Check;
  readonly seen: (views: readonly StreamView[]) => string;
  /** The probe looks at the terminal event. */
  readonly terminal?: true;
}

const allEvents = (views: readonly StreamView[]): string =>
  `${views.map(({ frames }) => frames.length).join(" + ")} events`;
const allItems = (views: readonly StreamView[]): string =>
  `${views.map(({ items }) => items.length).join(" + ")} items`;

function onStreams({ expected, check, seen, terminal, ...row }: StreamRow): ProbeRow {
  return {
    ...row,
    async run(context) {
      const all = await context.streams();
      const views = terminal === true ? all.filter(({ response }) => response !== undefined) : all;
      if (views.length === 0) throw new Skip("there is no terminal event: see stream.terminal");
      return verdict(expected, [...new Set(views.flatMap(check))], seen(views));
    },
  };
}

async function streamedAtAll(context: Context): Promise<Verdict> {
  const expected = "HTTP 200 and text/event-stream";
  const reply = await context.textReply();
  return unlessRefused(expected, reply, () => {
    const { status, streamed, frames } = reply;
    if (!streamed) return differs(expected, `HTTP ${status}, ${describeBody(reply)}`);
    return brokenOff(reply) ?? holds(`HTTP ${status}, ${frames.length} events`);
  });
}

export const STREAM_PROBES = probesOf("responses", {
  "stream.answer": {
    title: "answers a streamed request with server-sent events",
    why: "§2.3",
    run: streamedAtAll,
  },
  "stream.frames": onStreams({
    title: "every event is a JSON object whose type is also the event's name",
    why: "§2.3",
    expected: "event: TYPE and data: {type: TYPE, …}",
    check: badFrames,
    seen: allEvents,
  }),
  "stream.created": onStreams({
    title: "begins with response.created and response.in_progress, once each",
    why: "§2.4",
    expected: "response.created, response.in_progress, then the rest",
    check: badStart,
    seen: () => "response.created, response.in_progress",
  }),
  "stream.terminal": onStreams({
    title: "ends with exactly one terminal event, and nothing after it",
    why: "R01, R11",
    expected: "one of response.completed, response.incomplete, response.failed, at the end",
    check: badEnd,
    seen: (views) => views.map(({ terminals }) => terminals[0]?.type).join(", "),
  }),
  "stream.sequence": onStreams({
    title: "sequence_number counts from 0 without a gap",
    why: "§2.3",
    expected: "0, 1, 2 …",
    check: badSequence,
    seen: (views) => `0 to ${views.map(lastSequence).join(", 0 to ")}`,
  }),
  "stream.order": onStreams({
    title: "added comes before deltas, deltas before done",
    why: "R14, U09",
    expected: "every event of an item or part between its added and its done",
    check: badOrder,
    seen: allEvents,
  }),
  "stream.added-once": onStreams({
    title: "every output index and part is opened once",
    why: "R14, I13",
    expected: "one added event for each item and part",
    check: addedTwice,
    seen: allItems,
  }),
  "stream.all-done": onStreams({
    title: "every item and part that was added is done, once",
    why: "R01, R08",
    expected: "one done event for each item and part",
    check: neverDone,
    seen: allItems,
  }),
  "stream.ids": onStreams({
    title: "ids stay the same within a stream",
    why: "I08",
    expected: "one id for each item, and one for the response",
    check: changingIds,
    seen: allItems,
  }),
  "stream.text": onStreams({
    title: "text and summary deltas add up to the text in done",
    why: "R05",
    expected: "deltas = done = item",
    check: wrongText,
    seen: allItems,
  }),
  "stream.output": onStreams({
    title: "the terminal event holds the items of the stream",
    why: "R04",
    expected: "the same items in the same order",
    check: wrongOutput,
    seen: allItems,
    terminal: true,
  }),
  "stream.fields": onStreams({
    title: "the terminal event's response has every field of the official types",
    why: "§2.5",
    expected: `the fields ${REQUIRED_FIELDS.filter((name) => name !== "output").join(", ")}`,
    check: ({ response }) => missingFields(response ?? {}, ["output"]),
    seen: () => `all ${REQUIRED_FIELDS.length - 1}`,
    terminal: true,
  }),
  "stream.usage": onStreams({
    title: "the terminal event counts tokens",
    why: "K06",
    expected: "usage with details",
    check: ({ response }) => usageProblems(response?.["usage"]),
    seen: (views) => views.map(({ response }) => describeUsage(response?.["usage"])).join("; "),
    terminal: true,
  }),
  "stream.known-types": onStreams({
    strict: false,
    title: "sends no events and no items beyond the official types",
    why: "U10",
    expected: "only events and items of the official types",
    check: unknownTypes,
    seen: allEvents,
  }),
});
