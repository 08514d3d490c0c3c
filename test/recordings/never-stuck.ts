/**
 * Sends one more message after an answer, whatever the answer was: to its own model, to every other dialect, and home
 * again.
 */

import { anthropic, createAgent, type Model, openai, openaiChat } from "../../src/index.ts";
import { EXHAUSTIVE } from "../exhaustive/how-much.ts";
import { instantClock } from "../support/instant-clock.ts";
import { practiceTools } from "../support/practice-tools.ts";
import type { Dialect, StrictProvider } from "../support/strict-provider/strict-provider.ts";

export interface Speaker {
  readonly dialect: Dialect;
  readonly model: string;
  readonly profile: string;
}

export const PLAIN_SPEAKERS: readonly Speaker[] = [
  { dialect: "openai-responses", model: "gpt-other", profile: "openai" },
  { dialect: "anthropic-messages", model: "claude-other", profile: "anthropic" },
  { dialect: "openai-chat", model: "chat-other", profile: "openai-chat" },
];

export function modelOf({ dialect, model, profile }: Speaker, origin: string): Model {
  const apiKey = "key-of-the-test";
  if (dialect === "anthropic-messages") return anthropic(model, { baseUrl: origin, apiKey, profile });
  const baseUrl = `${origin}/v1`;
  return dialect === "openai-responses"
    ? openai(model, { baseUrl, apiKey, profile })
    : openaiChat(model, { baseUrl, apiKey, profile });
}

export interface Outcome {
  readonly statuses: readonly string[];
  readonly refusals: readonly string[];
  readonly errors: readonly string[];
  /** The bodies after the answer, in order. */
  readonly bodies: readonly string[];
  readonly compacted: boolean;
}

/** Plays the answers to a first message, then sends a message to each target in turn. */
export async function oneMore(
  provider: StrictProvider,
  speaker: Speaker,
  answers: readonly (readonly string[])[],
  targets: readonly Speaker[],
): Promise<Outcome> {
  provider.play(...answers);
  const agent = createAgent({
    model: modelOf(speaker, provider.origin),
    tools: practiceTools({ began: () => undefined }),
    permissions: "auto",
    limits: { maxRetries: 0, maxSteps: 6 },
    clock: instantClock(),
  });
  const session = await agent.open();
  await session.send("What is it?").result();
  const before = provider.requests.length;
  const statuses: string[] = [];
  const errors: string[] = [];
  for (const target of targets) {
    await session.setModel(modelOf(target, provider.origin));
    const { status, error } = await session.send("And then?").result();
    statuses.push(status);
    if (error !== undefined) errors.push(error.message);
  }
  let compacted = false;
  for await (const event of session.events()) {
    if (event.type === "compaction") compacted = true;
    if (event.type === "response_end" && event.error?.code === "rule_violation")
      errors.push(event.error.message);
  }
  await session.close();
  return {
    statuses,
    refusals: provider.refusals,
    errors,
    bodies: provider.requests.slice(before).map(({ text }) => text),
    compacted,
  };
}

/**
 * Where a cut of an answer leaves something new: after every event that is not a mere text delta, and after some
 * deltas. All of them with THROUGHLINE_EXHAUSTIVE=1.
 */
export function cuts(events: readonly string[]): readonly number[] {
  return events.flatMap((data, index) => {
    const isPiece =
      /"type":"(?:content_block_delta|response\.[a-z_]+\.delta)"|"object":"chat\.completion\.chunk"/.test(
        data,
      );
    return !EXHAUSTIVE && isPiece && index % 25 !== 0 && index < events.length - 3 ? [] : [index + 1];
  });
}
