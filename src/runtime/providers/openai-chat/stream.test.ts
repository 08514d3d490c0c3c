import { describe, expect, test } from "vitest";

import { isObject } from "../../../base/support/index.ts";
import { ChatDecoder } from "./stream.ts";

/** The outcome of a streamed response: its thoughts as stored and as readable text, and anything unknown. */
function decoded(deltas: readonly object[], id: string | undefined = "chatcmpl-1"): object {
  const decoder = new ChatDecoder();
  const chunks = deltas.map((delta) => ({ id, choices: [{ index: 0, delta, finish_reason: null }] }));
  const last = { id, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const frames = [...chunks, last].map((chunk) => ({ event: "", data: JSON.stringify(chunk) }));
  return told([...decoder.feed(frames), ...decoder.close()]);
}

function told(events: ReturnType<ChatDecoder["feed"]>): object {
  const items: unknown[] = [];
  const read: string[] = [];
  const opaque: boolean[] = [];
  let text = "";
  let unknown: unknown;
  for (const event of events) {
    if (event.type === "end") unknown = event.end.unknown;
    if (event.type !== "item_done") continue;
    const { draft } = event;
    if (draft.type === "assistant_message") text += draft.text;
    if (draft.type !== "reasoning") continue;
    items.push(JSON.parse(draft.item));
    read.push(draft.parts.map((part) => part.text).join(""));
    opaque.push(draft.opaque);
  }
  return { items, read, opaque, text, ...(isObject(unknown) ? { unknown } : {}) };
}

const part = (text: string): object => ({ type: "thinking", thinking: [{ type: "text", text }] });

const detail = (entry: object): object => ({ reasoning_details: [entry] });

const both = (text: string): object => ({ reasoning: text, reasoning_content: text });

const block = (thinking: string, signature: string | null = null): object => ({
  type: "thinking",
  thinking,
  signature,
});

describe("Mistral's thoughts are kept with all their fields", () => {
  test("after its parts are joined: texts are joined, references stay, the signature comes last", () => {
    const reference = { type: "reference", reference_ids: [1, 2] };
    const deltas = [
      { role: "assistant", content: [{ type: "thinking", thinking: [{ type: "text", text: "One " }] }] },
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "two." }, reference] }] },
      { content: [{ type: "thinking", thinking: [{ type: "text", text: " Three." }] }] },
      { content: [{ type: "thinking", thinking: [], signature: "c2ln", closed: true }] },
      { content: [{ type: "text", text: "Done." }] },
    ];
    const thinking = [{ type: "text", text: "One two." }, reference, { type: "text", text: " Three." }];
    expect(decoded(deltas)).toEqual({
      items: [{ content_thinking: { type: "thinking", thinking, signature: "c2ln", closed: true } }],
      read: ["One two. Three."],
      opaque: [true],
      text: "Done.",
    });
  });

  test("a closed part still continues; text after a signature, or a second part in one chunk, starts a new part", () => {
    const closed = { ...part("One"), closed: true };
    const signed = { ...part(" two."), signature: "c2ln", closed: true };
    const deltas = [
      { content: [closed] },
      { content: [signed] },
      { content: [part("Three."), part("Four.")] },
      {
        content: [
          { ...part(" Five."), closed: true },
          { type: "text", text: "Done." },
        ],
      },
    ];
    expect(decoded(deltas)).toMatchObject({
      items: [
        { content_thinking: { ...part("One two."), signature: "c2ln", closed: true } },
        { content_thinking: part("Three.") },
        { content_thinking: { ...part("Four. Five."), closed: true } },
      ],
      opaque: [true, false, false],
      text: "Done.",
    });
  });
});

describe("entries of reasoning_details stay separate and whole", () => {
  test("two payloads with one index are two entries, whatever their ids", () => {
    const one = { type: "reasoning.encrypted", data: "AAAA", id: "rs_1", index: 0 };
    const other = { type: "reasoning.encrypted", data: "BBBB", id: "rs_2", index: 0 };
    const nameless = { type: "reasoning.encrypted", data: "CCCC", index: 0 };
    expect(decoded([detail(one), detail(other), detail(nameless), { content: "Yes." }])).toMatchObject({
      items: [{ reasoning_details: [one, other, nameless] }],
    });
  });

  test("text grows by index, even if entries alternate; format and signature may arrive later", () => {
    const deltas = [
      detail({ type: "reasoning.text", text: "One", index: 0, signature: null }),
      detail({ type: "reasoning.summary", summary: "S", index: 1 }),
      detail({ type: "reasoning.text", text: " two", index: 0, format: "anthropic-claude-v1" }),
      detail({ type: "reasoning.summary", summary: "um", index: 1 }),
      detail({ type: "reasoning.text", text: "", index: 0, signature: "sig-1" }),
      detail({ type: "reasoning.text", text: "Three", index: 0 }),
      { content: "Yes." },
    ];
    const signed = { type: "reasoning.text", text: "One two", index: 0, signature: "sig-1" };
    expect(decoded(deltas)).toMatchObject({
      items: [
        {
          reasoning_details: [
            { ...signed, format: "anthropic-claude-v1" },
            { type: "reasoning.summary", summary: "Sum", index: 1 },
            { type: "reasoning.text", text: "Three", index: 0 },
          ],
        },
      ],
      read: ["OneS twoumThree"],
    });
  });

  test("texts with different ids are separate entries; without an index they continue the last one", () => {
    const deltas = [
      detail({ type: "reasoning.text", text: "a", id: "x" }),
      detail({ type: "reasoning.text", text: "b", id: "x" }),
      detail({ type: "reasoning.text", text: "c", id: "y" }),
      { content: "Yes." },
    ];
    expect(decoded(deltas)).toMatchObject({
      items: [
        {
          reasoning_details: [
            { type: "reasoning.text", text: "ab", id: "x" },
            { type: "reasoning.text", text: "c", id: "y" },
          ],
        },
      ],
    });
  });
});

