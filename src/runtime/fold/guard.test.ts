import { describe, expect, test } from "vitest";

import { HOME, LogBuilder, settingsWith } from "../../../test/contracts/log-builder.ts";
import type { Origin, ReplayPolicy, ResponseStatus, Settings } from "../../base/events/index.ts";
import type { RawJson } from "../../base/support/index.ts";
import { planOf } from "./fold.ts";
import type { PlannedGroup } from "./plan.ts";

const FULL = [
  { type: "reasoning" },
  { type: "message", text: "hello" },
  { type: "call", callId: "call_1" },
] as const;

/** type: action reason, for each item of a group. */
function decisions(log: LogBuilder, settings?: Settings, index = 0): readonly string[] {
  return (groups(log, settings)[index]?.items ?? []).map(
    ({ event, action, reason }) => `${event.type}: ${action} ${reason}`,
  );
}

function groups(log: LogBuilder, settings?: Settings): readonly PlannedGroup[] {
  return (planOf(log.events, settings)?.entries ?? []).filter((entry) => entry.kind === "group");
}

const start = (): LogBuilder => new LogBuilder().settings().user("hi");

describe("the close table", () => {
  test("replays a completed group whole, verbatim, with its ids", () => {
    const log = start().respond({ items: FULL }).result("call_1");
    expect(decisions(log)).toEqual([
      "reasoning: replay same_origin",
      "assistant_message: replay same_origin",
      "tool_call: replay same_origin",
    ]);
    expect(groups(log)[0]).toMatchObject({ withIds: true, results: [{ callId: "call_1", text: "done" }] });
  });

  test("sends finished text and calls of an incomplete group as plain meaning, without reasoning or ids; its calls are cut off", () => {
    const log = start().respond({ items: FULL, status: "incomplete" });
    expect(decisions(log)).toEqual([
      "reasoning: omit response_incomplete",
      "assistant_message: translate response_incomplete",
      "tool_call: translate response_incomplete",
    ]);
    expect(groups(log)[0]).toMatchObject({
      withIds: false,
      results: [{ callId: "call_1", text: "not executed: the response was cut off" }],
    });
  });

  test("omits an incomplete group that has only reasoning", () => {
    expect(decisions(start().respond({ items: [{ type: "reasoning" }], status: "incomplete" }))).toEqual([
      "reasoning: omit response_incomplete",
    ]);
  });

  test.each<[ResponseStatus | "open", string]>([
    ["failed", "response_failed"],
    ["cancelled", "response_cancelled"],
    ["cut", "response_cut"],
    ["open", "response_open"],
  ])("omits a group that is %s as a whole, including its calls and results", (status, reason) => {
    const log = start().respond({ items: FULL, status }).result("call_1");
    expect(decisions(log)).toEqual([
      `reasoning: omit ${reason}`,
      `assistant_message: omit ${reason}`,
      `tool_call: omit ${reason}`,
    ]);
    expect(groups(log)[0]?.results).toEqual([]);
  });

  test("lets a later attempt of the same step supersede one that could have been sent", () => {
    const log = start()
      .respond({ items: FULL, step: 1 })
      .respond({ items: [{ type: "message", text: "again" }], step: 1, attempt: 2 });
    expect(decisions(log)).toEqual([
      "reasoning: omit superseded",
      "assistant_message: omit superseded",
      "tool_call: omit superseded",
    ]);
    expect(decisions(log, undefined, 1)).toEqual(["assistant_message: replay same_origin"]);
  });

  test("does not let the same step number of another turn supersede anything", () => {
    const log = start()
      .respond({ items: FULL, step: 1 })
      .user("next")
      .respond({ items: [{ type: "message", text: "b" }], step: 1 });
    expect(decisions(log)[0]).toBe("reasoning: replay same_origin");
  });
});

