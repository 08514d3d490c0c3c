import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { StreamEvent } from "../../src/runtime/providers/index.ts";
import { ResponsesDecoder } from "../../src/runtime/providers/openai-responses/index.ts";
import { SseDecoder } from "../../src/runtime/wire/index.ts";
import { conversations, PROMPTS } from "../support/conversation.ts";
import { play } from "../support/play.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";

const QUICK = 300;
const tally = new Tally();
let streams: readonly Buffer[] = [];

/** Streams as the emulator writes them: for every documented prompt, and for conversations with faults. */
beforeAll(async () => {
  const calm = PROMPTS.map((prompt) => ({
    model: "home" as const,
    replay: "all" as const,
    permissions: "auto" as const,
    actions: [{ type: "send" as const, prompt, faults: [] }],
  }));
  const wild = fc.sample(conversations({ maxActions: 4 }), { numRuns: 25, seed: 7 });
  const captured: Buffer[] = [];
  for (const conversation of [...calm, ...wild]) {
    const { sent } = await play(conversation);
    captured.push(...sent.map(({ bytes }) => Buffer.concat(bytes)).filter((bytes) => bytes.length > 0));
  }
  streams = captured;
  tally.add("streams captured", streams.length);
}, 240_000);

afterAll(() => tally.print("any split of the bytes"));

function decode(chunks: readonly Uint8Array[]): readonly StreamEvent[] {
  const frames = new SseDecoder();
  const decoder = new ResponsesDecoder();
  const events = chunks.flatMap((chunk) => [...decoder.feed(frames.feed(chunk))]);
  return [...events, ...decoder.close()];
}

function split(bytes: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** The same stream as another server would frame it. */
interface Framing {
  readonly newline: "\n" | "\r\n" | "\r";
  readonly mark: boolean;
  readonly comments: boolean;
  readonly noSpace: boolean;
  readonly extraFields: boolean;
}

function reframed(bytes: Buffer, framing: Framing): Buffer {
  // A stream cut inside a character must keep its bytes, so the text is handled as bytes throughout.
  let text = bytes.toString("latin1").replaceAll("\r\n", "\n").replace(/^ï»¿/, "");
  if (framing.noSpace) text = text.replaceAll(/^(event|data): /gm, "$1:");
  if (framing.comments) text = text.replaceAll("\n\n", "\n\n: ping\n\n:\n");
  if (framing.extraFields) text = text.replaceAll(/^event:/gm, "id: 7\nretry: 10\nx-unknown: y\nevent:");
  return Buffer.from(`${framing.mark ? "ï»¿" : ""}${text.replaceAll("\n", framing.newline)}`, "latin1");
}

const framings: fc.Arbitrary<Framing> = fc.record({
  newline: fc.constantFrom("\n", "\r\n", "\r"),
  mark: fc.boolean(),
  comments: fc.boolean(),
  noSpace: fc.boolean(),
  extraFields: fc.boolean(),
});

test(
  "any split and any framing of a stream gives the same events",
  () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 12 }),
        framings,
        (pick, sizes, framing) => {
          const bytes = streams[pick % streams.length] ?? Buffer.alloc(0);
          const whole = decode([bytes]);
          expect(decode(split(bytes, sizes))).toEqual(whole);
          tally.add("splits compared");
          // A lone CR at the very end may be half a CRLF: an event cut off right there is not the same stream.
          if (!bytes.subarray(-2).equals(Buffer.from("\n\n"))) return;
          expect(decode(split(reframed(bytes, framing), sizes))).toEqual(whole);
          tally.add("framings compared");
        },
      ),
      runs(QUICK),
    );
    expect(tally.get("framings compared")).toBeGreaterThan(QUICK / 2);
  },
  timeoutFor(QUICK),
);

test(
  "every stream has exactly one end, even when cut anywhere",
  () => {
    for (const bytes of streams) {
      const wrong: unknown[] = [];
      for (let length = 0; length <= bytes.length; length += 1 + Math.floor(bytes.length / 25)) {
        const events = decode([bytes.subarray(0, length)]);
        const ends = events.filter((event) => event.type === "end").length;
        if (ends !== 1 || events.at(-1)?.type !== "end") wrong.push({ length, ends, last: events.at(-1) });
        tally.add("cuts looked at");
      }
      expect(wrong).toEqual([]);
    }
    expect(tally.get("cuts looked at")).toBeGreaterThan(1000);
  },
  timeoutFor(1),
);
