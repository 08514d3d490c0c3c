/** What becomes of the parts of a history that are not plain talk: branches, side chains, compactions, pictures, prompts. */

import { expect, test } from "vitest";

import { readHistory } from "../../src/diagnostics/check/index.ts";
import { importHistory } from "../../src/diagnostics/import/index.ts";
import { anthropic, emulator, type LoggedEvent, memoryStore, openai } from "../../src/index.ts";
import { previewFromLog, rebuildRequest } from "../../src/inspect.ts";

const lines = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");
const item = (payload: unknown): object => ({ type: "response_item", payload });
const said = (text: string): object =>
  item({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const answered = (text: string): object =>
  item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function imported(
  text: string,
): Promise<{ readonly events: readonly LoggedEvent[]; readonly sent: string }> {
  const store = memoryStore();
  const { id } = await importHistory(store, text);
  const log = await store.open(id, { mode: "read" });
  const { body } = await previewFromLog(log, emulator({ model: "emu-chat" }));
  return { events: log.events, sent: body };
}

const talk = (text: string): readonly string[] =>
  readHistory(text).entries.map((entry) => {
    if (entry.kind === "user")
      return `${entry.by}: ${entry.parts.map((part) => ("text" in part ? part.text : part.type)).join("|")}`;
    if (entry.kind === "answer")
      return `${entry.model ?? "?"} (${entry.dialect}, ${entry.status ?? "completed"})`;
    return entry.kind === "result" ? `result: ${entry.text}` : `cut at ${entry.before}: ${entry.summary}`;
  });

test("Codex: what was compacted stays in the session, and requests begin with the replacement", async () => {
  const text = lines(
    { type: "session_meta", payload: { id: "1", cwd: "/w", cli_version: "0.1" } },
    { type: "turn_context", payload: { model: "gpt-5.6" } },
    item({ type: "message", role: "developer", content: [{ type: "input_text", text: "Obey." }] }),
    said("<environment_context>linux</environment_context>"),
    said("The old question"),
    answered("The old answer"),
    {
      type: "compacted",
      payload: {
        message: "",
        replacement_history: [
          { type: "message", role: "user", content: [{ type: "input_text", text: "It was about weather." }] },
        ],
      },
    },
    said("The new question"),
    answered("The new answer"),
  );
  expect(talk(text)).toEqual([
    "person: The old question",
    "gpt-5.6 (openai-responses, completed)",
    "cut at 2: ",
    "runtime: It was about weather.",
    "person: The new question",
    "gpt-5.6 (openai-responses, completed)",
  ]);
  expect(readHistory(text).leftOut).toEqual(["1 developer message", "1 message that Codex adds itself"]);
  const { events, sent } = await imported(text);
  expect(JSON.stringify(events)).toContain("The old answer");
  expect(sent).not.toContain("The old");
  expect(sent).toContain("It was about weather.");
});

test("Codex: a compaction without a replacement is a summary", async () => {
  const { sent } = await imported(
    lines(
      said("Old"),
      answered("Older"),
      { type: "compacted", payload: { message: "We greeted." } },
      said("New"),
      answered("Yes"),
    ),
  );
  expect(sent).toContain("Summary of the conversation so far:\\n\\nWe greeted.");
  expect(sent).not.toContain("Older");
});

const pi = (id: string, parentId: string | null, entry: object): object => ({
  id,
  parentId,
  timestamp: "2026-11-01T10:00:00.000Z",
  ...entry,
});
const piMessage = (id: string, parentId: string | null, message: object): object =>
  pi(id, parentId, { type: "message", message });
const piAnswer = (api: string, model: string, text: string, more: object = {}): object => ({
  role: "assistant",
  api,
  provider: api.startsWith("openai") ? "openai" : "anthropic",
  model,
  content: [
    { type: "thinking", thinking: "hm", thinkingSignature: api.startsWith("anthropic") ? "c2ln" : "" },
    { type: "text", text },
  ],
  ...more,
});

test("pi: every model's answers in their own dialect; other branches are counted; a compaction keeps what it kept", async () => {
  const text = lines(
    { type: "session", version: 3, id: "s", cwd: "/w" },
    piMessage("a", null, { role: "user", content: "One" }),
    piMessage("b", "a", piAnswer("openai-responses", "gpt-5.6", "First")),
    piMessage("x", "b", { role: "user", content: "Abandoned" }),
    piMessage("c", "b", {
      role: "user",
      content: [
        { type: "text", text: "Two" },
        { type: "image", data: PIXEL, mimeType: "image/png" },
      ],
    }),
    piMessage("d", "c", piAnswer("anthropic-messages", "claude-opus-5", "Second", { stopReason: "aborted" })),
    piMessage("e", "d", piAnswer("anthropic-messages", "claude-opus-5", "Third")),
    pi("f", "e", { type: "compaction", summary: "They counted.", firstKeptEntryId: "c" }),
    pi("g", "f", { type: "session_info", name: "Counting" }),
    piMessage("h", "g", { role: "user", content: "Three" }),
  );
  expect(talk(text)).toEqual([
    "person: One",
    "gpt-5.6 (openai-responses, completed)",
    "person: Two|image",
    "claude-opus-5 (anthropic-messages, cancelled)",
    "claude-opus-5 (anthropic-messages, completed)",
    "cut at 2: They counted.",
    "person: Three",
  ]);
  expect(readHistory(text)).toMatchObject({
    leftOut: ["1 message on another branch"],
    title: "Counting",
    cwd: "/w",
  });
  const { events, sent } = await imported(text);
  expect(events.filter(({ type }) => type === "reasoning")).toHaveLength(3);
  expect(sent).toMatch(/They counted\..*Two.*Third.*Three/);
  expect(sent).not.toMatch(/First|Second/);
});

const line = (
  uuid: string,
  parentUuid: string | null,
  type: string,
  content: unknown,
  more: object = {},
): object => ({
  uuid,
  parentUuid,
  type,
  isSidechain: false,
  message: {
    role: type,
    content,
    ...(type === "assistant" ? { id: `msg_${uuid}`, model: "claude-opus-5" } : {}),
  },
  ...more,
});

test("Claude Code: sub-agents, other branches and API errors are counted; compacted lines stay", async () => {
  const text = lines(
    line("1", null, "user", "Old"),
    line("2", "1", "assistant", [{ type: "text", text: "Older" }]),
    { type: "system", subtype: "compact_boundary", uuid: "3", parentUuid: null, logicalParentUuid: "2" },
    line("4", "3", "user", "This session continues.", { isCompactSummary: true }),
    line("5", "4", "user", "New"),
    line("s", null, "user", "Task for a sub-agent", { isSidechain: true }),
    line("e", "5", "assistant", [{ type: "text", text: "API Error" }], { isApiErrorMessage: true }),
    line("o", "5", "assistant", [{ type: "text", text: "Other branch" }]),
    line("6", "5", "assistant", [{ type: "thinking", thinking: "hm", signature: "c2ln" }]),
    line("7", "6", "assistant", [{ type: "text", text: "Yes" }], {
      message: {
        role: "assistant",
        id: "msg_6",
        model: "claude-opus-5",
        content: [{ type: "text", text: "Yes" }],
      },
    }),
    { type: "summary", summary: "A short talk", leafUuid: "7" },
  );
  expect(talk(text)).toEqual([
    "person: Old",
    "claude-opus-5 (anthropic-messages, completed)",
    "cut at 2: ",
    "runtime: This session continues.",
    "person: New",
    "claude-opus-5 (anthropic-messages, completed)",
  ]);
  expect(readHistory(text)).toMatchObject({
    title: "A short talk",
    leftOut: ["1 message of a sub-agent", "1 message on another branch", "1 error message of the API"],
  });
  const { events, sent } = await imported(text);
  expect(events.filter(({ type }) => type === "assistant_message" || type === "reasoning")).toHaveLength(3);
  expect(sent).not.toContain("Older");
});

const PICTURES: Readonly<Record<string, string>> = {
  responses: JSON.stringify({
    input: [
      {
        role: "user",
        content: [
          { type: "input_image", image_url: `data:image/png;base64,${PIXEL}` },
          { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,SGk=" },
        ],
      },
    ],
  }),
  messages: JSON.stringify({
    model: "claude-opus-5",
    max_tokens: 1,
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
          {
            type: "document",
            title: "a.txt",
            source: { type: "text", media_type: "text/plain", data: "Hi" },
          },
        ],
      },
    ],
  }),
  chat: JSON.stringify([
    { role: "system", content: "Obey." },
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
        { type: "file", file: { filename: "a.txt", file_data: "data:text/plain;base64,SGk=" } },
      ],
    },
  ]),
  "ai-sdk-ui": JSON.stringify([
    {
      id: "1",
      role: "user",
      parts: [
        { type: "file", mediaType: "image/png", url: `data:image/png;base64,${PIXEL}` },
        { type: "file", mediaType: "text/plain", filename: "a.txt", url: "data:text/plain;base64,SGk=" },
      ],
    },
  ]),
  "ai-sdk-model": JSON.stringify([
    {
      role: "user",
      providerOptions: {},
      content: [
        { type: "image", image: PIXEL, mediaType: "image/png" },
        { type: "file", mediaType: "text/plain", filename: "a.txt", data: "SGk=" },
      ],
    },
  ]),
  langchain: JSON.stringify([
    {
      type: "human",
      data: {
        content: [
          { type: "image", source_type: "base64", mime_type: "image/png", data: PIXEL },
          { type: "file", source_type: "base64", mime_type: "text/plain", filename: "a.txt", data: "SGk=" },
        ],
      },
    },
  ]),
  "agents-sdk": JSON.stringify([
    {
      role: "user",
      content: [
        { type: "input_image", image: `data:image/png;base64,${PIXEL}` },
        { type: "input_file", filename: "a.txt", file: "data:text/plain;base64,SGk=" },
      ],
    },
    { type: "function_call_result", callId: "c", name: "n", output: "" },
  ]),
};

