import { describe, expect, test } from "vitest";

import { HOME, LogBuilder, settingsWith } from "../../../test/contracts/log-builder.ts";
import { history, KEY, say, scriptedSession, think } from "../../../test/contracts/session-fixture.ts";
import type { Origin, Settings } from "../../base/events/index.ts";
import { explain, planOf } from "../../runtime/fold/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import {
  type Block,
  blocksOf,
  nextRequestWords,
  NO_MARKS,
  type ReasoningBlock,
  ThoughtMarks,
} from "./index.ts";

const isThought = (block: Block): block is ReasoningBlock => block.kind === "reasoning";

const THOUGHT = [{ type: "reasoning" }, { type: "message", text: "so" }] as const;

function told(log: LogBuilder, settings: Settings = settingsWith(), writerAlive = false): unknown {
  const marks = new ThoughtMarks(
    explain(log.events, planOf(log.events, settings)?.entries ?? []),
    settings.target,
  );
  return blocksOf(log.events, { writerAlive })
    .filter(isThought)
    .map((block) => marks.of(block)?.words ?? "goes along");
}

const to = (change: Partial<Origin>): Settings => settingsWith({ target: { ...HOME, ...change } });

describe("a thought that the next request does not carry says why", () => {
  const answered = (): LogBuilder => new LogBuilder().settings().user("go").respond({ items: THOUGHT });

  test.each<[string, LogBuilder, Settings, readonly string[]]>([
    ["home", answered(), settingsWith(), ["goes along"]],
    [
      "another endpoint, whichever model it has",
      answered(),
      to({ endpoint: "https://b.test/v1", model: "other" }),
      ["made for gpt-test at another endpoint"],
    ],
    [
      "another model at the same endpoint",
      answered(),
      to({ model: "other" }),
      ["made by gpt-test, this model cannot read it"],
    ],
    ["another account", answered(), to({ credential: "def" }), ["made under another account"]],
    [
      "another API of the same endpoint",
      answered(),
      to({ dialect: "openai-chat" }),
      ["made for gpt-test through another API"],
    ],
    [
      "a summary that goes along as a note",
      answered().add({
        type: "reasoning",
        turn: "tn_1",
        response: "rsp_1",
        outputIndex: 2,
        itemType: "reasoning",
        opaque: true,
        parts: [{ kind: "summary", text: "Summary" }],
        startedAt: "2026-11-15T10:00:00.000Z",
        durationMs: 1,
        item: "{}" as never,
      }),
      { ...to({ model: "other" }), foreign: "note" },
      [
        "made by gpt-test, this model cannot read it",
        "made by gpt-test, this model cannot read it, its summary goes along as a note",
      ],
    ],
    [
      "an override",
      answered().override({ kind: "group", response: "rsp_1" }, "omit_reasoning"),
      settingsWith(),
      ["refused by the provider, the request was repeated without it"],
    ],
    [
      "a compaction",
      answered().endTurn().add({ type: "compaction", before: 5, summary: "Said." }),
      settingsWith(),
      ["compacted, the summary stands for it"],
    ],
    [
      "a stopped turn",
      new LogBuilder().settings().user("go").respond({ items: THOUGHT, status: "cancelled" }),
      settingsWith(),
      ["the turn was stopped"],
    ],
    [
      "a cut stream and its second attempt",
      new LogBuilder()
        .settings()
        .user("go")
        .respond({ items: THOUGHT, status: "cut" })
        .respond({ items: THOUGHT, step: 1, attempt: 2 }),
      settingsWith(),
      ["the stream was cut, attempt 2 took its place", "goes along"],
    ],
    [
      "a response that failed",
      new LogBuilder().settings().user("go").respond({ items: THOUGHT, status: "failed" }),
      settingsWith(),
      ["the response failed"],
    ],
    [
      "a response that never ended",
      new LogBuilder().settings().user("go").respond({ items: THOUGHT, status: "open" }),
      settingsWith(),
      ["the response never ended"],
    ],
    [
      "nothing behind it",
      new LogBuilder()
        .settings()
        .user("go")
        .respond({ items: [{ type: "reasoning" }] }),
      settingsWith(),
      ["nothing of its response follows"],
    ],
    [
      "no sealed part",
      new LogBuilder()
        .settings()
        .user("go")
        .respond({ items: [{ type: "reasoning", payload: null }, THOUGHT[1]] }),
      settingsWith(),
      ["came without its sealed part"],
    ],
    [
      "an id that is too long",
      new LogBuilder()
        .settings()
        .user("go")
        .respond({ items: [{ type: "reasoning", id: "x".repeat(100) }, THOUGHT[1]] }),
      settingsWith(),
      ["its id cannot be sent back"],
    ],
    [
      "a model without thoughts",
      answered(),
      settingsWith({ capabilities: { reasoning: false, sampling: false, vision: true } }),
      ["this model takes no thoughts"],
    ],
    ["a setting", answered(), settingsWith({ replay: "none" }), ["left out by your replay setting"]],
  ])("%s", (_name, log, settings, words) => {
    expect(told(log, settings)).toEqual(words);
  });

  test("and two items drawn as one thought are not sent if one of them is not", () => {
    const log = new LogBuilder()
      .settings()
      .user("go")
      .respond({
        items: [{ type: "reasoning" }, { type: "reasoning", payload: null }, THOUGHT[1]],
      });
    expect(told(log)).toEqual(["came without its sealed part"]);
  });

  test("and one of which only a part arrived says how its response ended", () => {
    const statuses = ["cancelled", "cut", "failed", "incomplete"] as const;
    const words = statuses.map((status) => {
      const log = new LogBuilder().settings().user("go").respond({ status: "open" });
      const { turn, response } = log;
      log.add({ type: "partial", turn, response, outputIndex: 0, kind: "reasoning", parts: ["half"] });
      log.add({ type: "response_end", turn, response, status, durationMs: 1 });
      if (status === "cut") log.respond({ items: THOUGHT, step: 1, attempt: 2 });
      return told(log);
    });
    expect(words).toEqual([
      ["the turn was stopped"],
      ["the stream was cut, attempt 2 took its place", "goes along"],
      ["the response failed"],
      ["its response was cut off by a limit"],
    ]);
  });

  test("but not while its response is open and a process writes it", () => {
    const log = new LogBuilder().settings().user("go").respond({ items: THOUGHT, status: "open" });
    expect(told(log, settingsWith(), true)).toEqual(["goes along"]);
  });
});

