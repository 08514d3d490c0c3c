/**
 * Plays a random session on the strict provider: odd answers, switches, retries, edits, crashes; then sends one more
 * message to every model.
 */

import fc from "fast-check";

import { codeOf } from "../../../src/base/support/index.ts";
import {
  createAgent,
  type LoggedEvent,
  memoryStore,
  type Session,
  type TurnResult,
} from "../../../src/index.ts";
import { modelOf, PLAIN_SPEAKERS, type Speaker } from "../../recordings/never-stuck.ts";
import { instantClock } from "../instant-clock.ts";
import { onPath, storeWith } from "../play.ts";
import { practiceTools } from "../practice-tools.ts";
import type { StrictProvider } from "../strict-provider/strict-provider.ts";
import { chatAnswer, type ChatSpec, chatSpec } from "./chat.ts";
import { claudeAnswer, type ClaudeSpec, claudeSpec } from "./claude.ts";
import { arriving, Maker } from "./maker.ts";
import { responsesAnswer, type ResponsesSpec, responsesSpec } from "./responses.ts";

const CHAT_PROFILES = [
  "deepseek",
  "moonshot",
  "mistral",
  "openrouter",
  "groq",
  "qwen",
  "generic-chat",
  "openai-chat",
];

type Play =
  | { readonly speaker: Speaker; readonly dialect: "claude"; readonly answers: readonly ClaudeSpec[] }
  | { readonly speaker: Speaker; readonly dialect: "responses"; readonly answers: readonly ResponsesSpec[] }
  | { readonly speaker: Speaker; readonly dialect: "chat"; readonly answers: readonly ChatSpec[] };

export type Step = Play & {
  readonly act: "send" | "retry" | "edit" | "crash";
  readonly pick: number;
};

const answers = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> =>
  fc.array(one, { minLength: 1, maxLength: 3 });

const playing: fc.Arbitrary<Play> = fc.oneof(
  fc.record({
    dialect: fc.constant("claude" as const),
    speaker: fc.constant({
      dialect: "anthropic-messages",
      model: "claude-opus-5",
      profile: "anthropic",
    } as const),
    answers: answers(claudeSpec),
  }),
  fc.record({
    // Not xAI: it gives custom calls without outputs, and the judge is OpenAI's.
    dialect: fc.constant("responses" as const),
    speaker: fc
      .constantFrom("openai", "openai", "open-responses")
      .map((profile) => ({ dialect: "openai-responses", model: `gpt-5-at-${profile}`, profile }) as const),
    answers: answers(responsesSpec),
  }),
  fc.record({
    dialect: fc.constant("chat" as const),
    speaker: fc
      .constantFrom(...CHAT_PROFILES)
      .map((profile) => ({ dialect: "openai-chat", model: `chat-at-${profile}`, profile }) as const),
    answers: answers(chatSpec),
  }),
);

export const steps = (maxLength: number): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc
      .tuple(
        playing,
        fc.constantFrom("send", "send", "send", "retry", "edit", "crash"),
        fc.double({ min: 0, max: 1, noNaN: true }),
      )
      .map(([play, act, pick]): Step => ({ ...play, act, pick })),
    { minLength: 1, maxLength },
  );

export interface Outcome {
  readonly refusals: readonly string[];
  readonly violations: readonly string[];
  /** Results of the turns with odd answers. */
  readonly turns: readonly TurnResult[];
  /** Results of the plain turns at the end: one per dialect, with the last speaker before and after. */
  readonly afterwards: readonly TurnResult[];
  /** Payloads of the last whole turn that did not go home. */
  readonly lost: readonly string[];
  readonly expected: number;
  readonly requests: number;
}

export async function playSteps(provider: StrictProvider, script: readonly Step[]): Promise<Outcome> {
  provider.play();
  const maker = new Maker();
  const clock = instantClock();
  const agent = createAgent({
    model: modelOf((script[0] as Step).speaker, provider.origin),
    tools: practiceTools({ began: () => undefined }),
    permissions: "auto",
    limits: { maxRetries: 0, maxSteps: 6 },
    clock,
  });
  const turns: TurnResult[] = [];
  let session = await agent.open({ id: "s", store: memoryStore({ clock }) });
  let expected: readonly string[] = [];
  for (const step of script) {
    if (step.act === "crash") session = await crashed(agent, session, step.pick);
    await session.setModel(modelOf(step.speaker, provider.origin));
    maker.owed = [];
    const arrivals = step.answers.map((_, index) => arriveOf(step, index, maker));
    provider.playNext(...arrivals.map(({ events }) => events));
    const before = provider.requests.length;
    turns.push(await acted(session, step));
    const used = arrivals.slice(0, provider.requests.length - before);
    const ended = turns.at(-1)?.status === "completed";
    expected = ended ? used.flatMap(({ payloads }) => payloads) : [];
  }
  provider.playNext();
  const last = (script.at(-1) as Step).speaker;
  const afterwards: TurnResult[] = [];
  let home = "";
  for (const speaker of [last, ...PLAIN_SPEAKERS, last]) {
    await session.setModel(modelOf(speaker, provider.origin));
    afterwards.push(await session.send("And then?").result());
    home = provider.requests.at(-1)?.text ?? "";
  }
  const violations: string[] = [];
  for (const event of await eventsOf(session)) {
    if (event.type === "response_end" && event.error?.code === "rule_violation")
      violations.push(event.error.message);
  }
  await session.close();
  return {
    refusals: provider.refusals,
    violations,
    turns,
    afterwards,
    lost: expected.filter((payload) => !home.includes(payload)),
    expected: expected.length,
    requests: provider.requests.length,
  };
}

function arriveOf(step: Step, index: number, maker: Maker): ReturnType<typeof arriving> {
  if (step.dialect === "claude") {
    const spec = step.answers[index] as ClaudeSpec;
    return arriving(spec, () => claudeAnswer(spec, maker));
  }
  if (step.dialect === "responses") {
    const spec = step.answers[index] as ResponsesSpec;
    return arriving(spec, () => responsesAnswer(spec, maker));
  }
  const spec = step.answers[index] as ChatSpec;
  return arriving(spec, () => chatAnswer(spec, maker));
}

async function acted(session: Session, { act, pick }: Step): Promise<TurnResult> {
  const messages = onPath(await eventsOf(session)).filter(
    (event) => event.type === "user_message" && event.by === "person",
  );
  const chosen = messages[Math.min(messages.length - 1, Math.floor(pick * messages.length))];
  if (chosen !== undefined && act === "retry") return session.retry().result();
  if (chosen !== undefined && act === "edit") return session.edit(chosen.seq, "Rather this?").result();
  if (act === "crash" && session.interrupted) {
    try {
      return await session.resume().result();
    } catch (error) {
      if (codeOf(error) !== "nothing_to_resume") throw error;
    }
  }
  return session.send("What is it?").result();
}

/** The session as a crash left it: somewhere near the end of its log. */
async function crashed(
  agent: ReturnType<typeof createAgent>,
  session: Session,
  pick: number,
): Promise<Session> {
  const events = await eventsOf(session);
  await session.close();
  const left = Math.max(1, events.length - Math.floor(pick * Math.min(events.length, 16)));
  return agent.open({ id: "s", store: await storeWith("s", events.slice(0, left)) });
}

async function eventsOf(session: Session): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}
