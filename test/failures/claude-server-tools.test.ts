/** Calls that Claude runs itself and their results: sent together or not at all (rule M24, C19). */

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { ReplayOverride, Settings } from "../../src/base/events/index.ts";
import { Fold, planOf } from "../../src/runtime/fold/index.ts";
import { anthropicMessages } from "../../src/runtime/providers/anthropic-messages/index.ts";
import { runs } from "../support/runs.ts";
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
import { CLAUDE, ClaudeLog } from "./claude-log.ts";
import { echoTool, type Json } from "./harness.ts";

const search = serverUse("srvtoolu_1", "web_search");
const found = serverResult("srvtoolu_1", "web_search_tool_result");
const code = serverUse("srvtoolu_c", "code_execution");
const ran = serverResult("srvtoolu_c", "code_execution_tool_result");
const byCode = { caller: { type: "code_execution_20260120", tool_id: "srvtoolu_c" } };
const container = { delta: { container: { id: "container_1", expires_at: "2030-01-01T00:00:00Z" } } };
const BOUND: Settings = { ...CLAUDE, profile: { ...CLAUDE.profile, prefixBound: true } };

/** The messages of a request that breaks no rule. */
function sent(log: ClaudeLog, settings?: Settings): readonly string[] {
  expect(log.render(settings).violations).toEqual([]);
  return messagesOf(log.body(settings));
}

describe("a call without its result", () => {
  test("is sent while the request ends with it, and omitted once the user speaks", () => {
    const log = new ClaudeLog().user().answer([text("Looking."), search], { stop: "pause_turn" });
    expect(sent(log)).toEqual(["user: text", "assistant: text server_tool_use"]);
    expect(sent(log.broken())).toEqual(["user: text", "assistant: text server_tool_use"]);
    expect(sent(log.user())).toEqual(["user: text", "assistant: text", "user: text"]);
  });

  test("is sent before results of our own tools, and omitted once the user speaks", () => {
    const log = new ClaudeLog().user().answer([search, toolUse("toolu_1", "x")], { stop: "tool_use" });
    expect(sent(log)).toEqual(["user: text", "assistant: server_tool_use tool_use", "user: tool_result"]);
    expect(sent(log.user())).toEqual([
      "user: text",
      "assistant: tool_use",
      "user: tool_result",
      "user: text",
    ]);
  });

  test("is sent with the next answer if that brings the result", () => {
    const log = new ClaudeLog()
      .user()
      .answer([search], { stop: "pause_turn" })
      .answer([found, text("Found.")])
      .user();
    expect(sent(log)).toEqual([
      "user: text",
      "assistant: server_tool_use",
      "assistant: web_search_tool_result text",
      "user: text",
    ]);
  });

  test("is omitted if the next answer does not bring the result", () => {
    const log = new ClaudeLog()
      .user()
      .answer([text("Looking."), search], { stop: "pause_turn" })
      .answer([text("Never mind.")])
      .user();
    expect(sent(log)).toEqual(["user: text", "assistant: text", "assistant: text", "user: text"]);
  });

  test("is omitted with its late result if the user spoke in between", () => {
    const log = new ClaudeLog()
      .user()
      .answer([text("Looking."), search], { stop: "pause_turn" })
      .user()
      .answer([found, text("Found.")])
      .user();
    expect(sent(log)).toEqual([
      "user: text",
      "assistant: text",
      "user: text",
      "assistant: text",
      "user: text",
    ]);
  });

  test("keeps the thoughts of its message", () => {
    const log = new ClaudeLog()
      .user()
      .answer([thinking("a"), search, thinking("b"), text("Hm.")], { stop: "pause_turn" })
      .user();
    expect(sent(log)).toEqual(["user: text", "assistant: thinking thinking text", "user: text"]);
  });

  test("leaves no thought at the end of a message", () => {
    const log = new ClaudeLog()
      .user()
      .answer([thinking("a"), text("Hm."), thinking("b"), search], { stop: "pause_turn" });
    expect(sent(log)).toEqual(["user: text", "assistant: thinking text thinking server_tool_use"]);
    expect(sent(log.user())).toEqual(["user: text", "assistant: text", "user: text"]);
  });

  test("costs the later thoughts if thoughts are bound to their prefix", () => {
    const before = new ClaudeLog(BOUND)
      .user()
      .answer([thinking("a"), text("Hm."), search])
      .user();
    expect(sent(before)).toEqual(["user: text", "assistant: thinking text", "user: text"]);
    const behind = new ClaudeLog(BOUND)
      .user()
      .answer([thinking("a"), search, thinking("b"), text("Hm.")])
      .user();
    expect(sent(behind)).toEqual(["user: text", "assistant: text", "user: text"]);
  });
});

