/**
 * Finds the problems of a stream, one function per kind. Pure: takes a recorded stream and returns sentences. Each fault is
 * reported in one place only, so that the table shows what to repair.
 */

import { numberOf, objectOf, stringOf } from "../../../base/support/index.ts";
import { HOSTED_ITEMS, RESPONSES_EVENTS } from "../../../runtime/wire/index.ts";
import { fieldOf, typeOf } from "../item-text.ts";
import type { Frame } from "../reply.ts";
import { outputIndexOf, type StreamView } from "../stream-view.ts";

const ITEMS = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);

export type Check = (view: StreamView) => readonly string[];

const count = (view: StreamView, type: string): number =>
  view.frames.filter((frame) => frame.type === type).length;

export const badFrames: Check = ({ frames }) =>
  frames.flatMap((frame, at) => {
    if (frame.body === undefined) return [`event ${at} (${frame.name || "unnamed"}) is not a JSON object`];
    if (frame.name === frame.type) return [];
    return [`event ${at} is named "${frame.name}" and has the type "${frame.type}"`];
  });

export const badStart: Check = (view) => {
  const problems: string[] = [];
  for (const [at, type] of ["response.created", "response.in_progress"].entries()) {
    const there = view.frames[at]?.type ?? "nothing";
    if (there !== type) problems.push(`event ${at} is ${there}, not ${type}`);
    const many = count(view, type);
    if (many > 1) problems.push(`${type} comes ${many} times`);
  }
  return problems;
};

export const badEnd: Check = ({ frames, terminals, broken }) => {
  if (terminals.length === 0) {
    const why = broken === undefined ? "" : ` (${broken.code}: ${broken.message})`;
    return [`the stream ends after ${frames.length} events without a terminal event${why}`];
  }
  if (terminals.length > 1)
    return [`${terminals.length} terminal events: ${terminals.map(({ type }) => type).join(", ")}`];
  const after = frames
    .slice(frames.indexOf(terminals[0] as Frame) + 1)
    .filter(({ type }) => type !== "keepalive");
  return after.length === 0
    ? []
    : [`${after.length} events after the terminal one, the first is ${after[0]?.type}`];
};

export const badSequence: Check = ({ frames }) =>
  frames.flatMap((frame, at) => {
    const number = frame.body?.["sequence_number"];
    if (number === at || frame.body === undefined) return [];
    return [`event ${at} (${frame.type}) has sequence_number ${JSON.stringify(number) ?? "undefined"}`];
  });

/** The events that begin and end a part, and those in between. */
const PARTS: readonly {
  readonly added: string;
  readonly done: string;
  readonly inner: RegExp;
  readonly key: string;
}[] = [
  {
    added: "response.content_part.added",
    done: "response.content_part.done",
    inner: /^response\.(?:output_text|refusal|reasoning_text|reasoning)\.(?:delta|done)$/,
    key: "content_index",
  },
  {
    added: "response.reasoning_summary_part.added",
    done: "response.reasoning_summary_part.done",
    inner: /^response\.reasoning_summary_text\.(?:delta|done)$/,
    key: "summary_index",
  },
];

export const badOrder: Check = ({ frames }) => {
  const problems: string[] = [];
  const state = new Map<string, "open" | "done">();
  for (const [at, frame] of frames.entries()) {
    const index = outputIndexOf(frame);
    if (index === undefined) continue;
    const item = `item ${index}`;
    const outside = state.get(item) !== "open";
    if (frame.type === "response.output_item.added") state.set(item, "open");
    else if (frame.type === "response.output_item.done") {
      if (state.get(item) === undefined) problems.push(`event ${at}: ${item} is done before it was added`);
      state.set(item, "done");
    } else if (outside) {
      problems.push(`event ${at}: ${frame.type} ${state.get(item) === "done" ? "after" : "before"} its item`);
    } else problems.push(...partOrder(frame, at, index, state));
  }
  return problems;
};

function partOrder(
  frame: Frame,
  at: number,
  index: number,
  state: Map<string, "open" | "done">,
): readonly string[] {
  for (const { added, done, inner, key } of PARTS) {
    const part = `${key} ${String(frame.body?.[key])} of item ${index}`;
    if (frame.type === added) state.set(part, "open");
    else if (frame.type === done || inner.test(frame.type)) {
      const before = state.get(part);
      if (frame.type === done) state.set(part, "done");
      if (before === "open" || (frame.type === done && before === "done")) continue;
      return [`event ${at}: ${frame.type} ${before === "done" ? "after" : "before"} its part`];
    }
  }
  return [];
}

/** Events that must occur once per item or part. */
function times(view: StreamView, types: readonly string[]): ReadonlyMap<string, number> {
  const counted = new Map<string, number>();
  for (const frame of view.frames) {
    if (!types.includes(frame.type)) continue;
    const { output_index, content_index, summary_index } = frame.body ?? {};
    const where = [output_index, content_index ?? summary_index]
      .flatMap((one) => (one === undefined ? [] : [JSON.stringify(one)]))
      .join(".");
    const key = `${frame.type.replace(/\.(?:added|done)$/, "")} ${where}`;
    counted.set(key, (counted.get(key) ?? 0) + 1);
  }
  return counted;
}

