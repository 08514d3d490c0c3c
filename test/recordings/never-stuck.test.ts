/**
 * Law 6 with real provider answers: whatever an answer was, and wherever it broke off, the next message is accepted.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { EXHAUSTIVE, PATIENCE_MS } from "../exhaustive/how-much.ts";
import { Tally } from "../support/runs.ts";
import { StrictProvider } from "../support/strict-provider/strict-provider.ts";
import { cuts, oneMore, PLAIN_SPEAKERS, type Speaker } from "./never-stuck.ts";
import { CHAT_ANSWERS } from "./odd-answers/chat.ts";
import { CLAUDE_ANSWERS } from "./odd-answers/claude.ts";
import { RESPONSES_ANSWERS } from "./odd-answers/responses.ts";

let provider: StrictProvider;
beforeAll(async () => {
  provider = await StrictProvider.start();
});
const tally = new Tally();
afterAll(async () => {
  tally.print("one more message after an answer, whole or cut");
  await provider.close();
});

interface Case {
  readonly name: string;
  readonly speaker: Speaker;
  readonly answers: readonly (readonly string[])[];
}

const CLAUDE: Speaker = { dialect: "anthropic-messages", model: "claude-opus-5", profile: "anthropic" };
const GPT: Speaker = { dialect: "openai-responses", model: "gpt-5", profile: "openai" };

const ODD: readonly Case[] = [
  ...Object.entries(CLAUDE_ANSWERS).map(([name, answers]) => ({
    name: `Claude: ${name}`,
    speaker: CLAUDE,
    answers,
  })),
  ...Object.entries(RESPONSES_ANSWERS).map(([name, answers]) => ({
    name: `Responses: ${name}`,
    speaker: GPT,
    answers,
  })),
  // On xAI, undeclared custom calls are the server's own.
  ...["a custom call by a very long name"].map((name) => ({
    name: `xAI: ${name}`,
    speaker: { ...GPT, model: "grok-odd", profile: "xai" },
    answers: RESPONSES_ANSWERS[name] ?? [],
  })),
  ...Object.entries(CHAT_ANSWERS).map(([name, { profile, answers }]) => ({
    name: `chat: ${name}`,
    speaker: { dialect: "openai-chat", model: "chat-odd", profile } as const,
    answers,
  })),
];

const root = process.env["THROUGHLINE_FIXTURES"] ?? "";
const RECORDED: readonly Case[] = [
  ...recorded("anthropic", () => CLAUDE),
  ...recorded("openai-responses", (name) => ({
    ...GPT,
    profile: name.startsWith("xai") ? "xai" : name.startsWith("lmstudio") ? "open-responses" : "openai",
  })),
  ...recorded("openai-chat", (name) => ({
    dialect: "openai-chat",
    model: "chat-recorded",
    profile: name.startsWith("openai") ? "openai-chat" : (name.split("-")[0] ?? ""),
  })),
];

function recorded(folder: string, speaker: (name: string) => Speaker): readonly Case[] {
  const path = join(root, folder);
  if (root === "" || !existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => name.endsWith(".chunks.txt"))
    .map((name) => ({
      name,
      speaker: speaker(name),
      answers: answersIn(readFileSync(join(path, name), "utf8")),
    }));
}

/** One list per answer. A few lines of the recordings lack their last brace. */
function answersIn(text: string): readonly (readonly string[])[] {
  const answers: string[][] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    if (answers.length === 0 || line.includes('"response.created"')) answers.push([]);
    answers.at(-1)?.push(isWhole(line) ? line : `${line}}`);
  }
  return answers;
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

const ACCEPTED = { statuses: ["completed", "completed"], refusals: [], errors: [] };

