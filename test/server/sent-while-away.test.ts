/** Messages that a client sends while its server is away: they wait for the connection and arrive once, in order. */

import { expect, test } from "vitest";

import { connect, type SessionHandle } from "../../src/access/client/index.ts";
import { emulatorOf, eventsOf, newPlace, onlyLog } from "../cli/harness.ts";
import { afterTest } from "../support/clean-up.ts";
import { serve, type Server, TOKEN } from "../tui/server-harness.ts";
import { followUntil } from "./server-fixture.ts";

/** How often a request is sent before it counts as failed. */
const MOST_TRIES = 5;

interface Followed {
  readonly session: SessionHandle;
  /** How many requests to start a turn found no server. */
  readonly failed: () => number;
}

async function followed(server: Server): Promise<Followed> {
  let failed = 0;
  const counting: typeof fetch = async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      if (init?.method === "POST") failed += 1;
      throw error;
    }
  };
  const session = await (await connect(server.url, { token: TOKEN, fetch: counting })).open({ id: "s1" });
  afterTest(() => session.close());
  void followUntil(session, () => false).catch(() => undefined);
  expect((await session.send("before").result()).status).toBe("completed");
  return { session, failed: () => failed };
}

async function kill({ child, exited }: Server): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

test("messages sent while the server is away wait for it and begin in their order, each once", async () => {
  const there = newPlace();
  const { env } = await emulatorOf();
  const server = await serve(there, env);
  const { session, failed } = await followed(server);
  await kill(server);
  await expect.poll(() => session.connection).toBe("lost");
  const words = ["one", "two", "three"];
  const turns = words.map((one) => session.send(one));
  await expect.poll(failed).toBe(MOST_TRIES); // without a connection it would be given up now
  await serve(there, env, Number(new URL(server.url).port));
  for (const turn of turns) expect((await turn.result()).status).toBe("completed");
  const { events } = await onlyLog(there);
  const messages = eventsOf(events, "user_message").map(({ content }) => content);
  expect(messages).toEqual(["before", ...words].map((text) => [{ type: "text", text }]));
});

test("a message that waits for the server is given up when it is cancelled or the session is closed", async () => {
  const { env } = await emulatorOf();
  const server = await serve(newPlace(), env);
  const { session } = await followed(server);
  await kill(server);
  await expect.poll(() => session.connection).toBe("lost");
  const cancelled = session.send("one");
  cancelled.cancel();
  await expect(cancelled.result()).rejects.toMatchObject({ code: "server_unreachable" });
  const closed = session.send("two").result();
  const refused = expect(closed).rejects.toMatchObject({ code: "server_unreachable" });
  await session.close();
  await refused;
});
