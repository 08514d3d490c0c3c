/** Recorded streams of the other dialects: decoded without anything unknown, sent back in a form the rules accept. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { EventDraft, LoggedEvent } from "../../src/base/events/index.ts";
import { planOf } from "../../src/runtime/fold/index.ts";
import { driverOf } from "../../src/runtime/providers/dialects.ts";
import type { StreamEvent } from "../../src/runtime/providers/index.ts";
import { SseDecoder } from "../../src/runtime/wire/index.ts";
import { messagesOf, settingsOf } from "../contracts/dialects/spoken-log.ts";

const root = process.env["THROUGHLINE_FIXTURES"] ?? "";
const FOLDERS = ["anthropic", "openai-chat"] as const;
const present = root !== "" && FOLDERS.every((folder) => existsSync(join(root, folder)));

interface Expected {
  readonly profile: string;
  readonly items: readonly string[];
  /** [input, cached, output, reasoning]. */
  readonly usage: readonly [number, number, number, number];
  /** Part of the assistant's message in the next request. */
  readonly sent: RegExp;
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  "anthropic-clear-thinking.1": {
    profile: "anthropic",
    items: ["thinking", "text"],
    usage: [69, 0, 53, 0],
    sent: /^\{"role":"assistant","content":\[\{"type":"thinking","thinking":"[^"]{10,}","signature":"[\w+/=]{100,}"\},\{"type":"text"/,
  },
  "anthropic-json-tool.1": {
    profile: "anthropic",
    items: ["tool_use"],
    usage: [849, 0, 47, 0],
    sent: /"type":"tool_use","id":"toolu_\w+","name":"json","input":\{/,
  },
  "anthropic-text": {
    profile: "anthropic",
    items: ["text"],
    usage: [12, 0, 30, 0],
    sent: /"type":"text","text":"/,
  },
  "anthropic-tool-no-args": {
    profile: "anthropic",
    items: ["text", "tool_use"],
    usage: [565, 0, 48, 0],
    sent: /"type":"tool_use","id":"toolu_\w+","name":"\w+","input":\{\}/,
  },
  "deepseek-reasoning": {
    profile: "deepseek",
    items: ["reasoning_content", "content"],
    usage: [18, 0, 219, 205],
    sent: /"reasoning_content":".{100,}"/,
  },
  "deepseek-tool-call": {
    profile: "deepseek",
    items: ["reasoning_content", "tool_call"],
    usage: [339, 320, 83, 39],
    sent: /"reasoning_content":".+","tool_calls":\[\{"id":"call_\w+","type":"function","function":\{/,
  },
  "groq-reasoning": {
    profile: "groq",
    items: ["reasoning", "content"],
    usage: [17, 0, 1107, 963],
    sent: /"reasoning":".{100,}"/,
  },
  "mistral-reasoning": {
    profile: "mistral",
    items: ["content_thinking", "content"],
    usage: [10, 0, 46, 0],
    sent: /"content":\[\{"type":"thinking","thinking":\[\{"type":"text","text":"The user is asking/,
  },
  "openai-text": {
    profile: "openai-chat",
    items: ["content"],
    usage: [16, 0, 300, 0],
    sent: /"content":".{100,}"/,
  },
};

function decode(
  dialect: Parameters<typeof driverOf>[0],
  bytes: Buffer,
  size: number,
): readonly StreamEvent[] {
  const sse = new SseDecoder();
  const decoder = driverOf(dialect).createDecoder();
  const events: StreamEvent[] = [];
  for (let at = 0; at < bytes.length; at += size)
    events.push(...decoder.feed(sse.feed(bytes.subarray(at, at + size))));
  return [...events, ...decoder.close()];
}

describe.skipIf(!present)("recorded streams", () => {
  const files = present
    ? FOLDERS.flatMap((folder) => readdirSync(join(root, folder)).map((name) => ({ folder, name })))
    : [];

  test("are all expected here", () => {
    expect(files.map(({ name }) => name.replace(".chunks.txt", "")).toSorted()).toEqual(
      Object.keys(EXPECTED).toSorted(),
    );
  });

  test.each(files)("$name", ({ folder, name }) => {
    const expected = EXPECTED[name.replace(".chunks.txt", "")] as Expected;
    const settings = settingsOf(expected.profile);
    const lines = readFileSync(join(root, folder, name), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "");
    const bytes = Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(""));
    const events = decode(settings.profile.dialect, bytes, 997);
    expect(decode(settings.profile.dialect, bytes, bytes.length)).toEqual(events);
    const drafts = events.flatMap((event) => (event.type === "item_done" ? [event.draft] : []));
    const end = events.flatMap((event) => (event.type === "end" ? [event.end] : []))[0];
    expect(drafts.toSorted((a, b) => a.outputIndex - b.outputIndex).map((draft) => draft.itemType)).toEqual(
      expected.items,
    );
    expect(end?.status).toBe("completed");
    expect(end?.unknown).toBeUndefined();
    const [inputTokens, cachedTokens, outputTokens, reasoningTokens] = expected.usage;
    expect(end?.usage).toEqual({ inputTokens, cachedTokens, outputTokens, reasoningTokens });

    const base = { turn: "tn", response: "rsp_1" };
    const log: EventDraft[] = [
      { type: "user_message", turn: "tn", by: "person", content: [{ type: "text", text: "Hello." }] },
      {
        type: "response_start",
        ...base,
        step: 1,
        attempt: 1,
        origin: settings.target,
        bodyHash: "",
        prefixHash: "",
      },
      ...drafts.map((draft): EventDraft =>
        draft.type === "reasoning"
          ? { ...draft, ...base, startedAt: "", durationMs: 0 }
          : { ...draft, ...base },
      ),
      { type: "response_end", ...base, durationMs: 0, ...(end ?? { status: "cut" }) },
      { type: "user_message", turn: "tn", by: "person", content: [{ type: "text", text: "And now?" }] },
    ];
    const stamped = log.map((draft, seq): LoggedEvent => ({
      v: 1,
      seq,
      id: `ev_${seq}`,
      at: "",
      epoch: 1,
      ...draft,
    }));
    const plan = planOf(stamped, settings);
    if (plan === undefined) throw new Error("no plan");
    const rendered = driverOf(settings.profile.dialect)
      .createRenderer()
      .render(plan, { cacheKey: "r", blob: () => undefined });
    expect(rendered.violations).toEqual([]);
    const assistant = messagesOf(rendered).filter((one) => one["role"] === "assistant");
    expect(assistant.map((one) => JSON.stringify(one)).join("\n")).toMatch(expected.sent);
  });
});
