/**
 * Endpoints that answer a request by switching protocols, or with nothing but 1xx: every turn ends, and the session
 * continues.
 */

import type { Socket } from "node:net";

import { describe, expect, test } from "vitest";

import { startEmulator } from "../../src/emulator/index.ts";
import {
  anthropic,
  createAgent,
  type LoggedEvent,
  memoryStore,
  type Model,
  openai,
  openaiChat,
  type Session,
} from "../../src/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { instantClock } from "../support/instant-clock.ts";
import { flood, HINT, rawServer, SWITCH } from "../support/raw-server.ts";

const DIALECTS: readonly (readonly [string, (url: string) => Model])[] = [
  ["openai", (url) => openai("emu-reasoner", { baseUrl: `${url}/v1`, apiKey: "k" })],
  ["anthropic", (url) => anthropic("emu-claude", { baseUrl: url, apiKey: "k" })],
  [
    "openaiChat",
    (url) => openaiChat("emu-deepseek", { baseUrl: `${url}/v1`, apiKey: "k", profile: "deepseek" }),
  ],
];

async function opened(model: Model, limits: object = {}): Promise<Session> {
  const agent = createAgent({ model, clock: instantClock(), limits });
  const session = await agent.open({ store: memoryStore() });
  afterTest(() => session.close());
  return session;
}

async function endsOf(session: Session): Promise<readonly (readonly [string, string | undefined])[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events.flatMap((event) =>
    event.type === "turn_end" ? [[event.status, event.error?.code] as const] : [],
  );
}

/** A server that hangs in every way a request can hang before its answer. */
const HANGS: readonly (readonly [string, (socket: Socket) => void])[] = [
  ["says nothing", () => undefined],
  ["floods with 103", (socket) => flood(socket, HINT)],
  ["says half a head", (socket) => void socket.write("HTTP/1.1 101 Switching Pro")],
];

describe.each(DIALECTS)("%s", (_name, make) => {
  test("a 101 fails the turn at the first attempt, says what to check, and the next turn works", async () => {
    const server = await rawServer((socket) => void socket.write(`${SWITCH}bytes`));
    const session = await opened(make(server.origin));
    const { status, error } = await session.send("Hello").result();
    expect([status, error?.code, error?.class]).toEqual(["failed", "bad_response", "OTHER"]);
    expect(error?.message).toMatch(/switched to another protocol .*check the base URL/);
    expect(server.requests()).toBe(1);
    expect(await endsOf(session)).toEqual([["failed", "bad_response"]]);
    const emulator = await startEmulator();
    afterTest(() => emulator.close());
    await session.setModel(make(emulator.url));
    expect(await session.send("Hello again").result()).toMatchObject({ status: "completed" });
    expect(emulator.report().totals.refused).toBe(0);
  });

  test.each(HANGS)("a server that %s: cancel ends the turn, and so does close", async (_what, answer) => {
    for (const way of ["cancel", "close"] as const) {
      const server = await rawServer(answer);
      const session = await opened(make(server.origin));
      const turn = session.send("Hello");
      await expect.poll(() => server.requests()).toBe(1);
      if (way === "cancel") turn.cancel();
      else await session.close();
      expect((await turn.result()).status).toBe("cancelled");
      if (way === "cancel") expect(await endsOf(session)).toEqual([["cancelled", undefined]]);
      await expect.poll(() => server.open.size).toBe(0);
    }
  });

  test.each(HANGS)(
    "a server that %s reaches the time limit for the first byte, and that of the turn",
    async (_what, answer) => {
      const server = await rawServer(answer);
      const byFirstByte = await opened(make(server.origin), { firstByteTimeoutMs: 40, maxRetries: 0 });
      expect(await byFirstByte.send("Hello").result()).toMatchObject({
        status: "failed",
        error: { code: "timeout_first_byte" },
      });
      const byTurn = await opened(make(server.origin), { turnTimeoutMs: 40, maxRetries: 0 });
      expect(await byTurn.send("Hello").result()).toMatchObject({ status: "incomplete", reason: "time" });
      await expect.poll(() => server.open.size).toBe(0);
    },
  );
});
