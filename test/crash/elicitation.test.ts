/** A process that is killed while a question of a tool is open: the question is over, and nothing shows it as open. */

import { expect, test } from "vitest";

import type { LoggedEvent, Session, SessionEvent } from "../../src/index.ts";
import { BlockList } from "../../src/interface/fragments/index.ts";
import { factsOf } from "../../src/runtime/facts/index.ts";
import { type Crash, expectAllAccepted, expectKept, historyOf, ofType, startCrash } from "./crash-fixture.ts";

async function killedWhileAsking(idempotent: boolean): Promise<Crash> {
  const crash = await startCrash({ asks: true, idempotent });
  await crash.seen("elicitation_request");
  await crash.kill();
  return crash;
}

/** What a viewer shows as a question that can be answered. */
function open(events: readonly SessionEvent[], writerAlive: boolean): readonly string[] {
  const list = new BlockList();
  list.add(events);
  return list
    .view({ writerAlive })
    .flatMap((block) => (block.kind === "tool" ? (block.elicitations ?? []) : []))
    .filter(({ waits }) => waits)
    .map(({ requestId }) => requestId);
}

const idOf = (events: readonly LoggedEvent[]): string =>
  ofType(events, "elicitation_request").at(-1)?.requestId ?? "";

const code = (session: Session, id: string): Promise<unknown> =>
  session.answer(id, { action: "decline" }).then(
    () => "no error",
    (error: { readonly code: string }) => error.code,
  );

test("after kill -9 the outcome is unknown, nothing waits for the question, and no viewer shows it", async () => {
  const crash = await killedWhileAsking(false);
  const session = await crash.reopen();
  await expectKept(crash, session);
  const before = await historyOf(session);
  expect(open(before, false)).toEqual([]);
  expect(await code(session, idOf(before))).toBe("elicitation_not_pending");
  const result = await session.resume().result();
  expect(result.status).toBe("completed");
  const after = await historyOf(session);
  expect(ofType(after, "tool_result")).toMatchObject([{ status: "outcome_unknown" }]);
  expect(open(after, true)).toEqual([]);
  expect(factsOf(after).elicitations).toEqual([]);
  expect(crash.effects()).toEqual([]);
  expectAllAccepted(crash);
});

test("an idempotent tool asks again under a new id, and the old question stays closed", async () => {
  const crash = await killedWhileAsking(true);
  const session = await crash.reopen();
  const old = idOf(await historyOf(session));
  const seen: SessionEvent[] = [...(await historyOf(session))];
  const turn = session.resume();
  for await (const event of turn) {
    seen.push(event);
    if (event.type === "tool_start") expect(factsOf(seen as LoggedEvent[]).elicitations).toEqual([]);
    if (event.type !== "elicitation_request") continue;
    expect(event.requestId).not.toBe(old);
    expect(open(seen, true)).toEqual([event.requestId]);
    expect(await code(session, old)).toBe("elicitation_not_pending");
    await session.answer(event.requestId, { action: "accept", content: { unit: "C" } });
  }
  expect((await turn.result()).status).toBe("completed");
  expect(crash.effects()).toHaveLength(1);
  expect(open(await historyOf(session), true)).toEqual([]);
});

test("a message instead of a resume closes the turn and the question with it", async () => {
  const crash = await killedWhileAsking(false);
  const session = await crash.reopen({ asks: false });
  expect((await session.send("Thanks").result()).status).toBe("completed");
  const after = await historyOf(session);
  expect(factsOf(after).elicitations).toEqual([]);
  expect(open(after, true)).toEqual([]);
  expectAllAccepted(crash);
});
