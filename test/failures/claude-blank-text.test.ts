/** White space in its own block, as Claude writes it between searches (LibreChat-AI/agents#124). */

import { describe, expect, test } from "vitest";

import { anthropic, openai, openaiChat } from "../../src/index.ts";
import {
  claudeBench,
  claudeSays,
  messagesOf,
  serverResult,
  serverUse,
  text,
  thinking,
  toolUse,
} from "./claude-harness.ts";
import { type Answer, echoTool, type Json, KEY, ofType } from "./harness.ts";

/** Refuses what the API refuses, and answers the rest. */
function judged(answer: (request: number) => Answer): (body: Json, request: number) => Answer {
  return (body, request) => {
    for (const { content } of body["messages"] as readonly { readonly content: readonly Json[] }[]) {
      const texts = content.flatMap((block) => (block["type"] === "text" ? [block["text"] as string] : []));
      const refused = texts.includes("")
        ? "messages: text content blocks must be non-empty"
        : texts.length > 0 && texts.every((one) => one.trim() === "")
          ? "messages: text content blocks must contain non-whitespace text"
          : undefined;
      if (refused !== undefined)
        return {
          status: 400,
          json: { type: "error", error: { type: "invalid_request_error", message: refused } },
        };
    }
    return answer(request);
  };
}

describe("an answer with a block of white space", () => {
  const search = [
    serverUse("srvtoolu_1", "web_search"),
    serverResult("srvtoolu_1", "web_search_tool_result"),
  ];
  const answers: Readonly<Record<string, readonly [blocks: readonly Json[], sent: string]>> = {
    "next to text goes back unchanged": [
      [thinking("hm"), text("\n\n"), ...search, text("Found it.")],
      "assistant: thinking text server_tool_use web_search_tool_result text",
    ],
    "and no other text goes back without it": [
      [thinking("hm"), text("\n\n"), ...search, text(" ")],
      "assistant: thinking server_tool_use web_search_tool_result",
    ],
    "and an empty one goes back without both": [
      [text("Look:"), text(""), text(" "), ...search, text("Found it.")],
      "assistant: text text server_tool_use web_search_tool_result text",
    ],
  };
  test.each(Object.entries(answers))("%s", async (_, [blocks, sent]) => {
    const { ask, server } = await claudeBench(
      judged((request) => claudeSays(request === 1 ? blocks : [text("Yes.")], { id: `msg_${request}` })),
    );
    await ask("Look it up.");
    await ask("Are you sure?");
    await ask("Quite?");
    expect(messagesOf(server.bodies[2])[1]).toBe(sent);
  });

  test("before a call keeps its thoughts in the loop", async () => {
    const { ask, server } = await claudeBench(
      judged((request) =>
        request === 1
          ? claudeSays([thinking("hm"), text("\n"), toolUse("toolu_1", "x")], { stop: "tool_use" })
          : claudeSays([text("Done.")], { id: "msg_2" }),
      ),
      { tools: [echoTool()] },
    );
    await ask("Look it up.");
    expect(messagesOf(server.bodies[1])).toEqual([
      "user: text",
      "assistant: thinking tool_use",
      "user: tool_result",
    ]);
  });

  test("and nothing else leaves no thought at the end of a message", async () => {
    const { ask, server } = await claudeBench(
      judged((request) => claudeSays(request === 1 ? [thinking("hm"), text(" ")] : [text("Yes.")])),
    );
    await ask("Look it up.");
    // It is requested once more, as after an answer without any text.
    expect(messagesOf(server.bodies.at(-1))).toEqual(["user: text", "user: text"]);
  });

  test.each([
    ["anthropic-messages", anthropic("claude-haiku-5", { apiKey: KEY, baseUrl: "http://127.0.0.1:9" })],
    ["openai-responses", openai("gpt-5", { apiKey: KEY, baseUrl: "http://127.0.0.1:9/v1" })],
    [
      "openai-chat",
      openaiChat("deepseek-chat", { profile: "deepseek", apiKey: KEY, baseUrl: "http://127.0.0.1:9" }),
    ],
  ])("goes abroad to %s without that block", async (_, model) => {
    const { ask, session } = await claudeBench(() =>
      claudeSays([text("\n\n"), text("Found it."), text(" ")]),
    );
    await ask("Look it up.");
    await session.setModel(model);
    await session.send("Go on.").result();
    const decisions = await session.explain();
    expect(
      decisions
        .filter(({ type }) => type === "assistant_message")
        .map(({ action, reason }) => [action, reason]),
    ).toEqual([
      ["omit", "empty"],
      ["translate", "foreign_origin"],
      ["omit", "empty"],
    ]);
  });
});

test("a user's white space is sent next to text, and omitted next to a picture", async () => {
  const { session, server, log } = await claudeBench(judged(() => claudeSays([text("Yes?")])));
  const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
  await session.send([image, { type: "text", text: " " }]).result();
  await session
    .send([
      { type: "text", text: " " },
      { type: "text", text: "Hello." },
    ])
    .result();
  expect(server.bodies.map((body) => (body["messages"] as readonly Json[]).at(-1)?.["content"])).toEqual([
    [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }],
    [
      { type: "text", text: " " },
      { type: "text", text: "Hello." },
    ],
  ]);
  expect(ofType(await log(), "response_end").map(({ status }) => status)).toEqual(["completed", "completed"]);
});

test("instructions of white space count as none", async () => {
  const { ask, server } = await claudeBench(() => claudeSays([text("Yes?")]), { agent: { system: " \n" } });
  await ask("Hello.");
  expect(server.bodies[0]).not.toHaveProperty("system");
});
