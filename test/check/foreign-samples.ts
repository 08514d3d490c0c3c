/** A good sample of each format of other tools, with the ways in which such files break. */

import { expect } from "vitest";

import type { FormatName } from "../../src/diagnostics/check/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { base, type Json, outputOf, post, scripted, user } from "../emulator/emulator-client.ts";
import {
  agentsSdk,
  aiSdkModel,
  aiSdkUi,
  claudeCode,
  codexRollout,
  langchain,
  langchainChat,
  piAnthropic,
  piResponses,
  type Told,
} from "./foreign-formats.ts";

const SCRIPT = `
steps:
  - output:
      - reasoning: {summary: []}
      - function_call: {name: weather, arguments: {city: Rome}}
  - output:
      - reasoning: {summary: []}
      - message: {text: "It is sunny."}
afterwards: repeat
`;
export const CLAUDE = {
  model: "emu-claude",
  max_tokens: 4096,
  thinking: { type: "adaptive" },
  tools: [{ name: "weather", input_schema: { type: "object" } }],
};
export const HEADERS = { "x-api-key": "sk-test", "anthropic-version": "2023-06-01" };

export async function told(
  dialect: "responses" | "messages",
): Promise<{ readonly emulator: Emulator; readonly told: Told }> {
  const emulator = await scripted(SCRIPT);
  if (dialect === "responses") {
    const ask = user("Weather?");
    const [first, call] = outputOf(await post(emulator, { ...base, input: [ask] })) as [Json, Json];
    const result = { type: "function_call_output", call_id: call["call_id"], output: "sunny" };
    const after = await post(emulator, { ...base, input: [ask, first, call, result] });
    const [second, answer] = outputOf(after) as [Json, Json];
    const story = {
      callId: String(call["call_id"]),
      args: { city: "Rome" },
      items: { first, call, second, answer },
    };
    return { emulator, told: story };
  }
  const ask = { role: "user", content: "Weather?" };
  const one = await post(emulator, { ...CLAUDE, messages: [ask] }, HEADERS, "/messages");
  const [first, call] = one.json["content"] as [Json, Json];
  const result = { type: "tool_result", tool_use_id: call["id"], content: "sunny" };
  const messages = [ask, { role: "assistant", content: [first, call] }, { role: "user", content: [result] }];
  const two = await post(emulator, { ...CLAUDE, messages }, HEADERS, "/messages");
  const [second, answer] = two.json["content"] as [Json, Json];
  return {
    emulator,
    told: { callId: String(call["id"]), args: { city: "Rome" }, blocks: { first, call, second, answer } },
  };
}

type Break = (text: string) => string;
/** Removes the lines, or the elements of an array, whose text matches. */
export const without =
  (pattern: RegExp): Break =>
  (text) => {
    if (!text.startsWith("["))
      return text
        .split("\n")
        .filter((line) => !pattern.test(line))
        .join("\n");
    const values = JSON.parse(text) as unknown[];
    return JSON.stringify(values.filter((value) => !pattern.test(JSON.stringify(value))));
  };
const cutAfter =
  (count: number): Break =>
  (text) => {
    if (!text.startsWith("[")) return `${text.split("\n").slice(0, count).join("\n")}\n`;
    return JSON.stringify((JSON.parse(text) as unknown[]).slice(0, count));
  };
const replaced =
  (pattern: RegExp, value: string): Break =>
  (text) => {
    const changed = text.replace(pattern, value);
    expect(changed).not.toBe(text);
    return changed;
  };
/** One line twice. */
const twice =
  (pattern: RegExp): Break =>
  (text) =>
    text
      .split("\n")
      .flatMap((line) => (pattern.test(line) ? [line, line] : [line]))
      .join("\n");

export interface Sample {
  readonly format: FormatName;
  readonly dialect: "responses" | "messages";
  readonly write: (told: Told) => string;
  readonly version?: string;
  readonly broken: Readonly<Record<string, readonly [rule: string, Break]>>;
}