test.each(Object.entries(PICTURES))("%s: pictures and files keep their bytes", (format, text) => {
  const { format: found, entries } = readHistory(text);
  expect([found, entries[0]]).toEqual([
    format,
    expect.objectContaining({
      parts: [
        { type: "image", mediaType: "image/png", data: PIXEL },
        { type: "file", name: "a.txt", mediaType: "text/plain", data: "SGk=" },
      ],
    }),
  ]);
});

test("attachments that the file only names leave a text in their place, and are counted; links to pictures stay", () => {
  const content = [
    { type: "input_image", file_id: "file-abc" },
    { type: "input_image", image_url: "https://example.org/a.png" },
    { type: "input_file", file_url: "https://example.org/a.pdf" },
  ];
  const { entries, leftOut } = readHistory(
    JSON.stringify({
      instructions: "Obey.",
      tools: [{ type: "function", name: "a" }],
      input: [
        { role: "user", content },
        { type: "item_reference", id: "rs_1" },
      ],
    }),
  );
  expect(entries).toEqual([
    {
      kind: "user",
      by: "person",
      parts: [
        { type: "text", text: "[input_image not in the history]" },
        { type: "image", url: "https://example.org/a.png" },
        { type: "text", text: "[input_file not in the history]" },
      ],
    },
  ]);
  expect(leftOut).toEqual([
    "1 system prompt",
    "1 tool definition",
    "2 attachments without their bytes",
    "1 item that only the server has",
  ]);
});

