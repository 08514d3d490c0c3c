import { expect, test } from "vitest";

import { call, history, inputOf, ofType, say, think } from "../../../test/contracts/session-fixture.ts";
import { saidIn, steeredSession } from "../../../test/contracts/steer-fixture.ts";
import { type AppendDraft, memoryStore, type Store } from "../log/index.ts";
import type { Session } from "./index.ts";

/** The log as a crash right after the message that joined would leave it. */
async function cutAfterJoin(session: Session): Promise<Store> {
  const events = await history(session);
  const at = events.findIndex((event) => event.type === "user_message" && event.steer !== undefined);
  const store = memoryStore();
  const log = await store.open("s1", { mode: "write" });
  await log.append(events.slice(0, at + 1) as unknown as readonly AppendDraft[]);
  await log.close();
  return store;
}

test("a message that joined before a crash is in the next request of the resumed turn", async () => {
  const { session, agent, emulator, finish } = await steeredSession({}, [
    { output: [think("A"), call("wait")] },
    { output: [say("first")] },
    { output: [say("resumed")] },
  ]);
  const joined = session.send("two", { whenBusy: "steer", turn: "joined" });
  finish();
  await joined.result();
  const again = await agent.open({ id: "s1", store: await cutAfterJoin(session) });
  expect(await again.resume().result()).toMatchObject({ status: "completed", text: "resumed", steps: 2 });
  expect(inputOf(emulator, 2)).toEqual(inputOf(emulator, 1));
  expect((await again.rebuild(2)).proof).toBe("same");
  await again.close();
});

test("a turn whose answer was being corrected does not end before it has read the message", async () => {
  const schema = {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  };
  const { session, agent, emulator, finish, turn } = await steeredSession({}, [
    { output: [call("wait")] },
    { output: [say("first")] },
    { output: [say("no JSON")] },
    { output: [say('{"n":1}')] },
    { output: [say('{"n":2}')] },
  ]);
  finish();
  await turn.result();
  const second = session.send("a number", { output: schema, turn: "second" });
  let joined: Promise<unknown> | undefined;
  for await (const event of second)
    if (event.type === "response_start" && joined === undefined)
      joined = session.send("a larger one", { whenBusy: "steer", turn: "joined" }).result();
  await joined;
  const events = await history(session);
  expect(saidIn(events).at(-1)).toBe("second<joined: a larger one");
  const again = await agent.open({ id: "s1", store: await cutAfterJoin(session) });
  expect(await again.resume().result()).toMatchObject({ status: "completed", text: '{"n":2}' });
  expect(JSON.stringify(inputOf(emulator, 4).at(-1))).toContain("a larger one");
  expect(ofType(await history(again), "turn_end").at(-1)?.status).toBe("completed");
  await again.close();
});
