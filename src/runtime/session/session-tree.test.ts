import { describe, expect, test } from "vitest";

import {
  anyTool,
  call,
  eventsOf,
  gate,
  history,
  inputOf,
  ofType,
  say,
  scriptedSession,
} from "../../../test/contracts/session-fixture.ts";
import { RUNNING_IN_PARENT } from "../fold/index.ts";
import type { Session } from "./index.ts";
import { type TreeTurn, buildTree } from "./session-tree.ts";

const answers = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ output: [say(`answer ${index + 1}`)] }));

/** "text*" for an active turn, with what follows it in brackets. */
const shape = (turns: readonly TreeTurn[]): readonly unknown[] =>
  turns.map(({ text, why, active, children }) => [
    `${text}${why === "message" ? "" : `/${why}`}${active ? "*" : ""}`,
    ...shape(children),
  ]);

const shapeOf = async (session: Session): Promise<readonly unknown[]> =>
  shape(buildTree(await history(session)));

const messagesOf = async (session: Session): Promise<readonly string[]> =>
  (await session.preview()).items.filter(({ role }) => role === "user").map(({ head }) => head);

describe("the tree of a session", () => {
  test("has one line without branches, and forks at an edit, a retry or an undo", async () => {
    const { session } = await scriptedSession(answers(5));
    await session.send("one").result();
    await session.send("two").result();
    expect(await shapeOf(session)).toEqual([["one*", ["two*"]]]);
    await session.retry().result();
    expect(await shapeOf(session)).toEqual([["one*", ["two"], ["two/retry*"]]]);
    const first = ofType(await history(session), "user_message")[0]?.seq ?? -1;
    await session.edit(first, "uno").result();
    expect(await shapeOf(session)).toEqual([["one", ["two"], ["two/retry"]], ["uno/edit*"]]);
    await session.undo();
    expect(await shapeOf(session)).toEqual([["one*", ["two"], ["two/retry*"]], ["uno/edit"]]);
    await session.send("three").result();
    expect(await shapeOf(session)).toEqual([["one*", ["two"], ["two/retry*", ["three*"]]], ["uno/edit"]]);
  });

  test("does not show the exchange of a compaction, and marks what follows it", async () => {
    const { session } = await scriptedSession(answers(3));
    await session.send("one").result();
    await session.compact();
    await session.send("two").result();
    const tree = buildTree(await history(session));
    expect(shape(tree)).toEqual([["one*", ["two*"]]]);
    expect([tree[0]?.compacted, tree[0]?.children[0]?.compacted]).toEqual([false, true]);
  });
});

describe("checkout", () => {
  test("moves to another branch by an event, and the next message continues from there", async () => {
    const { session, emulator } = await scriptedSession(answers(5));
    await session.send("one").result();
    await session.send("two").result();
    const two = ofType(await history(session), "user_message")[1]?.seq ?? -1;
    await session.edit(two, "zwei").result();
    await session.checkout({ to: two });
    expect((await history(session)).at(-1)).toMatchObject({ type: "branch", why: "checkout" });
    expect(await messagesOf(session)).toEqual(["one", "two"]);
    await session.send("three").result();
    expect(inputOf(emulator, 3).filter((item) => item["role"] === "user")).toHaveLength(3);
    expect(await shapeOf(session)).toEqual([["one*", ["two*", ["three*"]], ["zwei/edit"]]]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("is refused for an event that does not exist", async () => {
    const { session } = await scriptedSession(answers(1));
    await session.send("one").result();
    await expect(session.checkout({ to: 999 })).rejects.toMatchObject({ code: "seq_unknown" });
  });
});

describe("undo", () => {
  test("after an edit of the first message restores what was there before it", async () => {
    const { session } = await scriptedSession(answers(3));
    await session.send("one").result();
    const first = ofType(await history(session), "user_message")[0]?.seq ?? -1;
    await session.edit(first, "uno").result();
    await session.undo();
    expect(await messagesOf(session)).toEqual(["one"]);
    expect(await session.send("two").result()).toMatchObject({ status: "completed" });
    expect(await messagesOf(session)).toEqual(["one", "two"]);
  });

  test("of the only message leaves a session that can start again", async () => {
    const { session } = await scriptedSession(answers(2));
    await session.send("one").result();
    await session.undo();
    expect(await messagesOf(session)).toEqual([]);
    await expect(session.undo()).rejects.toMatchObject({ code: "nothing_to_undo" });
    expect(await session.send("two").result()).toMatchObject({ status: "completed" });
  });
});

test("a fork in an open turn closes what runs in the parent, and both continue", async () => {
  const held = gate();
  const started = gate();
  const { session, emulator } = await scriptedSession(
    [{ output: [call("wait")] }, { output: [say("child")] }, { output: [say("parent")] }],
    {
      tools: [
        anyTool("wait", async () => {
          started.open();
          await held.promise;
          return "waited";
        }),
      ],
    },
  );
  const turn = session.send("go");
  await started.promise;
  const child = await session.fork();
  const copied = await history(child);
  expect(ofType(copied, "tool_result")).toMatchObject([RUNNING_IN_PARENT]);
  expect(ofType(copied, "turn_end")).toMatchObject([{ status: "interrupted" }]);
  expect(await child.send("and?").result()).toMatchObject({ status: "completed", text: "child" });
  held.open();
  const events = await eventsOf(turn);
  expect(ofType(events, "tool_result")).toMatchObject([{ text: "waited", status: "ok" }]);
  expect(await turn.result()).toMatchObject({ status: "completed", text: "parent" });
  expect(emulator.report().totals.refused).toBe(0);
  await child.close();
});