test("the box names the maker, the model in use and when the thought goes along again", () => {
  const log = new LogBuilder().settings().user("go").respond({ items: THOUGHT });
  const marksFor = (change: Partial<Origin>): unknown => {
    const settings = to(change);
    const marks = new ThoughtMarks(
      explain(log.events, planOf(log.events, settings)?.entries ?? []),
      settings.target,
    );
    return blocksOf(log.events, { writerAlive: false })
      .filter(isThought)
      .map((block) => marks.of(block));
  };
  const again = { reason: "foreign_origin", sentAgain: "when you switch back; nothing is lost" };
  expect(marksFor({ endpoint: "https://b.test/v1", model: "other" })).toEqual([
    {
      ...again,
      words: "made for gpt-test at another endpoint",
      madeBy: "gpt-test at example.test, sealed for that endpoint",
      nowInUse: "other at b.test",
    },
  ]);
  expect(marksFor({ endpoint: "https://example.test/v2" })).toEqual([
    {
      ...again,
      words: "made for gpt-test at another endpoint",
      madeBy: "gpt-test at https://example.test/v1, sealed for that endpoint",
      nowInUse: "gpt-test at https://example.test/v2",
    },
  ]);
  expect(marksFor({ credential: "def" })).toEqual([
    {
      ...again,
      words: "made under another account",
      madeBy: "gpt-test at example.test, sealed for the account that asked for it",
      nowInUse: "gpt-test at example.test",
    },
  ]);
});

test("the sentence about the next request counts in words that fit", () => {
  const words = [
    [0, 0],
    [1, 1],
    [3, 3],
    [7, 1],
    [3, 0],
  ].map(([total = 0, going = 0]) => nextRequestWords({ total, going }));
  expect(words).toEqual([
    "",
    "Next request: 1 of 1 thought goes along",
    "Next request: 3 of 3 thoughts go along",
    "Next request: 1 of 7 thoughts goes along",
    "Next request: 0 of 3 thoughts go along",
  ]);
});

const shown = async (handle: Session): Promise<unknown> => {
  const blocks = blocksOf(await history(handle), { writerAlive: true });
  const marks = new ThoughtMarks(await handle.explain(), handle.model.settings.target);
  return [...blocks.filter(isThought).map((one) => marks.of(one)?.words), marks.count(blocks)];
};

test("marks come with a switch to another account and go when the person switches back", async () => {
  const { session, model } = await scriptedSession([
    { output: [think("A"), say("a")] },
    { output: [think("B"), say("b")] },
  ]);
  await session.send("one").result();
  expect(await shown(session)).toEqual([undefined, { total: 1, going: 1 }]);
  await session.setModel(model("emu-reasoner", { apiKey: `${KEY}-other` }));
  expect(await shown(session)).toEqual(["made under another account", { total: 1, going: 0 }]);
  await session.send("two").result();
  await session.setModel(model());
  expect(await shown(session)).toEqual([undefined, "made under another account", { total: 2, going: 1 }]);
});

test("before anything is known, no thought has a mark and none is counted", () => {
  const log = new LogBuilder().settings().user("go").respond({ items: THOUGHT, status: "cancelled" });
  const blocks = blocksOf(log.events, { writerAlive: false });
  expect(blocks.filter(isThought).map((block) => NO_MARKS.of(block))).toEqual([undefined]);
  expect(NO_MARKS.count(blocks)).toEqual({ total: 0, going: 0 });
});
