/** One agent that opens one id twice in one process gets the same live session; the last handle releases it. */

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  gate,
  say,
  scriptedSession,
  call,
  ofType,
  history,
} from "../../../test/contracts/session-fixture.ts";
import { systemClock } from "../../base/support/index.ts";
import { fileStore, memoryStore } from "../log/index.ts";
import { emulator } from "../models/index.ts";
import { createAgent } from "./agent.ts";
import type { Agent, Session } from "./types.ts";

const agentOf = (): Agent => createAgent({ model: emulator() });
const coded = (code: string) => expect.objectContaining({ code });

describe.each([
  ["a memory store", () => memoryStore()],
  ["a file store", () => fileStore(temporaryFolder())],
])("in %s", (_name, make) => {
  test("a second handle sees the turns of the first, and the last close releases the session", async () => {
    const [agent, store] = [agentOf(), make()];
    const first = await agent.open({ id: "s", store });
    const second = await agent.open({ id: "s", store });
    expect((await first.send("Hello").result()).status).toBe("completed");
    expect(second.lastSeq).toBe(first.lastSeq);
    expect((await second.send("And again").result()).status).toBe("completed");
    await first.close();
    expect(() => first.send("too late")).toThrow(coded("log_closed"));
    await expect(first.allow("run_command")).rejects.toThrow(coded("log_closed"));
    await expect(first.answer("el", { action: "decline" })).rejects.toThrow(coded("log_closed"));
    await expect(first.rename("too late")).rejects.toThrow(coded("log_closed"));
    expect(await first.cancel()).toBe(false);
    expect(second.writer).toBe("live");
    expect((await second.send("Still here").result()).status).toBe("completed");
    await expect(store.open("s", { mode: "write" })).rejects.toThrow(coded("session_locked"));
    await second.close();
    await (await store.open("s", { mode: "write" })).close();
  });

  test("agent.session opens the session, or returns the live one", async () => {
    const [agent, store] = [agentOf(), make()];
    const first = await agent.session("s", { store });
    await using second = await agent.session("s", { store });
    await first.send("Hello").result();
    await first.close();
    expect(second.lastSeq).toBeGreaterThan(0);
    await expect(agent.session(7 as never)).rejects.toThrow(coded("options_invalid"));
    await expect(agent.session("s", { mode: "read" } as never)).rejects.toThrow(coded("options_invalid"));
  });

  test("two opens at once are one session", async () => {
    const [agent, store] = [agentOf(), make()];
    const [first, second] = await Promise.all([
      agent.open({ id: "s", store }),
      agent.open({ id: "s", store }),
    ]);
    const both = await Promise.all([first.send("one").result(), second.send("two").result()]);
    expect(both.map(({ status }) => status)).toEqual(["completed", "completed"]);
    await Promise.all([first.close(), second.close()]);
  });

  test("an open that arrives while the last handle closes waits for the release", async () => {
    const [agent, store] = [agentOf(), make()];
    const first = await agent.open({ id: "s", store });
    const held = gate();
    const closing = first.close(() => held.promise);
    const opening = agent.open({ id: "s", store });
    held.open();
    const second = await opening;
    await closing;
    expect((await second.send("Hello").result()).status).toBe("completed");
    await second.close();
  });

  test("readers stay independent", async () => {
    const [agent, store] = [agentOf(), make()];
    const writer = await agent.open({ id: "s", store });
    await writer.send("Hello").result();
    const reader = await agent.open({ id: "s", store, mode: "read" });
    expect(reader.access).toBe("read");
    await reader.close();
    expect((await writer.send("Again").result()).status).toBe("completed");
    await writer.close();
  });

  test("another agent is refused, with what differs", async () => {
    const store = make();
    const first = await createAgent({ model: emulator(), permissions: "auto" }).open({ id: "s", store });
    const other = createAgent({ model: emulator({ model: "emu-plain" }), tools: [anyTool("look", () => 1)] });
    await expect(other.open({ id: "s", store })).rejects.toMatchObject({
      code: "session_open_elsewhere",
      message: expect.stringMatching(
        /other model \(emulator\/emu-reasoner there, emulator\/emu-plain here\), tools \(none there, look here\), permissions/,
      ),
    });
    const same = createAgent({ model: emulator(), permissions: "auto" });
    await expect(same.open({ id: "s", store })).rejects.toMatchObject({
      code: "session_open_elsewhere",
      details: { session: "s", differs: [] },
    });
    await first.close();
    await (await other.open({ id: "s", store })).close();
  });

  test("another agent is refused, even if an option has no JSON text", async () => {
    const store = make();
    const ownClock = { ...systemClock, self: {} };
    ownClock.self = ownClock;
    const first = await createAgent({ model: emulator(), clock: ownClock }).open({ id: "s", store });
    const other = createAgent({ model: emulator(), clock: { ...ownClock } });
    await expect(other.open({ id: "s", store })).rejects.toMatchObject({
      code: "session_open_elsewhere",
      details: { differs: ["clock"] },
    });
    await first.close();
  });

  test("a fork is opened like any other session", async () => {
    const [agent, store] = [agentOf(), make()];
    const session = await agent.open({ id: "s", store });
    await session.send("Hello").result();
    const child = await session.fork({ id: "child" });
    const again = await agent.open({ id: "child", store });
    expect(again.lastSeq).toBe(child.lastSeq);
    await Promise.all([session, child, again].map((one) => one.close()));
  });
});