test("items keep their exact text: numbers, escapes, order and unknown fields", async () => {
  const exact = String.raw`{"type":"reasoning","summary":[],"encrypted_content":"gAAA\u00e9","serial":12345678901234567890,"z":-0}`;
  const { events } = await imported(
    `[{"role":"user","content":"Hi"},${exact},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes"}]}]`,
  );
  expect(events.find(({ type }) => type === "reasoning")).toMatchObject({ item: exact });
});

test("a result that is more than text is kept whole in a blob", async () => {
  const store = memoryStore();
  const content = [
    { type: "text", text: "Seen" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
  ];
  const { id } = await importHistory(
    store,
    JSON.stringify([
      { role: "user", content: "Look" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content }] },
    ]),
  );
  const log = await store.open(id, { mode: "read" });
  const result = log.events.find((event) => event.type === "tool_result");
  expect(result?.text).toBe("Seen\n[image not shown]");
  const bytes = await log.getBlob(result?.blob ?? "");
  expect(JSON.parse(Buffer.from(bytes ?? []).toString())).toEqual(content);
});

const call = (id: string): object => ({
  type: "function_call",
  call_id: id,
  name: "look",
  arguments: "{}",
});
const output = (id: string, text: string): object => ({
  type: "function_call_output",
  call_id: id,
  output: text,
});

