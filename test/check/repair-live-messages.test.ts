/** Live Anthropic requests: one repair of the refused class is enough, keeps real content and leaves the rest alone. */

import { describe, expect, test } from "vitest";

import { repairHistory } from "../../src/diagnostics/check/index.ts";
import { type Json, user, without } from "../emulator/emulator-client.ts";
import { ADAPTIVE, blocksOf, ENABLED, healedAtOnce, liveMessages } from "./live-requests.ts";

const THINKING = ["M01", "M03", "M04", "M05", "M06"];
const PAIRS = ["M07", "M08", "M09", "M12", "M13"];
const SCHEMA = ["M11", "M14", "M15", "M17", "M18", "M22", "M23", "M25"];

const says = (role: "user" | "assistant", ...content: readonly Json[]): Json => ({ role, content });
const text = (words: string): Json => ({ type: "text", text: words });
const call = (id: string | undefined, input: unknown = {}): Json => ({
  type: "tool_use",
  id,
  name: "look",
  input,
});
const answer = (id: string | undefined, words = `real ${String(id)}`): Json => ({
  type: "tool_result",
  tool_use_id: id,
  content: words,
});
const isThought = ({ type }: Json): boolean => type === "thinking";

/** The messages after a repair of the history alone. */
function repaired(messages: readonly Json[], rules: readonly string[], more: Json = {}): readonly Json[] {
  const body = JSON.stringify({ model: "claude-x", max_tokens: 100, ...more, messages });
  const after = JSON.parse(repairHistory(body, { format: "messages", scope: "history", rules }).text) as Json;
  return after["messages"] as readonly Json[];
}

const changed = (messages: readonly Json[], change: (block: Json) => Json): readonly Json[] =>
  messages.map((message) =>
    Array.isArray(message["content"]) ? { ...message, content: blocksOf(message).map(change) } : message,
  );

describe("every violation of the class is mended at once", () => {
  test.each<[string, readonly string[], (messages: readonly Json[]) => readonly unknown[]]>([
    [
      "thoughts at the end",
      THINKING,
      (messages) =>
        messages.map((message) =>
          message["role"] === "assistant"
            ? says("assistant", ...blocksOf(message).filter(isThought))
            : user("x"),
        ),
    ],
    [
      "thoughts without a signature",
      THINKING,
      (messages) => changed(messages, (block) => without(block, "signature")),
    ],
    [
      "calls without results",
      PAIRS,
      (messages) => messages.filter(({ content }) => !JSON.stringify(content).includes("tool_result")),
    ],
    [
      "results without calls",
      PAIRS,
      (messages) => messages.filter(({ role }) => role !== "assistant").concat(user("x")),
    ],
    [
      "second results",
      PAIRS,
      (messages) =>
        messages.map((message) =>
          message["role"] === "user" && Array.isArray(message["content"])
            ? says("user", ...blocksOf(message), ...blocksOf(message))
            : message,
        ),
    ],
    [
      "tool ids of another form",
      SCHEMA,
      (messages) =>
        changed(messages, (block) =>
          block["type"] === "tool_use"
            ? { ...block, id: `f.${String(block["id"])}` }
            : block["type"] === "tool_result"
              ? { ...block, tool_use_id: `f.${String(block["tool_use_id"])}` }
              : block,
        ),
    ],
    [
      "what serialisers do",
      SCHEMA,
      (messages) => [
        ...changed(messages.slice(0, -1), (block) =>
          block["type"] === "tool_use"
            ? { ...block, input: null, name: "functions.look", index: 0, "x.y": 1 }
            : block["type"] === "text"
              ? { ...block, citations: null, parsed: 1 }
              : block,
        ),
        says("user", text(""), text("more")),
      ],
    ],
  ])("%s", async (_, rules, make) => {
    const live = await liveMessages();
    await healedAtOnce(live, live.body(make(live.history)), { rules });
  });
});

