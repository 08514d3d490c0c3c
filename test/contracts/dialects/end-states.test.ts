/**
 * Every way a response can end without an answer, in every dialect. The turn's end says which way it was, and the next
 * request is different and the strict emulator accepts it.
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../../src/emulator/index.ts";
import { createAgent, type LoggedEvent, memoryStore, type Session } from "../../../src/index.ts";
import { emulatedModel } from "../../exhaustive/corpus.ts";
import { instantClock } from "../../support/instant-clock.ts";
import { type Answer, SPEAKERS, type Speaker } from "./speakers.ts";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

const MODELS: Readonly<Record<Speaker["dialect"], string>> = {
  "openai-responses": "emu-reasoner",
  "anthropic-messages": "emu-claude",
  "openai-chat": "emu-deepseek",
};

/** Gives the prepared answers first, then the emulator's, and records every body that was sent. */
class Wire {
  readonly bodies: string[] = [];
  readonly #answers: readonly string[][];

  constructor(answers: readonly (readonly string[])[]) {
    this.#answers = answers.map((frames) => [...frames]);
  }

  readonly fetch: typeof fetch = async (input, init) => {
    this.bodies.push(await new Response(init?.body).text());
    const frames = this.#answers[this.bodies.length - 1];
    if (frames === undefined) return fetch(input, { ...init, body: this.bodies.at(-1) ?? "" });
    const text = frames.map((data) => `data: ${data}\n\n`).join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  };
}

async function open(speaker: Speaker, wire: Wire, maxRetries: number): Promise<Session> {
  return createAgent({
    model: emulatedModel(MODELS[speaker.dialect], emulator.baseUrl),
    limits: { maxRetries },
    clock: instantClock(),
    fetch: wire.fetch,
  }).open({ id: "s", store: memoryStore() });
}

/** The refusals of the emulator since then. */
function refusedSince(count: number): readonly unknown[] {
  return emulator.exchanges
    .slice(count)
    .flatMap(({ report }) => (report?.verdict === "accepted" ? [] : [report?.message]));
}

const THOUGHT = { kind: "thought", text: "Only thinking.", payload: "payload==" } as const;
const HALF = { kind: "text", text: "half an ans" } as const;
const ONLY_THOUGHT: Answer = { pieces: [THOUGHT], ending: "stop" };
const EMPTY: Answer = { pieces: [], ending: "stop" };

interface Case {
  readonly name: string;
  readonly answers: readonly Answer[];
  /** How much of the last answer arrives. Default: all. */
  readonly share?: number;
  readonly status: string;
  /** The turn's reason, or the class or code of its error. */
  readonly why: RegExp;
}

const CASES: readonly Case[] = [
  {
    name: "only a thought, twice",
    answers: [ONLY_THOUGHT, ONLY_THOUGHT],
    status: "incomplete",
    why: /^empty_response$/,
  },
  { name: "nothing at all, twice", answers: [EMPTY, EMPTY], status: "incomplete", why: /^empty_response$/ },
  {
    name: "cut by its token limit",
    answers: [{ pieces: [THOUGHT, HALF], ending: "length" }],
    status: "incomplete",
    why: /^(?:max_output_tokens|max_tokens)$/,
  },
  {
    name: "refused by a filter",
    answers: [{ pieces: [HALF], ending: "refusal" }],
    status: "incomplete|failed",
    why: /content_filter|refusal|refused/,
  },
  {
    name: "failed in its stream",
    answers: [{ pieces: [THOUGHT, HALF], ending: "error" }],
    status: "failed",
    why: /error|broken/,
  },
  {
    name: "cut in its stream",
    answers: [{ pieces: [THOUGHT, HALF], ending: "stop" }],
    share: 0.6,
    status: "failed",
    why: /stream_cut/,
  },
];

describe.each(SPEAKERS.map((speaker) => [speaker.dialect, speaker] as const))("%s", (_dialect, speaker) => {
  const framesOf = ({ answers, share = 1 }: Case): readonly (readonly string[])[] =>
    answers.map((answer) => {
      const frames = speaker.frames(answer);
      return frames.slice(0, Math.ceil(frames.length * share));
    });

  test.each(CASES)(
    "$name: the turn has its own end state, and the next request differs and is accepted",
    async (one) => {
      const before = emulator.exchanges.length;
      const wire = new Wire(framesOf(one));
      const session = await open(speaker, wire, 0);
      const { status, reason, error } = await session.send("Hello").result();
      expect(status).toMatch(new RegExp(`^(?:${one.status})$`));
      expect(`${reason ?? ""}${error?.code ?? ""}`).toMatch(one.why);
      expect(wire.bodies).toHaveLength(one.answers.length);
      expect(await session.send("Hello again").result()).toMatchObject({ status: "completed" });
      expect(new Set(wire.bodies).size).toBe(wire.bodies.length);
      expect(refusedSince(before)).toEqual([]);
      const ends: LoggedEvent[] = [];
      for await (const event of session.events()) if (event.type === "turn_end") ends.push(event);
      expect(ends).toHaveLength(2);
      await session.close();
    },
  );

  test.each([
    ["only a thought", ONLY_THOUGHT],
    ["nothing at all", EMPTY],
  ])("%s: the turn sends one more, different request and gets an answer", async (_name, answer) => {
    const before = emulator.exchanges.length;
    const wire = new Wire([speaker.frames(answer)]);
    const session = await open(speaker, wire, 0);
    expect(await session.send("Hello").result()).toMatchObject({ status: "completed", steps: 2 });
    expect(new Set(wire.bodies).size).toBe(2);
    expect(refusedSince(before)).toEqual([]);
    await session.close();
  });

  test("a call that lost the event with its name: the answer counts as cut, is requested again, and no request holds the call", async () => {
    const before = emulator.exchanges.length;
    const call = {
      kind: "call",
      id: "call_lost",
      name: "get_weather",
      arguments: '{"city":"Paris"}',
    } as const;
    const frames = speaker.frames({ pieces: [call], ending: "calls" });
    // In a chat the name has its own event, which can be lost; in other dialects only the name itself can be lost.
    const lost =
      speaker.dialect === "openai-chat"
        ? frames.filter((frame) => !frame.includes("get_weather"))
        : frames.map((frame) => frame.replaceAll("get_weather", ""));
    expect(lost).not.toEqual(frames);
    const wire = new Wire([lost]);
    const session = await open(speaker, wire, 1);
    expect(await session.send("Hello").result()).toMatchObject({ status: "completed", steps: 1 });
    expect(await session.send("Hello again").result()).toMatchObject({ status: "completed" });
    expect(wire.bodies.filter((body) => body.includes("call_lost") || body.includes('"name":""'))).toEqual(
      [],
    );
    const history: LoggedEvent[] = [];
    for await (const event of session.events()) history.push(event);
    expect(history.filter(({ type }) => type === "tool_call")).toEqual([]);
    expect(history.find(({ type }) => type === "response_end")).toMatchObject({
      error: { code: "bad_event", class: "TRUNC" },
    });
    expect(refusedSince(before)).toEqual([]);
    await session.close();
  });
});
