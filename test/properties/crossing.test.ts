/**
 * Random conversations over three dialects and a dozen models, with switches before a turn and in the middle of a tool
 * loop, efforts, cancelled turns, retries and undone messages: every request is accepted, no model's reasoning reaches
 * another, and every model gets back every thought it can still read.
 */

import { createHash } from "node:crypto";

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { type RecordedExchange, startEmulator } from "../../src/emulator/index.ts";
import {
  anthropic,
  createAgent,
  type Effort,
  type LoggedEvent,
  memoryStore,
  type Model,
  openai,
  openaiChat,
  PROFILES,
  type Session,
  type Turn,
} from "../../src/index.ts";
import { emulatedProfile } from "../../src/runtime/models/index.ts";
import { instantClock } from "../support/instant-clock.ts";
import { onPath } from "../support/play.ts";
import { practiceTools } from "../support/practice-tools.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";

const MODELS = [
  "emu-reasoner",
  "emu-reasoner-two",
  "emu-claude",
  "emu-deepseek-old",
  "emu-claude-bound",
  "emu-claude-plain",
  "emu-deepseek",
  "emu-kimi",
  "emu-mistral",
  "emu-groq",
  "emu-router",
  "emu-chat",
  "emu-glm",
  "emu-qwen",
  "emu-minimax",
  "emu-cerebras",
  "emu-vllm",
] as const;

const PROMPTS = [
  "What is the weather in Paris?",
  "What is the weather in Paris and Rome?",
  "What is the weather in Oslo?",
  "Read notes.txt and README.md",
  "Think hard about primes",
  "Hello",
] as const;

const anyModel = fc.constantFrom(...MODELS);
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("send" as const),
      prompt: fc.constantFrom(...PROMPTS),
      /** Switched when the first tool starts: the next step goes to another model. */
      inLoop: fc.option(anyModel, { nil: undefined, freq: 3 }),
      cancelInTool: fc.integer({ min: 0, max: 5 }).map((roll) => roll === 0),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("switch" as const), to: anyModel }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("effort" as const),
      to: fc.constantFrom("off", "low", "high"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("retry" as const, "undo" as const) }) },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

interface Crossed {
  readonly exchanges: readonly RecordedExchange[];
  readonly events: readonly LoggedEvent[];
}

function modelOf(name: string, effort: Effort | undefined, baseUrl: string): Model {
  const profile = emulatedProfile(name);
  const options = {
    baseUrl,
    apiKey: "key-one",
    profile,
    // One issued record over all dialects, given rather than guessed from the text.
    headers: { "x-emulator-conversation": "crossing" },
    ...(effort === undefined ? {} : { effort }),
  };
  const dialect = PROFILES[profile]?.dialect;
  if (dialect === "anthropic-messages")
    return anthropic(name, { ...options, baseUrl: baseUrl.replace(/\/v1$/, "") });
  return dialect === "openai-chat" ? openaiChat(name, options) : openai(name, options);
}

async function converse(first: string, actions: readonly Action[]): Promise<Crossed> {
  const emulator = await startEmulator({ seed: "a crossing", clock: instantClock() });
  let current = first;
  let effort: Effort | undefined;
  let inLoop: (() => void) | undefined;
  const clock = instantClock();
  const store = memoryStore({ clock });
  const agent = createAgent({
    model: modelOf(first, effort, emulator.baseUrl),
    system: "Be brief.",
    tools: practiceTools({ began: () => inLoop?.() }),
    permissions: "auto",
    limits: { maxSteps: 6, toolGraceMs: 1 },
    clock,
  });
  const session: Session = await agent.open({ id: "s", store });
  const use = (): Promise<void> => session.setModel(modelOf(current, effort, emulator.baseUrl));
  const run = async (turn: Turn): Promise<void> => {
    await turn.result();
    inLoop = undefined;
  };
  try {
    for (const one of actions) {
      if (one.type === "switch") current = one.to;
      else if (one.type === "effort") effort = one.to;
      await use();
      const messages: number[] = [];
      for await (const event of session.events({ path: "active" }))
        if (event.type === "user_message" && event.by === "person") messages.push(event.seq);
      if (one.type === "send") {
        const turn = session.send(one.prompt);
        inLoop = () => {
          inLoop = undefined;
          if (one.inLoop !== undefined) {
            current = one.inLoop;
            void use();
          }
          if (one.cancelInTool) turn.cancel();
        };
        await run(turn);
      } else if (one.type === "retry" && messages.length > 0) await run(session.retry());
      else if (one.type === "undo" && messages.length > 1)
        await session.truncateFrom(messages.at(-1) as number);
    }
    const events: LoggedEvent[] = [];
    for await (const event of session.events()) events.push(event);
    await session.close();
    return { exchanges: [...emulator.exchanges], events };
  } finally {
    await emulator.close();
  }
}