describe("a real result is moved to its call", () => {
  test("from a second message of the user", () => {
    const broken = [
      user("x"),
      says("assistant", call("a"), call("b")),
      says("user", answer("a")),
      says("user", answer("b")),
    ];
    expect(repaired(broken, PAIRS)).toEqual([...broken.slice(0, 2), says("user", answer("a"), answer("b"))]);
  });

  test("from behind a message that interrupts, on the emulator", async () => {
    const live = await liveMessages();
    const { history } = live;
    const broken = [...history.slice(0, 2), says("user", text("wait")), ...history.slice(2)];
    expect(await healedAtOnce(live, live.body(broken), { rules: PAIRS })).toEqual([
      ...history.slice(0, 2),
      says("user", ...blocksOf(history[2]), text("wait")),
      ...history.slice(3),
    ]);
  });

  test("from the message of the call, from an answer and from before the call", () => {
    const inside = [user("x"), says("assistant", call("a"), answer("a"), text("so")), user("y")];
    expect(repaired(inside, [...PAIRS, "M18"])).toEqual([
      user("x"),
      says("assistant", call("a"), text("so")),
      says("user", answer("a"), text("y")),
    ]);
    const before = [user("x"), says("user", answer("a")), says("assistant", call("a")), user("y")];
    expect(repaired(before, PAIRS)).toEqual([
      user("x"),
      says("assistant", call("a")),
      says("user", answer("a"), text("y")),
    ]);
  });

  test("never to an earlier call with the same id", () => {
    const broken = [
      user("x"),
      says("assistant", call("a")),
      user("y"),
      says("assistant", call("a")),
      says("user", answer("a")),
    ];
    const messages = repaired(broken, ["M07"]);
    expect(messages[2]).toMatchObject({ content: [{ is_error: true }, text("y")] });
    expect(messages.slice(3)).toEqual(broken.slice(3));
  });

  test("with the id that its call gets in the same round", () => {
    const broken = [user("x"), says("assistant", call("t.1")), user("wait"), says("user", answer("t.1"))];
    const [, asked, told] = repaired(broken, [...PAIRS, "M11"]);
    expect(told).toEqual(says("user", answer(String(blocksOf(asked)[0]?.["id"]), "real t.1"), text("wait")));
  });

  test("in one round, however many come late", () => {
    const ids = Array.from({ length: 150 }, (_, n) => `c${n}`);
    const asked = says("assistant", ...ids.map((id) => call(id)));
    const late = says("user", text("well"), ...ids.map((id) => answer(id)));
    expect(repaired([user("x"), asked, late], PAIRS)).toEqual([
      user("x"),
      asked,
      says("user", ...ids.map((id) => answer(id)), text("well")),
    ]);
  });
});

describe("calls keep their own results", () => {
  test("if no call of a message has an id", () => {
    const [, asked, told] = repaired(
      [
        user("x"),
        says("assistant", call(undefined, { at: 1 }), call(undefined, { at: 2 })),
        says("user", answer(undefined, "one"), answer(undefined, "two")),
      ],
      ["M11"],
    );
    expect(blocksOf(told).map((block) => block["tool_use_id"])).toEqual(
      blocksOf(asked).map((block) => block["id"]),
    );
    expect(blocksOf(told).map((block) => block["content"])).toEqual(["one", "two"]);
  });

  test("if two different calls of a message have the same id", async () => {
    const live = await liveMessages();
    const { history } = live;
    const [id, other] = blocksOf(history[2]).map((block) => block["tool_use_id"]);
    const same = (block: Json): Json =>
      block["id"] === other
        ? { ...block, id }
        : block["tool_use_id"] === other
          ? { ...block, tool_use_id: id }
          : block;
    const messages = await healedAtOnce(live, live.body(changed(history, same)), { rules: PAIRS });
    expect(blocksOf(messages[2]).map((block) => block["content"])).toEqual(
      blocksOf(history[2]).map((block) => block["content"]),
    );
    expect(blocksOf(messages[1])).toHaveLength(3);
  });

  test("if an id that cannot be sent occurs twice", () => {
    const round = (words: string): readonly Json[] => [
      says("assistant", call("t.1", { at: words })),
      says("user", answer("t.1", words)),
    ];
    const messages = repaired([user("x"), ...round("one"), ...round("two")], ["M11", "M12"]);
    const ids = [1, 3].map((at) => blocksOf(messages[at])[0]?.["id"]);
    expect(new Set(ids).size).toBe(2);
    expect([messages[2], messages[4]]).toEqual([
      says("user", answer(String(ids[0]), "one")),
      says("user", answer(String(ids[1]), "two")),
    ]);
  });

  test("if a call has no arguments", () => {
    const broken = [
      user("x"),
      says("assistant", call("a", null), call("b", "")),
      says("user", answer("a"), answer("b")),
    ];
    expect(repaired(broken, ["M23"])).toEqual([
      user("x"),
      says("assistant", call("a"), call("b")),
      broken[2],
    ]);
  });
});

