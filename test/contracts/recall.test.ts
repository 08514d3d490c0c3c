/**
 * "Think of a number": the emulated model writes the number only into its thoughts, so a model that can name it later
 * got its thoughts back and the vendor read them. This works on every emulated model that keeps thoughts, in every
 * dialect, and fails on each when the setting that keeps them is removed.
 */

import { describe, expect, test } from "vitest";

import type { ChatProfile, Profile } from "../../src/base/events/index.ts";
import { startEmulator } from "../../src/emulator/index.ts";
import { documentedModelsOf } from "../../src/emulator/model-traits.ts";
import {
  anthropic,
  createAgent,
  memoryStore,
  type Model,
  openai,
  openaiChat,
  PROFILES,
} from "../../src/index.ts";
import { emulatedProfile } from "../../src/runtime/models/index.ts";
import { profileFor } from "../../src/runtime/providers/capabilities.ts";
import { afterTest } from "../support/clean-up.ts";
import { weatherTool } from "../support/weather-tool.ts";

/** These do not think, show no thoughts, or never read the thoughts of an earlier turn. */
const FORGETS: ReadonlySet<string> = new Set([
  "emu-plain",
  "emu-claude-plain",
  "emu-chat",
  "emu-chat-plain",
  "emu-deepseek-old",
  "emu-kimi-k2.5",
]);

const RESPONSES = documentedModelsOf("openai-responses");
const MESSAGES = documentedModelsOf("anthropic-messages");
const CHAT = documentedModelsOf("openai-chat");
const KEEPS = [...RESPONSES, ...MESSAGES, ...CHAT].filter((model) => !FORGETS.has(model));

/** Runs three turns with a tool available. Says whether the model names the number; no request may be refused. */
async function recalled(modelAt: (url: string) => Model): Promise<string> {
  const emulator = await startEmulator();
  afterTest(() => emulator.close());
  const agent = createAgent({ model: modelAt(emulator.url), tools: [weatherTool], permissions: "auto" });
  const session = await agent.open({ store: memoryStore() });
  afterTest(() => session.close());
  let said = "";
  for (const words of ["Think of a number.", "Hello.", "Which number was it?"]) {
    const { status, text } = await session.send(words).result();
    expect(status).toBe("completed");
    said = text;
  }
  expect(emulator.report().totals.refused).toBe(0);
  return said.includes("they came back to me") ? "remembers" : "forgets";
}

function modelOf(model: string, profile: string | Profile = emulatedProfile(model), reasoning = true) {
  const options = { apiKey: "k", profile, ...(reasoning ? {} : { capabilities: { reasoning } }) };
  return (url: string): Model => {
    if (MESSAGES.includes(model)) return anthropic(model, { ...options, baseUrl: url });
    const make = CHAT.includes(model) ? openaiChat : openai;
    return make(model, { ...options, baseUrl: `${url}/v1` });
  };
}

/** The model's profile with this change, under a custom name so that no table adds the field again. */
function without(model: string, change: Partial<ChatProfile>): Profile {
  const profile = profileFor(PROFILES[emulatedProfile(model)] as Profile, model);
  return { ...profile, name: "less", chat: { ...(profile.chat as ChatProfile), ...change } };
}

function chatOf(model: string): ChatProfile {
  return without(model, {}).chat as ChatProfile;
}

describe(`${KEEPS.length} of ${RESPONSES.length + MESSAGES.length + CHAT.length} emulated models keep their thoughts`, () => {
  test.for(KEEPS)("%s remembers the number", async (model) => {
    expect(await recalled(modelOf(model))).toBe("remembers");
  });

  test.for([...FORGETS])("%s has no thoughts to remember it by", async (model) => {
    expect(await recalled(modelOf(model))).toBe("forgets");
  });
});

const CHAT_KEEPS = CHAT.filter((model) => !FORGETS.has(model));
const SWITCHED = CHAT_KEEPS.filter((model) => chatOf(model).keepThoughts !== undefined);

describe(`emulated models forget: ${SWITCHED.length} without their keep switch, ${KEEPS.length} without their reasoning`, () => {
  test("these have a keep switch", () => {
    expect(SWITCHED).toEqual([
      "emu-kimi",
      "emu-kimi-k2.6",
      "emu-glm",
      "emu-qwen",
      "emu-cerebras",
      "emu-fireworks",
      "emu-vllm",
    ]);
  });

  test.for(SWITCHED)("%s forgets without its keep switch", async (model) => {
    const less = without(model, { keepThoughts: undefined });
    expect(await recalled(modelOf(model, less))).toBe("forgets");
  });

  test.for(CHAT_KEEPS)("%s forgets without its reasoning field", async (model) => {
    const less = without(model, { reasoningFields: [] });
    expect(await recalled(modelOf(model, less))).toBe("forgets");
  });

  test.for(KEEPS.filter((model) => !CHAT.includes(model)))(
    "%s forgets when its reasoning is not sent",
    async (model) => {
      expect(await recalled(modelOf(model, undefined, false))).toBe("forgets");
    },
  );

  test("MiniMax without the split thinks inside its text, and gets it back there", async () => {
    const less = without("emu-minimax", { showThoughts: undefined });
    expect(await recalled(modelOf("emu-minimax", less))).toBe("remembers");
  });
});