const OPENED = ["response.output_item", ...PARTS.map(({ added }) => added.replace(/\.added$/, ""))];
const addedTypes = OPENED.map((name) => `${name}.added`);
const doneTypes = OPENED.map((name) => `${name}.done`);

export const addedTwice: Check = (view) =>
  [...times(view, addedTypes)].flatMap(([key, many]) => (many > 1 ? [`${key} is added ${many} times`] : []));

export const neverDone: Check = (view) => {
  const done = times(view, doneTypes);
  const open = [...times(view, addedTypes).keys()].filter((key) => !done.has(key));
  const twice = [...done].filter(([, many]) => many > 1);
  return [
    ...open.map((key) => `${key} is added and never done`),
    ...twice.map(([key, many]) => `${key} is done ${many} times`),
  ];
};

export const changingIds: Check = (view) => {
  const seen = new Map<string, Set<string>>();
  const note = (what: string, id: unknown): void => {
    if (typeof id === "string") seen.set(what, (seen.get(what) ?? new Set()).add(id));
  };
  for (const frame of view.frames) {
    const index = outputIndexOf(frame);
    note("the response", objectOf(frame.body?.["response"])["id"]);
    if (index === undefined) continue;
    note(`item ${index}`, frame.body?.["item_id"]);
    note(`item ${index}`, objectOf(frame.body?.["item"])["id"]);
  }
  for (const { index, final } of view.items)
    if (final !== undefined) note(`item ${index}`, fieldOf(final, "id"));
  return [...seen].flatMap(([what, ids]) =>
    ids.size === 1
      ? []
      : [`${what} has ${ids.size} ids, such as ${[...ids].slice(0, 2).map(short).join(" and ")}`],
  );
};

const short = (id: string): string => (id.length <= 24 ? id : `${id.slice(0, 20)}… (${id.length})`);

const CHANNELS = ["output_text", "refusal", "reasoning_text", "reasoning", "reasoning_summary_text"];

/** The joined deltas must equal the text in `done` and in the item. */
export const wrongText: Check = (view) => {
  const problems: string[] = [];
  for (const { index, done } of view.items) {
    if (done === undefined) continue;
    for (const [key, whole] of textsOf(done)) {
      const frames = view.frames.filter((frame) => outputIndexOf(frame) === index && partKey(frame) === key);
      const deltas = frames.filter(({ type }) => type.endsWith(".delta"));
      const ends = frames.filter(({ type }) => type.endsWith(".done"));
      const what = `${key} of item ${index}`;
      const joined = deltas.map((frame) => stringOf(frame.body?.["delta"]) ?? "").join("");
      if (deltas.length === 0 && whole !== "") problems.push(`${what}: no deltas`);
      else if (joined !== whole)
        problems.push(`${what}: the deltas have ${joined.length} characters, the item ${whole.length}`);
      if (ends.length !== 1) problems.push(`${what}: its text is done ${ends.length} times`);
      const end = ends[0]?.body;
      if (end !== undefined && (stringOf(end["text"]) ?? stringOf(end["refusal"])) !== whole) {
        problems.push(`${what}: done has another text than the item`);
      }
    }
  }
  return problems;
};

function partKey(frame: Frame): string | undefined {
  const channel = CHANNELS.find(
    (name) => frame.type === `response.${name}.delta` || frame.type === `response.${name}.done`,
  );
  if (channel === undefined) return undefined;
  const summary = channel === "reasoning_summary_text";
  return `${summary ? "summary" : "content"} ${String(frame.body?.[summary ? "summary_index" : "content_index"])}`;
}

function textsOf(item: string): readonly (readonly [key: string, text: string])[] {
  return (["content", "summary"] as const).flatMap((field) => {
    const parts = fieldOf(item, field);
    if (!Array.isArray(parts)) return [];
    return parts.flatMap((part: unknown, at) => {
      const { text, refusal } = objectOf(part);
      const whole = stringOf(text) ?? stringOf(refusal);
      return whole === undefined ? [] : [[`${field} ${at}`, whole] as const];
    });
  });
}

/** The terminal event holds what the stream held. */
export const wrongOutput: Check = ({ items, response }) => {
  const output = response?.["output"];
  if (!Array.isArray(output)) return ["output is missing in the terminal event"];
  const sent = items.map(({ done, added }) => typeOf(done ?? added ?? ""));
  const held = output.map((item: unknown) => stringOf(objectOf(item)["type"]) ?? "no type");
  if (held.join() === sent.join()) return [];
  return [`the stream has [${sent.join(", ")}], the terminal event [${held.join(", ")}]`];
};

export const unknownTypes: Check = ({ frames, items }) => {
  const events = frames.filter(({ type, body }) => body !== undefined && !RESPONSES_EVENTS.has(type));
  const types = items.map(({ done, added }) => typeOf(done ?? added ?? ""));
  return [
    ...events.map(({ type }) => (type === "" ? "an event without a type" : `event ${type}`)),
    ...types.filter((type) => !ITEMS.has(type) && !HOSTED_ITEMS.has(type)).map((type) => `item ${type}`),
  ];
};

export const lastSequence = ({ frames }: StreamView): number =>
  numberOf(frames.at(-1)?.body?.["sequence_number"]) ?? -1;