export const SAMPLES: Readonly<Record<string, Sample>> = {
  "Codex rollout": {
    format: "codex-rollout",
    dialect: "responses",
    write: codexRollout,
    version: "0.166.0",
    broken: {
      "the output is missing": ["R06", without(/function_call_output/)],
      "the call is missing": ["R07", without(/"type":"function_call"/)],
      "reasoning is last": ["R01", cutAfter(9)],
      "an item twice": ["R04", twice(/"type":"message".*"assistant"/)],
      "no ciphertext": ["R03", replaced(/"encrypted_content":"[^"]+"/, '"encrypted_content":null')],
      "a torn line": ["file", (text) => `${text}{"timestamp":"2026-11-`],
      "a line of zeros": ["file", (text) => `${text}${"\0".repeat(64)}\n`],
      "two records on one line": ["file", (text) => text.replace('}\n{"timestamp"', '}{"timestamp"')],
    },
  },
  "pi session of Responses": {
    format: "pi-session",
    dialect: "responses",
    write: piResponses,
    version: "3",
    broken: {
      "the result is missing": ["R06", (text) => relinked(text, /toolResult/)],
      "the thought lost its id": ["R02", replaced(/\\"id\\":\\"rs_[^"\\]+\\",/, "")],
      "the thought lost its ciphertext": [
        "R03",
        replaced(/\\"encrypted_content\\":\\"[^"\\]+\\"/, '\\"encrypted_content\\":null'),
      ],
      "the answer has an id that is too long": [
        "R05",
        replaced(/(\\"id\\":\\"msg_)[^"\\]+/, `$1${"x".repeat(70)}`),
      ],
      "a result twice": ["R07", (text) => doubled(text, /toolResult/)],
    },
  },
  "pi session of Claude": {
    format: "pi-session",
    dialect: "messages",
    write: piAnthropic,
    version: "3",
    broken: {
      "the result is missing": ["M07", (text) => relinked(text, /toolResult/)],
      "only a thought is left of the answer": [
        "M01",
        replaced(/,\{"type":"text","text":"It is sunny."\}/, ""),
      ],
      "a foreign tool id": ["M11", (text) => text.replaceAll(/toolu_[A-Za-z0-9_-]+/g, "functions.weather:0")],
    },
  },
  "Claude Code transcript": {
    format: "claude-code",
    dialect: "messages",
    write: claudeCode,
    version: "2.1.230",
    broken: {
      "the result is missing": ["M07", (text) => relinked(text, /tool_result/)],
      "the call is missing": ["M09", (text) => relinked(text, /"type":"tool_use"/)],
      "a thought is the last line": ["M01", cutAfter(6)],
      "an empty signature": ["M03", replaced(/"signature":"[^"]+"/, '"signature":""')],
      "a torn line": ["file", (text) => `${text}{"parentUuid":"0000`],
    },
  },
  "AI SDK UIMessages": {
    format: "ai-sdk-ui",
    dialect: "responses",
    write: aiSdkUi,
    broken: {
      "a call that never ended": [
        "R06",
        replaced(/"output-available",(\s+"input": \{[^}]*\}),\s+"output": "sunny"/, '"input-available",$1'),
      ],
      "the text is missing, its thought is not": ["R01", (text) => withoutPart(text, "text", 1)],
      "no ciphertext": [
        "R03",
        replaced(/"itemId": "(rs_[^"]+)",\s+"reasoningEncryptedContent": "[^"]+"/, '"itemId": "$1"'),
      ],
    },
  },
  "AI SDK ModelMessages": {
    format: "ai-sdk-model",
    dialect: "responses",
    write: aiSdkModel,
    broken: {
      "the result is missing": ["R06", without(/tool-result/)],
      "the call is missing": ["R07", (text) => withoutContent(text, "tool-call")],
      "reasoning is last": ["R01", (text) => withoutContent(text, "text")],
    },
  },
  "LangChain messages of Claude": {
    format: "langchain",
    dialect: "messages",
    write: langchain,
    broken: {
      "the result is missing": ["M07", without(/"type":"tool"/)],
      "the call is missing": ["M09", without(/"tool_use"/)],
      "an empty signature": ["M03", replaced(/"signature": "[^"]+"/, '"signature": ""')],
    },
  },
  "LangChain constructors": {
    format: "langchain",
    dialect: "responses",
    write: langchainChat,
    broken: {
      "the result is missing": ["Q01", without(/ToolMessage/)],
      "the call is missing": ["Q02", without(/"weather"/)],
      "the user speaks in between": [
        "Q01",
        (text) => {
          const [ask, call, ...rest] = JSON.parse(text) as unknown[];
          return JSON.stringify([ask, call, ask, ...rest]);
        },
      ],
    },
  },
  "Agents SDK items": {
    format: "agents-sdk",
    dialect: "responses",
    write: agentsSdk,
    broken: {
      "the result is missing": ["R06", without(/function_call_result/)],
      "the call is missing": ["R07", without(/"type":"function_call"/)],
      "reasoning is last": ["R01", without(/"role":"assistant"/)],
      "no ciphertext": ["R03", replaced(/"encryptedContent": "[^"]+"/, '"other": 1')],
    },
  },
};

/** Removes a line and attaches its children to its parent, as another tool's clean-up does. */
function relinked(text: string, pattern: RegExp): string {
  const values = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
  const gone = values.find((value) => pattern.test(JSON.stringify(value))) as Json;
  const kept = values.filter((value) => value !== gone);
  const names = "uuid" in gone ? (["uuid", "parentUuid"] as const) : (["id", "parentId"] as const);
  return kept
    .map((value) => (value[names[1]] === gone[names[0]] ? { ...value, [names[1]]: gone[names[1]] } : value))
    .map((value) => `${JSON.stringify(value)}\n`)
    .join("");
}

/** A pi entry written twice, the second below the first. */
function doubled(text: string, pattern: RegExp): string {
  const values = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
  return values
    .flatMap((value) =>
      pattern.test(JSON.stringify(value))
        ? [value, { ...value, id: "eeeeeeee", parentId: value["id"] }]
        : [value],
    )
    .map((value, n, all) => (all[n - 1]?.["id"] === "eeeeeeee" ? { ...value, parentId: "eeeeeeee" } : value))
    .map((value) => `${JSON.stringify(value)}\n`)
    .join("");
}

export function withoutPart(text: string, type: string, message: number): string {
  const values = JSON.parse(text) as Json[];
  return JSON.stringify(
    values.map((value, n) =>
      n === message
        ? { ...value, parts: (value["parts"] as Json[]).filter((part) => part["type"] !== type) }
        : value,
    ),
  );
}

function withoutContent(text: string, type: string): string {
  const values = JSON.parse(text) as Json[];
  return JSON.stringify(
    values.map((value) =>
      Array.isArray(value["content"])
        ? { ...value, content: (value["content"] as Json[]).filter((part) => part["type"] !== type) }
        : value,
    ),
  );
}