test("a history that begins with an answer, repeats call ids, and lost a result and a call", async () => {
  const { events } = await imported(
    JSON.stringify([
      call("a"),
      call("a"),
      call("b"),
      output("a", "one"),
      output("a", "two"),
      output("lost", "three"),
    ]),
  );
  expect(
    events.flatMap((event) =>
      event.type === "tool_result" ? [[event.callId, event.status, event.text.slice(0, 15)]] : [],
    ),
  ).toEqual([
    ["a", "ok", "one"],
    ["a_1", "ok", "two"],
    ["b", "outcome_unknown", "outcome unknown"],
  ]);
  expect(events.find(({ type }) => type === "user_message")).toMatchObject({ by: "runtime" });
  expect(events.find(({ type }) => type === "notice")).toMatchObject({
    code: "imported",
    message: expect.stringContaining("Left out: 1 tool result without its call") as unknown,
  });
});

test("an imported answer has no request to rebuild, and costs nothing", async () => {
  const store = memoryStore();
  const { id } = await importHistory(
    store,
    JSON.stringify([
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
    ]),
  );
  const log = await store.open(id, { mode: "read" });
  await expect(rebuildRequest(log, 1)).rejects.toMatchObject({ code: "request_imported" });
  await expect(previewFromLog(log)).rejects.toMatchObject({ code: "no_settings" });
});

test("only answers of the model that `from` names become its own; a date after the name does not matter", async () => {
  const from = openai("gpt-5.6", { apiKey: "k", baseUrl: "http://127.0.0.1:9/v1" });
  const thought = item({ type: "reasoning", summary: [], encrypted_content: "gAAA" });
  const store = memoryStore();
  const report = await importHistory(
    store,
    lines(
      { type: "turn_context", payload: { model: "gpt-5.6-2026-01-01" } },
      said("One"),
      thought,
      answered("First"),
      { type: "turn_context", payload: { model: "gpt-5.5" } },
      said("Two"),
      thought,
      answered("Second"),
    ),
    { from },
  );
  expect(report).toMatchObject({
    models: ["openai/gpt-5.6", "openai/gpt-5.5"],
    thoughts: 2,
    thoughtsKept: 1,
    thoughtsDropped: { foreign_origin: 1 },
  });
});

test("unknown options and wrong ones are refused", async () => {
  const wrong = [{ form: "chat" }, { format: "msn" }, { from: "openai/gpt-5.6" }];
  for (const options of wrong)
    await expect(importHistory(memoryStore(), "[]", options as never)).rejects.toMatchObject({
      code: "options_invalid",
    });
});

test("what no API takes back is corrected in the session itself", async () => {
  const from = anthropic("emu-claude", { apiKey: "k", baseUrl: "http://127.0.0.1:9" });
  const called = {
    role: "assistant",
    content: [{ type: "tool_use", id: "toolu_1", name: "look", input: {} }],
  };
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] };
  const history = [{ role: "user", content: "Hi" }, called, result, called, result];
  const store = memoryStore();
  const { id } = await importHistory(store, JSON.stringify(history), { from });
  const log = await store.open(id, { mode: "read" });
  expect(log.events.filter(({ type }) => type === "replay_override")).toHaveLength(1);
  expect((await previewFromLog(log)).violations).toEqual([]);
});