describe("a thought in several fields is shown once and kept in each", () => {
  test("by vLLM between two versions: reasoning and reasoning_content", () => {
    expect(decoded([both("One"), both(" two."), { content: "Yes." }])).toEqual({
      items: [{ reasoning: "One two." }, { reasoning_content: "One two." }],
      read: ["One two.", ""],
      opaque: [false, false],
      text: "Yes.",
    });
  });

  test("by LiteLLM: reasoning_content and the blocks with their signature", () => {
    const deltas = [
      { reasoning_content: "One", thinking_blocks: [block("One")] },
      { reasoning_content: " two.", thinking_blocks: [block(" two.")] },
      { reasoning_content: "", thinking_blocks: [block("", "sig-1")] },
      { thinking_blocks: [{ type: "redacted_thinking", data: "AAAA" }] },
      { content: "Yes." },
    ];
    expect(decoded(deltas)).toEqual({
      items: [
        { reasoning_content: "One two." },
        { thinking_blocks: [block("One two.", "sig-1"), { type: "redacted_thinking", data: "AAAA" }] },
      ],
      read: ["One two.", ""],
      opaque: [false, true],
      text: "Yes.",
    });
  });

  test("by Copilot: text and its payload", () => {
    const deltas = [{ reasoning_text: "One" }, { content: "Yes." }, { reasoning_opaque: "AAAA" }];
    expect(decoded(deltas)).toEqual({
      items: [{ reasoning_text: "One" }, { reasoning_opaque: "AAAA" }],
      read: ["One", ""],
      opaque: [false, true],
      text: "Yes.",
    });
  });
});

test("an unknown field is counted", () => {
  expect(decoded([{ reasoning_blob: "x", thought: "y" }, { content: "Yes." }])).toMatchObject({
    unknown: { "delta reasoning_blob": 1, "delta thought": 1 },
  });
});

/** Chunks of one answer as vendors send them: the role in the first chunk or in every chunk. */
function answer(
  word: string,
  idOf: (at: number) => string | undefined,
  roles: "first" | "every",
): readonly object[] {
  const deltas = [
    { content: "" },
    { reasoning_content: `${word} one` },
    { reasoning_content: ` ${word} two` },
    { content: `${word} three` },
    { content: ` ${word} four` },
  ];
  return deltas.map((delta, at) => ({
    id: idOf(at),
    choices: [{ delta: { ...(roles === "every" || at === 0 ? { role: "assistant" } : {}), ...delta } }],
  }));
}

const END = { choices: [{ delta: {}, finish_reason: "stop" }] };

/** The items of the last answer in a stream, and the number of restarts. */
function lastOf(chunks: readonly object[], end: object = END): object {
  const decoder = new ChatDecoder();
  const frames = [...chunks, end].map((chunk) => ({ event: "", data: JSON.stringify(chunk) }));
  const events = [...decoder.feed(frames), ...decoder.close()];
  const restarts = events.flatMap(({ type }, index) => (type === "restart" ? [index] : []));
  const { items, text } = told(events.slice((restarts.at(-1) ?? -1) + 1)) as Record<string, unknown>;
  return { items, text, restarts: restarts.length };
}

const LIVE = { items: [{ reasoning_content: "live one live two" }], text: "live three live four" };

describe("an answer that begins in the middle of another", () => {
  for (const roles of ["first", "every"] as const) {
    test.for([1, 2, 3, 4, 5])(
      `replaces it, with the role in the ${roles} chunk, after %i chunks`,
      (count) => {
        const dead = answer("dead", () => "chatcmpl-dead", roles).slice(0, count);
        const live = answer("live", () => "chatcmpl-live", roles);
        expect(lastOf([...dead, ...live], { id: "chatcmpl-live", ...END })).toEqual({
          ...LIVE,
          restarts: count === 1 ? 0 : 1,
        });
      },
    );

    test.for([
      ["no ids", () => undefined],
      ["empty ids", () => ""],
      ["an id for every chunk", (at: number) => `chatcmpl-${at}`],
    ] as const)(`is not assumed, with the role in the ${roles} chunk and %s`, ([, idOf]) => {
      expect(lastOf(answer("live", idOf, roles))).toEqual({ ...LIVE, restarts: 0 });
    });
  }

  test("is ignored if the first answer has finished", () => {
    const first = answer("live", () => "chatcmpl-1", "first");
    const second = answer("late", () => "chatcmpl-2", "first");
    expect(lastOf([...first, { id: "chatcmpl-1", ...END }, ...second])).toEqual({ ...LIVE, restarts: 0 });
  });

  test("is not assumed for a usage chunk with its own id", () => {
    const usage = { id: "usage-1", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
    expect(lastOf([...answer("live", () => "chatcmpl-1", "first"), usage])).toEqual({ ...LIVE, restarts: 0 });
  });
});