const QUICK = 60;
const tally = new Tally();

afterAll(() => tally.print("crossings"));

test(
  "over all dialects every request is accepted, holds nothing foreign, and lacks nothing readable",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        anyModel,
        fc.array(action, { minLength: 3, maxLength: 10 }),
        async (first, actions) => {
          const { exchanges, events } = await converse(first, actions);
          tally.add("conversations");
          const branched = events.some((event) => event.type === "branch");
          let before: string | undefined;
          for (const exchange of exchanges) {
            const { report } = exchange;
            if (report === null) continue;
            const where = `${report.model}, request ${report.request}\n${exchange.requestText}\n${notices(events)}`;
            tally.add(`requests: ${report.dialect}`);
            if (before !== undefined && before !== report.model) tally.add("switches");
            before = report.model;
            expect(report.verdict, `${report.rule}: ${report.message} – ${where}`).toBe("accepted");
            expect(report.foreign, where).toEqual([]);
            expect(report.modified, where).toEqual([]);
            // On another branch the same text may have come with other thoughts; the emulator cannot tell them apart.
            if (!branched) expect(report.missing, where).toEqual([]);
            everyOwnThoughtIsSent(exchange, events, where);
            tally.add("thoughts sent", report.sent.length);
            noForeignPayload(exchange, events);
          }
          expect(events.filter((event) => event.type === "replay_override")).toEqual([]);
        },
      ),
      runs(QUICK),
    );
    // A property that checked nothing must not pass.
    expect(tally.get("switches")).toBeGreaterThan(QUICK);
    expect(tally.get("thoughts sent")).toBeGreaterThan(QUICK);
  },
  timeoutFor(QUICK),
);

/** By the log, not by the emulator: no payload or thought of another origin is in the request. */
function noForeignPayload({ requestText, report }: RecordedExchange, events: readonly LoggedEvent[]): void {
  const starts = new Map(
    events.flatMap((event) => (event.type === "response_start" ? [[event.response, event]] : [])),
  );
  for (const event of events) {
    if (event.type !== "reasoning" || starts.get(event.response)?.origin.model === report?.model) continue;
    for (const secret of secretsIn(event.item)) {
      tally.add("foreign payloads looked for");
      expect(
        requestText.includes(secret),
        `${report?.model} got what ${event.response} made: ${secret}`,
      ).toBe(false);
    }
  }
}

/** By the log: this model's thoughts in completed answers of the active path are in the request. */
function everyOwnThoughtIsSent(
  exchange: RecordedExchange,
  events: readonly LoggedEvent[],
  where: string,
): void {
  const hash = createHash("sha256").update(exchange.requestText).digest("hex");
  const start = events.find((event) => event.type === "response_start" && event.bodyHash === hash);
  expect(start, "the request is not in the log").toBeDefined();
  const model = exchange.report?.model ?? "";
  if (start === undefined || TAKES_NONE_BACK.has(model)) return;
  const path = onPath(events.slice(0, start.seq));
  for (const event of path) {
    if (event.type !== "response_start" || event.origin.model !== model) continue;
    const group = path.filter((one) => "response" in one && one.response === event.response);
    const end = group.find((one) => one.type === "response_end");
    const said = group.some(
      (one) => one.type === "tool_call" || (one.type === "assistant_message" && one.text !== ""),
    );
    if (end?.type !== "response_end" || end.status !== "completed" || !said) continue;
    for (const one of group) {
      if (one.type !== "reasoning") continue;
      const payload =
        secretsIn(one.item)[0] ?? JSON.stringify(one.parts.map((part) => part.text).join("")).slice(1, -1);
      tally.add("own thoughts looked for");
      expect(exchange.requestText.includes(payload), `${payload} is not sent to ${where}`).toBe(true);
    }
  }
}

/** OpenAI's own chat endpoint and the old DeepSeek reasoner accept no reasoning back (V03, §4). */
const TAKES_NONE_BACK: ReadonlySet<string> = new Set(["emu-chat", "emu-deepseek-old"]);

function secretsIn(item: string): readonly string[] {
  const { encrypted_content, signature, data } = JSON.parse(item) as Record<string, unknown>;
  return [encrypted_content, signature, data].filter(
    (value): value is string => typeof value === "string" && value !== "",
  );
}

function notices(events: readonly LoggedEvent[]): string {
  return events
    .map((event) => `${event.seq} ${event.type} ${event.type === "notice" ? event.message : ""}`)
    .join("\n");
}