async function expectAccepted(
  speaker: Speaker,
  answers: readonly (readonly string[])[],
  where: string,
): Promise<void> {
  for (const target of [speaker, ...PLAIN_SPEAKERS]) {
    const { statuses, refusals, errors } = await oneMore(provider, speaker, answers, [target, speaker]);
    tally.add(where === "whole" ? "whole answers, with a target" : "cut answers, with a target");
    tally.add("requests that were judged", provider.requests.length);
    expect({ where, target: target.model, statuses, refusals, errors }).toEqual({
      where,
      target: target.model,
      ...ACCEPTED,
    });
  }
}

describe.each([...ODD, ...RECORDED])("$name", ({ speaker, answers }) => {
  test("whole: the next message is accepted at home, in every other dialect, and at home again", async () => {
    await expectAccepted(speaker, answers, "whole");
  });

  test(
    "cut after any event: the next message is still accepted",
    { timeout: EXHAUSTIVE ? PATIENCE_MS : 180_000 },
    async () => {
      for (const [index, events] of answers.entries()) {
        for (const cut of cuts(events)) {
          const played = [...answers.slice(0, index), events.slice(0, cut)];
          await expectAccepted(speaker, played, `answer ${index + 1}, ${cut} of ${events.length} events`);
        }
      }
    },
  );
});

/** Payloads that only their own model can read, wherever they are in an answer. */
const PAYLOAD =
  /"(?:signature|encrypted_content|fingerprint|data|thought_signature|reasoning_content)":"([^"]+)"/g;

/** Why a payload may be omitted, by the laws; docs/replay-rules.md explains each reason. */
const STAYS_BEHIND: Readonly<Record<string, string>> = {
  "Claude: nothing but blank text": "nothing that can be sent follows the thought",
  "Claude: a search that paused twice and failed": "nothing that can be sent follows the last thought",
  "Claude: a pause after an unrequested result": "a result without its call is not sent",
  "Claude: a call before a thought without a follower, then a thought after a search":
    "nothing follows the first thought",
  "Claude: a refusal": "a refused answer is not built upon",
  "Claude: another answer in the middle of the first": "the first answer is abandoned",
  "Responses: another answer in the middle of the first": "the first answer is abandoned",
  "chat: another answer in the middle of the first": "the first answer is abandoned",
  "Responses: an item of an invented type": "ids go together, and this one cannot",
  "Responses: an invented call": "ids go together, and this one cannot",
  "Responses: a picture": "it cannot be sent back and follows the thought",
  "Responses: a computer": "it waits for a screenshot that does not exist",
  "Responses: a thought and nothing else": "nothing follows it",
  "Responses: an incomplete answer": "only a completed answer is replayed whole",
};

test.each(ODD.filter(({ name }) => STAYS_BEHIND[name] === undefined))(
  "$name: every payload goes home with the next message",
  async ({ speaker, answers }) => {
    const { bodies } = await oneMore(provider, speaker, answers, [speaker]);
    const issued = [...answers.flat().join("\n").matchAll(PAYLOAD)].map(([, payload]) => payload as string);
    const sent = bodies[0] ?? "";
    expect(issued.filter((payload) => !sent.includes(payload))).toEqual([]);
  },
);

test.each(["Claude", "Responses", "chat"])(
  "%s: of two answers in one stream the second is the answer, with its thought, and no extra request is sent",
  async (dialect) => {
    const found = ODD.find(({ name }) => name === `${dialect}: another answer in the middle of the first`);
    if (found === undefined) throw new Error("no such case");
    const { bodies } = await oneMore(provider, found.speaker, found.answers, [found.speaker]);
    const sent = bodies[0] ?? "";
    expect({
      dead: /Dead|_dead|payload7/.test(sent),
      live: /payload8|Live thought/.test(sent),
    }).toEqual({ dead: false, live: true });
  },
);

test("usage that a server summed over its own searches is not mistaken for the size of the context", async () => {
  const answers = CLAUDE_ANSWERS["usage that was summed over many searches"] ?? [];
  const { compacted } = await oneMore(provider, CLAUDE, answers, [CLAUDE]);
  expect(compacted).toBe(false);
});
