/** A mistyped option of a model or a store must not send prompts and keys to the default host. */

import { expect, test } from "vitest";

import { checkHistory, repairHistory } from "../../diagnostics/check/index.ts";
import { startEmulator } from "../../emulator/index.ts";
import {
  agentTool,
  anthropic,
  builtinTools,
  createAgent,
  emulator,
  fileStore,
  memoryStore,
  modelFrom,
  openai,
  openaiChat,
  PROFILES,
  tool,
} from "../../index.ts";

const given = (value: unknown): never => value as never;

const calls: readonly (readonly [string, () => unknown, string])[] = [
  [
    "openai",
    () => openai("m", given({ baseURL: "http://x" })),
    'unknown option "baseURL"; did you mean "baseUrl"?',
  ],
  ["openai", () => openai("m", given({ temperature: 1 })), 'did you mean "parameters"?'],
  ["openai", () => openai("m", given({ hosted: [] })), 'did you mean "providerTools"?'],
  ["openai", () => openai("m", given({ maxTokens: 5 })), 'did you mean "maxOutputTokens"?'],
  ["openai", () => openai("m", given({ apiKey: 42 })), "apiKey is a number: use a string, or a function"],
  ["openai", () => openai("m", given({ baseUrl: 42 })), "baseUrl is a number: use a string"],
  ["openai", () => openai("m", given({ headers: { a: 1 } })), '"a" must be a string'],
  ["openai", () => openai("m", given({ headers: { a: "x\ny" } })), 'one line of text for "a"'],
  ["openai", () => openai("m", given({ summary: "long" })), 'summary is "long"'],
  ["openai", () => openai("m", given({ maxOutputTokens: 1.5 })), "maxOutputTokens is 1.5"],
  ["openai", () => openai("m", given({ parameters: "x" })), 'parameters is "x": use an object'],
  [
    "openai",
    () => openai("m", given({ capabilities: { contextToken: 1 } })),
    'did you mean "capabilities.contextTokens"?',
  ],
  [
    "openai",
    () => openai("m", given({ profile: { ...PROFILES["openai"], itemId: 1 } })),
    'did you mean "profile.itemIds"?',
  ],
  ["openai", () => openai("m", given({ providerTools: "web_search" })), "providerTools is"],
  ["openai", () => openai(given(42)), "model is 42: use a string"],
  ["openai", () => openai("m", given("key")), 'the options are "key": use an object'],
  [
    "anthropic",
    () => anthropic("m", given({ reasoningContext: "auto" })),
    'unknown option "reasoningContext"',
  ],
  ["openaiChat", () => openaiChat("m", given({ summary: "auto" })), 'unknown option "summary"'],
  ["modelFrom", () => modelFrom("emulator/x", given({ provider: {} })), 'did you mean "providers"?'],
  [
    "modelFrom",
    () =>
      modelFrom("emulator/x", given({ providers: { a: { name: "a", profile: "openai", baseURL: "x" } } })),
    'did you mean "providers.a.baseUrl"?',
  ],
  ["modelFrom", () => modelFrom(given(42)), "name is 42: use a string"],
  ["emulator", () => emulator(given({ pace: 5 })), 'did you mean "paceMs"?'],
  ["emulator", () => emulator(given({ mode: "strikt" })), 'did you mean "strict"?'],
  ["startEmulator", () => startEmulator(given({ prot: 0 })), 'did you mean "port"?'],
  [
    "startEmulator",
    () => startEmulator(given({ switches: { followerTxt: "any" } })),
    'did you mean "switches.followerText"?',
  ],
  [
    "startEmulator",
    () => startEmulator(given({ switches: { followerText: "no" } })),
    'switches.followerText is "no"',
  ],
  [
    "startEmulator",
    () => startEmulator(given({ models: { m: { contextToken: 5 } } })),
    'did you mean "models.m.contextTokens"?',
  ],
  [
    "fileStore",
    () => (fileStore as (folder?: string) => unknown)(),
    'folder is undefined: use the path of a folder, such as fileStore("sessions")',
  ],
  ["fileStore", () => fileStore("x", given({ clok: 1 })), 'did you mean "clock"?'],
  ["memoryStore", () => memoryStore(given({ clock: {} })), "clock is an object"],
  ["memoryStore", () => memoryStore(given("./sessions")), 'the options are "./sessions"'],
  ["builtinTools", () => builtinTools(given({ dir: "." })), 'did you mean "cwd"?'],
  ["builtinTools", () => builtinTools(given({})), "cwd is undefined: use a string"],
  ["checkHistory", () => checkHistory("[]", given({ fromat: "x" })), 'did you mean "format"?'],
  [
    "repairHistory",
    () => repairHistory("[]", given({ dropReasonig: true })),
    'did you mean "dropReasoning"?',
  ],
];

test.each(calls)("%s refuses what it does not know (%#)", async (name, call, message) => {
  await expect(async () => await call()).rejects.toMatchObject({
    code: "options_invalid",
    message: expect.stringContaining(message) as unknown,
  });
  await expect(async () => await call()).rejects.toThrow(`${name}: `);
});

test("tool and agentTool refuse an unknown option as tool_invalid", () => {
  const options = { name: "a", description: "A", input: { type: "object" } };
  expect(() => tool(given({ ...options, execute: () => 1 }))).toThrow(
    expect.objectContaining({
      code: "tool_invalid",
      message: 'tool: unknown option "execute"; did you mean "run"?',
    }),
  );
  const agent = createAgent({ model: emulator() });
  expect(() => agentTool(given({ ...options, agent, maxDept: 1 }))).toThrow(
    expect.objectContaining({
      code: "tool_invalid",
      message: expect.stringContaining('"maxDepth"?') as unknown,
    }),
  );
});

test("an address that is not one keeps its own code", () => {
  expect(() => openai("m", { baseUrl: "nope" })).toThrow(
    expect.objectContaining({ code: "base_url_invalid" }),
  );
  expect(() => openai("m", { effort: given("hgih") })).toThrow(
    expect.objectContaining({
      code: "effort_unknown",
      message: expect.stringContaining('did you mean "high"?') as unknown,
    }),
  );
});

test("every built-in profile passes the check of custom profiles", () => {
  for (const profile of Object.values(PROFILES))
    expect(() => openai("m", { profile, apiKey: "k" })).not.toThrow();
});