describe("items of another origin are sent as plain meaning, never with their payloads", () => {
  const others: readonly (readonly [string, Partial<Origin>, string])[] = [
    ["provider", { provider: "azure" }, "made by openai"],
    ["dialect", { dialect: "openai-chat" }, "made on openai-responses"],
    ["model", { model: "gpt-other" }, "made by gpt-test"],
    ["endpoint", { endpoint: "https://other.test/v1" }, "made at https://example.test/v1"],
    ["account", { credential: "def" }, "made under another account"],
  ];
  test.each(others)("if the %s differs", (_what, change, why) => {
    const log = start().respond({ items: FULL }).result("call_1");
    const target = settingsWith({ target: { ...HOME, ...change } });
    expect(decisions(log, target)).toEqual([
      "reasoning: omit foreign_origin",
      "assistant_message: translate foreign_origin",
      "tool_call: translate foreign_origin",
    ]);
    const [group] = groups(log, target);
    expect(group).toMatchObject({ withIds: false });
    expect(new Set(group?.items.map((item) => item.why))).toEqual(new Set([why]));
  });

  test("and hosted and unknown items are not sent at all", () => {
    const log = start().respond({
      items: [{ type: "hosted" }, { type: "other" }, { type: "message", text: "x" }],
    });
    expect(decisions(log, settingsWith({ target: { ...HOME, model: "other" } }))).toEqual([
      "hosted_item: omit foreign_origin",
      "other_item: omit foreign_origin",
      "assistant_message: translate foreign_origin",
    ]);
  });

  test("and an empty message is sent nowhere", () => {
    const log = start().respond({ items: [{ type: "message", text: "" }] });
    expect(decisions(log)).toEqual(["assistant_message: omit empty"]);
    expect(decisions(log, settingsWith({ target: { ...HOME, model: "other" } }))).toEqual([
      "assistant_message: omit empty",
    ]);
    const refusal = start().respond({ items: [{ type: "message", text: "", refusal: "no" }] });
    expect(decisions(refusal)).toEqual(["assistant_message: replay same_origin"]);
  });
});

const dropped = (reason: string): readonly string[] => [
  `reasoning: omit ${reason}`,
  "assistant_message: replay same_origin",
];