describe("a result", () => {
  test.each(["advisor_tool_result", "mcp_tool_result", "tomorrow_tool_result"])(
    "%s is sent with its call, field by field",
    (type) => {
      const result = serverResult("srvtoolu_1", type, { content: [text("x")], is_error: false, secret: 1 });
      const log = new ClaudeLog()
        .user()
        .answer([thinking("a"), search, result, text("Found.")])
        .user();
      expect(sent(log)[1]).toBe(`assistant: thinking server_tool_use ${type} text`);
      const [, answer] = log.body()["messages"] as readonly { readonly content: readonly Json[] }[];
      expect(answer?.content[2]).toEqual({
        type,
        tool_use_id: "srvtoolu_1",
        content: [text("x")],
        ...(type === "advisor_tool_result" ? {} : { is_error: false }),
      });
    },
  );

  test("without its call is omitted", () => {
    const log = new ClaudeLog()
      .user()
      .answer([found, text("Found.")])
      .user();
    expect(sent(log)).toEqual(["user: text", "assistant: text", "user: text"]);
  });

  test("of a call of an unknown type is omitted with it", () => {
    const call = { type: "tomorrow_block", id: "srvtoolu_1", input: {} };
    const log = new ClaudeLog()
      .user()
      .answer([call, found, text("Found.")])
      .user();
    expect(sent(log)).toEqual(["user: text", "assistant: text", "user: text"]);
  });

  test("that an earlier version kept as unknown is sent with its call", () => {
    const log = new ClaudeLog()
      .user()
      .answer([search, serverResult("srvtoolu_1", "advisor_tool_result"), text("Found.")])
      .user();
    const earlier = log.events.map((event) =>
      event.type === "hosted_item" && event.itemType === "advisor_tool_result"
        ? { ...event, type: "other_item" as const }
        : event,
    );
    log.events.splice(0, log.events.length, ...earlier);
    expect(sent(log)[1]).toBe("assistant: server_tool_use advisor_tool_result text");
  });
});

test("code that calls our tools continues until its result, over several answers", () => {
  const log = new ClaudeLog().user();
  log.answer([code, toolUse("toolu_1", "a", byCode)], { stop: "tool_use", ...container });
  log.answer([toolUse("toolu_2", "b", { caller: { type: "direct" } })], { stop: "tool_use", ...container });
  const waiting = ["user: text", "assistant: server_tool_use tool_use", "user: tool_result"];
  expect(sent(log)).toEqual([...waiting, "assistant: tool_use", "user: tool_result"]);
  log.answer([ran, text("Done.")], container).user();
  expect(sent(log)).toEqual([
    ...waiting,
    "assistant: tool_use",
    "user: tool_result",
    "assistant: code_execution_tool_result text",
    "user: text",
  ]);
});

test("a call made by an omitted call is sent without its caller", () => {
  const log = new ClaudeLog().user();
  log.answer([code, toolUse("toolu_1", "a", byCode)], { stop: "tool_use", ...container });
  expect(JSON.stringify(log.body())).toContain("code_execution_20260120");
  log.user();
  expect(sent(log)).toEqual(["user: text", "assistant: tool_use", "user: tool_result", "user: text"]);
  expect(JSON.stringify(log.body())).not.toContain("caller");
});

const refused = (log: ClaudeLog, callId: string): ClaudeLog =>
  log.add({
    type: "replay_override",
    what: { kind: "call", callId },
    action: "close_call",
    target: CLAUDE.target,
    cause: { code: "invalid_request_error", message: "no" },
  } satisfies Omit<ReplayOverride, "v" | "seq" | "id" | "at" | "epoch">);

describe("a refused pair", () => {
  test("is omitted, and keeps the thoughts of its message", () => {
    const log = new ClaudeLog()
      .user()
      .answer([thinking("a"), search, found, text("Found.")])
      .user();
    expect(sent(refused(log, "srvtoolu_1"))[1]).toBe("assistant: thinking text");
  });

  test("is omitted over two messages", () => {
    const log = new ClaudeLog()
      .user()
      .answer([text("Looking."), search], { stop: "pause_turn" })
      .answer([found, text("Found.")])
      .user();
    expect(sent(refused(log, "srvtoolu_1"))).toEqual([
      "user: text",
      "assistant: text",
      "assistant: text",
      "user: text",
    ]);
  });

  test("is found by the id of its call, at its place", () => {
    const log = new ClaudeLog()
      .user()
      .answer([text("Looking."), search, found, text("Found.")])
      .user();
    const sources = log.render().sources.filter(({ callId }) => callId === "srvtoolu_1");
    expect(sources.map(({ path, itemType }) => [path, itemType])).toEqual([
      ["messages.1.content.1", "server_tool_use"],
      ["messages.1.content.2", "web_search_tool_result"],
    ]);
  });
});