describe.each([
  ["adaptive", ADAPTIVE],
  ["enabled", ENABLED],
])("with %s thinking, in an open tool loop", (_, head) => {
  test("the last answer loses its thoughts only together with thinking", async () => {
    const live = await liveMessages(head);
    const broken = live.history
      .slice(0, 5)
      .map((message, at) =>
        at === 3
          ? says("assistant", ...blocksOf(message).map((block) => without(block, "signature")))
          : message,
      );
    const messages = await healedAtOnce(live, live.body(broken), { rules: THINKING });
    expect(
      messages.flatMap((message) => (message["role"] === "user" ? [] : blocksOf(message))).some(isThought),
    ).toBe(false);
  });

  test("thoughts that the API misses switch it off, and those it still has go too", async () => {
    const live = await liveMessages(head);
    const broken = live.history
      .slice(0, 5)
      .map((message, at) =>
        at === 3 ? says("assistant", ...blocksOf(message).filter((block) => !isThought(block))) : message,
      );
    await healedAtOnce(live, live.body(broken), { rules: [], byError: true });
  });

  test("a changed thought is mended by its error", async () => {
    const live = await liveMessages(head);
    const broken = live.history
      .slice(0, 5)
      .map((message, at) =>
        at === 3
          ? says(
              "assistant",
              ...blocksOf(message).map((block) => (isThought(block) ? { ...block, thinking: "No." } : block)),
            )
          : message,
      );
    await healedAtOnce(live, live.body(broken), { rules: [], byError: true });
  });
});

test("the latest answer loses all its thoughts or none", async () => {
  const live = await liveMessages();
  const { history } = live;
  const last = blocksOf(history[5]);
  const broken = [...history.slice(0, 5), says("assistant", ...last, last[0] ?? {}), user("more")];
  const messages = await healedAtOnce(live, live.body(broken), { rules: ["M01"] });
  expect(messages[5]).toEqual(says("assistant", ...last.slice(1)));
  expect(messages.toSpliced(5, 1)).toEqual(history.toSpliced(5, 1));
});

describe("the error of the API", () => {
  test("that thinking is disabled costs the thoughts of the whole open turn", async () => {
    const live = await liveMessages();
    const broken = live.body(live.history.slice(0, 5), without(ADAPTIVE, "thinking"));
    const messages = await healedAtOnce(live, broken, { rules: [], byError: true });
    expect(JSON.stringify(messages)).not.toContain('"thinking"');
  });

  test("that the text of a thought is missing mends all of them", async () => {
    const live = await liveMessages();
    const broken = changed(live.history, (block) => (isThought(block) ? without(block, "thinking") : block));
    await healedAtOnce(live, live.body(broken), { rules: [], byError: true });
  });

  test.each([
    "`max_tokens` must be greater than `thinking.budget_tokens`.",
    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    '"thinking.type.enabled" is not supported for this model.',
  ])("about a parameter changes nothing: %s", async (error) => {
    const live = await liveMessages(ENABLED);
    const body = live.body(live.history);
    expect(repairHistory(body, { error })).toMatchObject({ text: body, changes: [] });
  });
});

test("instructions in a role that the API does not know stay", async () => {
  const live = await liveMessages();
  const { history } = live;
  const rule = { role: "developer", content: "Be brief." };
  const messages = await healedAtOnce(live, live.body([...history, rule, user("x")]), { rules: SCHEMA });
  expect(messages).toEqual([...history, { ...rule, role: "system" }, user("x")]);
});

test("as many breakpoints go as are too many", () => {
  const cached = { cache_control: { type: "ephemeral" } };
  const blocks = Array.from({ length: 150 }, (_, n) => ({ ...text(`${n}`), ...cached }));
  const [message] = repaired([says("user", ...blocks)], ["M21"]);
  expect(blocksOf(message).flatMap((block, at) => ("cache_control" in block ? [at] : []))).toEqual([
    146, 147, 148, 149,
  ]);
});