test("file stores on the same real folder are one place", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "link"));
  const agent = agentOf();
  const first = await agent.open({ id: "s", store: fileStore(join(folder, "real")) });
  const second = await agent.open({ id: "s", store: fileStore(join(folder, "link")) });
  await first.send("Hello").result();
  expect(second.lastSeq).toBe(first.lastSeq);
  await Promise.all([first.close(), second.close()]);
});

async function running(): Promise<{
  readonly first: Session;
  readonly second: Session;
  readonly finish: () => void;
  readonly started: Promise<void>;
}> {
  const [started, held] = [gate(), gate()];
  const tool = anyTool("look", async () => {
    started.open();
    await held.promise;
    return "seen";
  });
  const { session, agent } = await scriptedSession([{ output: [call("look")] }, { output: [say("done")] }], {
    tools: [tool],
  });
  const second = await agent.open({ id: session.id });
  return { first: session, second, finish: () => held.open(), started: started.promise };
}

describe("closing one of two handles", () => {
  test("leaves the other's turn running", async () => {
    const { first, second, finish, started } = await running();
    const turn = first.send("go");
    await started;
    await second.close();
    finish();
    expect(await turn.result()).toMatchObject({ status: "completed", text: "done" });
  });

  test("does not wait for the other's turn, and what waited for that turn never begins", async () => {
    const { first, second, finish, started } = await running();
    const turn = first.send("go");
    await started;
    const waiting = [second.send("later"), second.send("now", { whenBusy: "steer" })];
    await second.close();
    finish();
    expect((await turn.result()).status).toBe("completed");
    expect(await Promise.all(waiting.map(async (one) => (await one.result()).status))).toEqual([
      "cancelled",
      "cancelled",
    ]);
    expect(ofType(await history(first), "user_message")).toHaveLength(1);
  });

  test("cancels the turns it started itself, and ends its followers", async () => {
    const { first, second, started } = await running();
    const turn = second.send("go");
    const waiting = second.send("later");
    const following = (async () => {
      for await (const event of second.follow()) void event;
    })();
    await started;
    await second.close();
    expect((await turn.result()).status).toBe("cancelled");
    expect((await waiting.result()).status).toBe("cancelled");
    await following;
    expect(first.busy).toBe(false);
    expect((await first.send("and now?").result()).status).toBe("completed");
    expect(ofType(await history(first), "turn_end").map(({ status }) => status)).toEqual([
      "cancelled",
      "completed",
    ]);
  });
});