describe("a group loses its ids and its reasoning together", () => {
  const answer = { type: "message", text: "hello" } as const;

  test("if an item lacks an id and another has one", () => {
    const log = start().respond({ items: [{ type: "reasoning" }, { ...answer, id: undefined }] });
    expect(decisions(log)).toEqual(dropped("id_invalid"));
    expect(groups(log)[0]?.withIds).toBe(false);
  });

  test.each([
    ["is too long", `msg_${"x".repeat(61)}`],
    ["has an invalid character", "msg_a.b"],
  ])("if an id %s", (_what, id) => {
    const log = start().respond({ items: [{ type: "reasoning" }, { ...answer, id }] });
    expect(decisions(log)).toEqual(dropped("id_invalid"));
  });

  test("but not if an id has 64 characters", () => {
    const log = start().respond({
      items: [{ type: "reasoning" }, { ...answer, id: `msg_${"x".repeat(60)}` }],
    });
    expect(groups(log)[0]?.withIds).toBe(true);
  });

  test("if an id occurs twice in one response or in two", () => {
    const once = start().respond({
      items: [
        { type: "reasoning", id: "rs_1" },
        { ...answer, id: "msg_1" },
        { ...answer, id: "msg_1" },
      ],
    });
    expect(decisions(once)[0]).toBe("reasoning: omit id_repeated");
    const twice = start()
      .respond({
        items: [
          { type: "reasoning", id: "rs_1" },
          { ...answer, id: "msg_1" },
        ],
      })
      .user("b")
      .respond({
        items: [
          { type: "reasoning", id: "rs_2" },
          { ...answer, id: "msg_1" },
        ],
      });
    expect([decisions(twice)[0], decisions(twice, undefined, 1)[0]]).toEqual([
      "reasoning: replay same_origin",
      "reasoning: omit id_repeated",
    ]);
  });

  test("but not if the endpoint gives no ids at all", () => {
    const log = start().respond({
      items: [
        { type: "reasoning", id: undefined },
        { ...answer, id: undefined },
      ],
    });
    expect(decisions(log)).toEqual([
      "reasoning: replay same_origin",
      "assistant_message: replay same_origin",
    ]);
    expect(groups(log)[0]?.withIds).toBe(false);
  });

  test("but not if the profile accepts reasoning without ids", () => {
    const log = start().respond({ items: [{ type: "reasoning" }, { ...answer, id: "msg_a.b" }] });
    const settings = settingsWith({}, { itemIds: "omit" });
    expect(decisions(log, settings)[0]).toBe("reasoning: replay same_origin");
    expect(groups(log, settings)[0]?.withIds).toBe(false);
  });

  test("but not if only reasoning that nothing follows is omitted", () => {
    const log = start().respond({ items: [answer, { type: "reasoning" }] });
    expect(decisions(log)).toEqual(["assistant_message: replay same_origin", "reasoning: omit no_follower"]);
    expect(groups(log)[0]?.withIds).toBe(true); // no id that is sent refers to it
    const before = settingsWith({}, { omitsAlone: undefined });
    expect(decisions(log, before)).toEqual(decisions(log));
    expect(groups(log, before)[0]?.withIds).toBe(false);
  });

  test("if reasoning lacks a payload, unless the profile accepts that", () => {
    const log = start().respond({ items: [{ type: "reasoning", payload: null }, answer] });
    expect(decisions(log)).toEqual(dropped("no_payload"));
    expect(decisions(log, settingsWith({}, { reasoningPayload: "optional" }))[0]).toBe(
      "reasoning: replay same_origin",
    );
  });

  test("but not if the payload arrived late, which is then the text that is sent", () => {
    const late = '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"late"}' as RawJson;
    const log = start().respond({
      items: [{ type: "reasoning", payload: null, id: "rs_1" }, answer],
      late: [{ outputIndex: 0, item: late }],
    });
    expect(decisions(log)[0]).toBe("reasoning: replay same_origin");
    expect(groups(log)[0]?.items[0]?.item).toBe(late);
  });

  test("if a hosted item after a thought cannot be sent back", () => {
    const log = start().respond({
      items: [{ type: "reasoning" }, { type: "hosted", itemType: "image_generation_call" }, answer],
    });
    expect(decisions(log)).toEqual([
      "reasoning: omit item_not_replayable",
      "hosted_item: omit item_not_replayable",
      "assistant_message: replay same_origin",
    ]);
    expect(groups(log)[0]?.withIds).toBe(false);
  });

  test("if an item after a thought has an unknown type or is an empty message", () => {
    const unknown = start().respond({ items: [{ type: "reasoning" }, { type: "other" }, answer] });
    expect(decisions(unknown)).toEqual([
      "reasoning: omit unknown_type",
      "other_item: omit unknown_type",
      "assistant_message: replay same_origin",
    ]);
    const empty = start().respond({
      items: [{ type: "reasoning" }, { type: "message", text: "" }, { type: "call" }],
    });
    expect(decisions(empty)).toEqual([
      "reasoning: omit empty",
      "assistant_message: omit empty",
      "tool_call: replay same_origin",
    ]);
  });

  test("but not because of a hosted item that can be sent back", () => {
    const log = start().respond({ items: [{ type: "reasoning" }, { type: "hosted" }, answer] });
    expect(decisions(log)).toEqual([
      "reasoning: replay same_origin",
      "hosted_item: replay same_origin",
      "assistant_message: replay same_origin",
    ]);
  });

  test("together with hosted items, which need their ids", () => {
    const log = start().respond({
      items: [{ type: "reasoning" }, { type: "hosted" }, { ...answer, id: undefined }],
    });
    expect(decisions(log)).toEqual([
      "reasoning: omit id_invalid",
      "hosted_item: omit id_invalid",
      "assistant_message: replay same_origin",
    ]);
    const idless = start().respond({
      items: [
        { type: "hosted", id: undefined },
        { ...answer, id: undefined },
      ],
    });
    expect(decisions(idless)[0]).toBe("hosted_item: omit item_not_replayable");
  });

  test("if the model accepts no reasoning, while groups without reasoning keep their ids", () => {
    const log = start()
      .respond({ items: [{ type: "reasoning" }, answer] })
      .user("b")
      .respond({ items: [answer] });
    const settings = settingsWith({ capabilities: { reasoning: false, sampling: true, vision: true } });
    expect(decisions(log, settings)).toEqual(dropped("not_a_reasoning_model"));
    expect(groups(log, settings).map((group) => group.withIds)).toEqual([false, true]);
  });
});

const three = (): LogBuilder =>
  start()
    .respond({ items: [{ type: "reasoning" }, { type: "call", callId: "call_1" }] })
    .result("call_1")
    .respond({ items: [{ type: "reasoning" }, { type: "message", text: "A" }] });

