/** Requests of a client that the emulator has accepted, to break and to send again. */

import { expect } from "vitest";

import { type FormatName, repairHistory, type RepairOptions } from "../../src/diagnostics/check/index.ts";
import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import { chat, messageOf, resultsOf, twoCalls } from "../emulator/chat-client.ts";
import {
  base,
  errorOf,
  type Json,
  outputOf,
  post,
  result,
  scripted,
  user,
} from "../emulator/emulator-client.ts";

const SCRIPT = `
steps:
  - output:
      - reasoning: "**Planning**"
      - function_call: {name: look, arguments: {at: one}}
      - function_call: {name: look, arguments: {at: two}}
  - output:
      - reasoning: "One more."
      - message: {text: "Half way."}
      - function_call: {name: look, arguments: {at: three}}
  - output:
      - reasoning: "**Done**"
      - message: {text: "All done."}
afterwards: repeat
`;

export interface Live {
  readonly emulator: Emulator;
  readonly format: FormatName;
  /** The request without its history. */
  readonly head: Json;
  readonly history: readonly Json[];
  /** The request with another history. */
  body(history: readonly unknown[], head?: Json): string;
  /** Undefined if the emulator accepts the request. */
  refusalOf(text: string): Promise<string | undefined>;
}

/** Breaks a request, and expects that one repair of its history is enough. Returns the repaired history. */
export async function healedAtOnce(
  live: Live,
  broken: string,
  options: RepairOptions & { readonly byError?: boolean },
): Promise<readonly Json[]> {
  const { byError = false, ...given } = options;
  const error = await live.refusalOf(broken);
  expect(error).toBeDefined();
  const { text } = repairHistory(broken, {
    ...given,
    format: live.format,
    scope: "history",
    ...(byError ? { error } : {}),
  });
  expect(await live.refusalOf(text)).toBeUndefined();
  const repaired = JSON.parse(text) as Json;
  return (repaired["input"] ?? repaired["messages"]) as readonly Json[];
}

/** user, rs, fc, fc, out, out, rs, msg, fc, out, rs, msg, user */
export async function liveResponses(options: EmulatorOptions = {}): Promise<Live> {
  const emulator = await scripted(SCRIPT, options);
  const input: Json[] = [user("go")];
  for (let step = 0; step < 3; step += 1) {
    const reply = await post(emulator, { ...base, input });
    expect(reply.status).toBe(200);
    const output = outputOf(reply);
    input.push(
      ...output,
      ...output.filter(({ type }) => type === "function_call").map((call) => result(call)),
    );
  }
  return {
    emulator,
    format: "responses",
    head: base,
    history: [...input, user("more")],
    body: (history, head = base) => JSON.stringify({ ...head, input: history }),
    async refusalOf(text) {
      const reply = await post(emulator, text);
      return reply.status === 200 ? undefined : String(errorOf(reply)["message"]);
    },
  };
}

const TOOLS = [{ name: "look", description: "Looks.", input_schema: { type: "object" } }];
const HEADERS = { "x-api-key": "sk-test", "anthropic-version": "2023-06-01" };

export const ADAPTIVE = {
  model: "emu-claude",
  max_tokens: 4096,
  thinking: { type: "adaptive" },
  tools: TOOLS,
} as const;
export const ENABLED = { ...ADAPTIVE, thinking: { type: "enabled", budget_tokens: 2048 } } as const;

export const blocksOf = (message: Json | undefined): readonly Json[] =>
  (message?.["content"] ?? []) as readonly Json[];

/** user, [think use use], [result result], [think text use], [result], [think text], user */
export async function liveMessages(head: Json = ADAPTIVE): Promise<Live> {
  const emulator = await scripted(SCRIPT);
  const messages: Json[] = [user("go")];
  for (let step = 0; step < 3; step += 1) {
    const reply = await post(emulator, { ...head, messages }, HEADERS, "/messages");
    expect(reply.status).toBe(200);
    const content = reply.json["content"] as readonly Json[];
    const results = content.flatMap(({ type, id }) =>
      type === "tool_use" ? [{ type: "tool_result", tool_use_id: id, content: `done ${String(id)}` }] : [],
    );
    messages.push(
      { role: "assistant", content },
      step < 2 ? { role: "user", content: results } : user("more"),
    );
  }
  return {
    emulator,
    format: "messages",
    head,
    history: messages,
    body: (history, other = head) => JSON.stringify({ ...other, messages: history }),
    async refusalOf(text) {
      const reply = await post(emulator, text, HEADERS, "/messages");
      return reply.status === 200 ? undefined : String(errorOf(reply)["message"]);
    },
  };
}

/** user, [two calls], tool, tool, [answer], user */
export async function liveChat(model: string): Promise<Live> {
  const emulator = await scripted(twoCalls);
  const head = {
    model,
    tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
  };
  const messages: Json[] = [user("go")];
  for (let step = 0; step < 2; step += 1) {
    const reply = await chat(emulator, { ...head, messages });
    expect(reply.status).toBe(200);
    const answer = Object.fromEntries(
      Object.entries(messageOf(reply)).filter(
        ([key, value]) => key !== "refusal" && key !== "annotations" && value !== undefined,
      ),
    );
    messages.push(answer, ...(step === 0 ? resultsOf(answer) : [user("more")]));
  }
  return {
    emulator,
    format: "chat",
    head,
    history: messages,
    body: (history, other = head) => JSON.stringify({ ...other, messages: history }),
    async refusalOf(text) {
      const reply = await chat(emulator, text);
      return reply.status === 200 ? undefined : reply.text;
    },
  };
}
