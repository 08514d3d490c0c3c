import { describe, expect, test } from "vitest";

import { anyTool, call, history, inputOf, say, think } from "../../../test/contracts/session-fixture.ts";
import { saidIn, steeredSession } from "../../../test/contracts/steer-fixture.ts";
import type { LoggedEvent } from "../../base/events/index.ts";
import { factsOf } from "../facts/index.ts";
import type { Session } from "./index.ts";
import { buildTree, type TreeTurn } from "./session-tree.ts";

/** Two turns: the first was steered by "two", between its tool and its answer. */
async function steered(
  script: Parameters<typeof steeredSession>[1],
  more: Parameters<typeof steeredSession>[0] = {},
) {
  const made = await steeredSession(more, script);
  const joined = made.session.send("two", { whenBusy: "steer", turn: "joined" });
  made.finish();
  const result = await joined.result();
  return { ...made, result };
}

const ANSWERED = [
  { output: [think("A"), call("wait")] },
  { output: [think("B"), say("first")] },
  { output: [say("again")] },
  { output: [say("more")] },
];

async function active(session: Session): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events({ path: "active" })) events.push(event);
  return events;
}

const seqOf = (events: readonly LoggedEvent[], text: string): number =>
  events.find((event) => event.type === "user_message" && JSON.stringify(event.content).includes(text))
    ?.seq ?? -1;

const shape = (turns: readonly TreeTurn[]): readonly unknown[] =>
  turns.map(({ turn, text, why, children }) => [turn, text, why, shape(children)]);

describe("a message that joined a turn", () => {
  test("is part of it for the facts: it counts as no turn, and its id leads to the turn", async () => {
    const { session } = await steered(ANSWERED);
    const facts = factsOf(await history(session));
    expect([...facts.turns.keys()]).toEqual(["first"]);
    expect(facts.turnsEnded).toBe(1);
    expect(facts.steered.get("joined")?.turn).toBe("first");
    expect(facts.lastMessage?.text).toBe("one");
    expect(facts.turns.get("first")?.message?.content).toEqual([{ type: "text", text: "one" }]);
    expect(session.title).toBe("one");
  });

  test("goes with its turn when the turn is undone", async () => {
    const { session } = await steered(ANSWERED);
    await session.undo();
    expect(saidIn(await active(session))).toEqual([]);
  });

  test("is kept by a retry, which begins after it and runs no tool again", async () => {
    const { session, emulator } = await steered(ANSWERED);
    await session.retry({ turn: "again" }).result();
    expect(saidIn(await active(session))).toEqual(["first: one", "first<joined: two"]);
    expect(inputOf(emulator, 2)).toEqual(inputOf(emulator, 1));
    expect(shape(buildTree(await history(session)))).toEqual([
      ["first", "one", "message", []],
      ["again", "one", "retry", []],
    ]);
  });

  test("is repeated by a retry that starts at the message", async () => {
    const { session, emulator } = await steered(ANSWERED);
    await session.retry({ turn: "again", from: "message" }).result();
    expect(saidIn(await active(session))).toEqual(["first: one", "again<joined: two"]);
    expect(inputOf(emulator, 2).map((item) => item["role"])).toEqual(["user", "user"]);
    const facts = factsOf(await history(session));
    expect(facts.steered.get("joined")?.turn).toBe("first");
    expect(facts.turns.get("again")?.message).toBeUndefined();
  });

  test("is dropped by an edit of the turn's message", async () => {
    const { session } = await steered(ANSWERED);
    const seq = seqOf(await history(session), "one");
    await session.edit(seq, "other", { turn: "edited" }).result();
    expect(saidIn(await active(session))).toEqual(["edited: other"]);
  });

  test("can be edited: the new message follows the steps before it, and undo brings the old one back", async () => {
    const { session, emulator } = await steered(ANSWERED);
    const seq = seqOf(await history(session), "two");
    await session.edit(seq, "other", { turn: "edited" }).result();
    expect(saidIn(await active(session))).toEqual(["first: one", "edited: other"]);
    expect(inputOf(emulator, 2).slice(0, 4)).toEqual(inputOf(emulator, 1).slice(0, 4));
    expect(shape(buildTree(await history(session)))).toEqual([
      ["first", "one", "message", []],
      ["edited", "other", "edit", []],
    ]);
    await session.undo();
    expect(saidIn(await active(session))).toEqual(["first: one", "first<joined: two"]);
  });

  test("stays with its turn when earlier turns are dropped", async () => {
    const { session, emulator } = await steered(ANSWERED);
    await session.send("three", { turn: "third" }).result();
    await session.keepLastTurns(2);
    expect((await session.preview()).body).toContain('"one"');
    await session.keepLastTurns(1);
    expect((await session.preview()).body).not.toContain('"two"');
    expect(emulator.exchanges).toHaveLength(3);
  });

  test("counts as no turn when a compaction keeps the last turn", async () => {
    const { session } = await steered([...ANSWERED.slice(0, 2), { output: [say("a summary")] }]);
    await session.send("three", { turn: "third" }).result();
    await session.compact({ keepTurns: 1 });
    const { body } = await session.preview();
    expect(body).not.toContain('"two"');
    expect(body).toContain('"three"');
  });

  test("is quoted with the turn's message when a summary replaces both", async () => {
    const { session } = await steered([...ANSWERED.slice(0, 2), { output: [say("a summary")] }]);
    await session.compact();
    const compaction = (await history(session)).find((event) => event.type === "compaction");
    expect(compaction?.summary).toContain("[The user's last message:]\none\n\ntwo");
  });

  test("keeps the reasoning of its turn under the policy since_last_user", async () => {
    const { session, emulator } = await steered(ANSWERED, { replay: { reasoning: "since_last_user" } });
    expect(inputOf(emulator, 1).map((item) => item["type"] ?? item["role"])).toContain("reasoning");
    expect((await session.rebuild(2)).proof).toBe("same");
  });

  test("stays when the turn failed after it and is retried", async () => {
    const runs: number[] = [];
    const look = anyTool("look", () => runs.push(1));
    const { session, emulator, result } = await steered(
      [
        { output: [call("wait")] },
        { output: [call("look")] },
        { output: [say("never")], faults: ["http=400,code:odd_thing,message:Something odd."] },
        { output: [say("done")] },
      ],
      { tools: [look] },
    );
    expect(result.status).toBe("failed");
    expect(await session.retry().result()).toMatchObject({ status: "completed", text: "done" });
    expect(runs).toHaveLength(1);
    expect(inputOf(emulator, 3).map((item) => item["type"] ?? item["role"])).toEqual([
      "message",
      "function_call",
      "function_call_output",
      "message",
      "function_call",
      "function_call_output",
    ]);
  });

  test("stays when the turn could not send the next request, and is retried", async () => {
    const { session, emulator, result } = await steered([
      { output: [call("wait")] },
      { output: [say("never")], faults: ["http=400,code:odd_thing,message:Something odd."] },
      { output: [say("done")] },
    ]);
    expect(result.status).toBe("failed");
    expect(await session.retry().result()).toMatchObject({ status: "completed", text: "done" });
    expect(JSON.stringify(inputOf(emulator, 2).at(-1))).toContain("two");
    expect(saidIn(await active(session))).toEqual(["first: one", "first<joined: two"]);
  });

  test("goes into a fork with its turn", async () => {
    const { session } = await steered(ANSWERED);
    const child = await session.fork({ id: "child" });
    expect(saidIn(await history(child))).toEqual(["first: one", "first<joined: two"]);
    expect((await child.preview()).body).toBe((await session.preview()).body);
    await child.close();
  });
});