const reasoning = (log: LogBuilder, settings?: Settings): readonly string[] =>
  groups(log, settings).map((group) => group.items[0]?.reason ?? "");

describe("an override omits what an origin refused, only for that origin", () => {
  test.each(["omit_reasoning", "omit_ids"] as const)("with %s of one group", (action) => {
    const log = three().override({ kind: "group", response: "rsp_1" }, action);
    expect(reasoning(log)).toEqual(["override", "same_origin"]);
    expect(groups(log).map((group) => group.withIds)).toEqual([false, true]);
  });

  test("for all groups that existed when it was refused, not for later ones", () => {
    const log = three().override({ kind: "all" }, "omit_reasoning");
    log.user("b").respond({ items: [{ type: "reasoning" }, { type: "message", text: "B" }] });
    expect(reasoning(log)).toEqual(["override", "override", "same_origin"]);
  });

  test("and changes nothing for another origin", () => {
    const log = three().override({ kind: "all" }, "omit_reasoning", { ...HOME, credential: "other" });
    expect(reasoning(log)).toEqual(["same_origin", "same_origin"]);
    expect(planOf(log.events)?.overrides).toEqual([]);
  });

  test("with the result of a closed call and the reasoning of its group", () => {
    const log = three().override({ kind: "call", callId: "call_1" }, "close_call");
    expect(decisions(log)).toEqual(["reasoning: omit override", "tool_call: omit override"]);
    expect(groups(log)[0]?.results).toEqual([]);
  });

  test("and a stripped field is passed on to the renderer", () => {
    const log = three()
      .override({ kind: "field", itemType: "message", field: "phase" }, "strip_field")
      .override({ kind: "field", field: "include" }, "strip_field");
    expect(planOf(log.events)?.strip).toEqual([
      { kind: "field", itemType: "message", field: "phase" },
      { kind: "field", field: "include" },
    ]);
    expect(reasoning(log)).toEqual(["same_origin", "same_origin"]);
  });
});

const four = (): LogBuilder => {
  const log = new LogBuilder().settings();
  log.user("a").respond({ items: [{ type: "reasoning" }, { type: "message", text: "A" }] });
  log.user("b").respond({ items: [{ type: "reasoning" }, { type: "call", callId: "call_b" }] });
  log.result("call_b");
  log.user("runtime says", "runtime");
  return log.respond({
    items: [{ type: "reasoning" }, { type: "reasoning" }, { type: "message", text: "B" }],
  });
};

const kept = (replay: ReplayPolicy): readonly boolean[] =>
  groups(four(), settingsWith({ replay })).map((group) => group.items[0]?.action === "replay");

describe("replay policies keep whole groups, newest first", () => {
  test.each<[string, ReplayPolicy, readonly boolean[]]>([
    ["all", "all", [true, true, true]],
    ["none", "none", [false, false, false]],
    ["since the last message of a person", "since_last_user", [false, true, true]],
    ["3 items", { maxItems: 3 }, [false, true, true]],
    ["2 items: the newest group has both", { maxItems: 2 }, [false, false, true]],
    ["1 item: the newest group has two, and is not halved", { maxItems: 1 }, [false, false, false]],
    ["0 items", { maxItems: 0 }, [false, false, false]],
    ["more than there are", { maxItems: 99 }, [true, true, true]],
  ])("%s", (_what, policy, expected) => {
    expect(kept(policy)).toEqual(expected);
  });

  test("and give the reason for omitted reasoning, whose group has no ids", () => {
    const settings = settingsWith({ replay: "none" });
    expect(decisions(four(), settings)).toEqual([
      "reasoning: omit replay_policy",
      "assistant_message: replay same_origin",
    ]);
    expect(groups(four(), settings).map((group) => group.withIds)).toEqual([false, false, false]);
  });

  test("and groups that cannot be sent anyway do not use up the limit", () => {
    const log = four();
    log.user("c").respond({ items: [{ type: "reasoning" }], status: "cut" });
    log.user("d").respond({
      items: [{ type: "reasoning" }, { type: "message", text: "x" }],
      origin: { ...HOME, model: "other" },
    });
    const settings = settingsWith({ replay: { maxItems: 2 } });
    expect(groups(log, settings)[2]?.items[0]?.action).toBe("replay");
  });
});