test("a search that paused and was stopped does not end the session", async () => {
  const stop = new AbortController();
  const { session, server, ask } = await claudeBench((_, request) => {
    if (request === 1) return claudeSays([thinking("a"), text("Looking."), search], { stop: "pause_turn" });
    if (request === 2) {
      stop.abort();
      return { status: 500, json: { type: "error", error: { type: "api_error", message: "Internal" } } };
    }
    return claudeSays([text("Hello.")], { id: `msg_${request}` });
  });
  const { status } = await session.send("Look it up.", { signal: stop.signal }).result();
  expect(status).toBe("cancelled");
  expect(await ask("Never mind.")).toBe("Hello.");
  expect(messagesOf(server.bodies.at(-1))).toEqual(["user: text", "assistant: thinking text", "user: text"]);
});

test("a search that waits alongside one of our tools continues in the same turn", async () => {
  const { server, ask } = await claudeBench(
    (_, request) =>
      request === 1
        ? claudeSays([search, toolUse("toolu_1", "x")], { stop: "tool_use" })
        : claudeSays([found, text("Both found.")], { id: `msg_${request}` }),
    { tools: [echoTool()] },
  );
  expect(await ask("Look it up.")).toBe("Both found.");
  expect(await ask("Thanks.")).toBe("Both found.");
  expect(messagesOf(server.bodies[2]).slice(0, 4)).toEqual([
    "user: text",
    "assistant: server_tool_use tool_use",
    "user: tool_result",
    "assistant: web_search_tool_result text",
  ]);
});

/**
 * Answers of any blocks: calls and results of three ids, in any order, with thoughts, text and our own calls in
 * between.
 */
const id = fc.constantFrom("srvtoolu_1", "srvtoolu_2", "srvtoolu_c");
const block = fc.oneof(
  id.map((one) => serverUse(one, "web_search")),
  fc
    .tuple(id, fc.constantFrom("web_search_tool_result", "tomorrow_tool_result"))
    .map(([one, type]) => serverResult(one, type)),
  fc.constantFrom(text("Hm."), text(" "), thinking("a"), { type: "tomorrow_block", id: "srvtoolu_2" }),
  fc.nat(999).map((n) => toolUse(`toolu_${n}`, "x")),
  fc.nat(999).map((n) => toolUse(`toolu_c${n}`, "x", byCode)),
);
const event = fc.oneof(
  fc.constant("user" as const),
  fc.constant("broken" as const),
  fc.uniqueArray(block, {
    selector: (one) => JSON.stringify([one["type"], one["id"], one["tool_use_id"]]),
    maxLength: 6,
  }),
);

test.each([
  ["anthropic", CLAUDE],
  ["anthropic-bound", BOUND],
])(
  "every log of server tools can continue, and its incremental plan equals a rebuilt one (%s)",
  (_, settings) => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (story) => {
        const log = new ClaudeLog(settings).user();
        for (const one of story) {
          if (one === "user") log.user();
          else if (one === "broken") log.broken();
          else
            log.answer(one, {
              stop: one.some(({ type }) => type === "tool_use") ? "tool_use" : "pause_turn",
            });
        }
        const fold = new Fold();
        const renderer = anthropicMessages.createRenderer();
        for (const [index, logged] of log.events.entries()) {
          fold.add([logged]);
          const seen = log.events.slice(0, index + 1);
          const [plan, anew] = [fold.plan(), planOf(seen)];
          if (plan === undefined || anew === undefined) throw new Error("no plan");
          const rendered = renderer.render(plan, { cacheKey: "k", blob: () => undefined });
          const scratch = anthropicMessages
            .createRenderer()
            .render(anew, { cacheKey: "k", blob: () => undefined });
          expect(Buffer.concat(rendered.body).toString()).toBe(Buffer.concat(scratch.body).toString());
          const next = new ClaudeLog(settings);
          next.events.splice(0, next.events.length, ...seen);
          next.user();
          // Ids that another program changed are not judged here.
          const wrong = next.render().violations.filter(({ rule }) => rule !== "M12");
          expect(wrong).toEqual([]);
        }
      }),
      runs(60),
    );
  },
);
