/**
 * What can go wrong with the request for a summary, in every dialect: the compaction ends with a digest or with a code,
 * and the session continues from there, even from every point at which the process may have died during it.
 */

import type { Socket } from "node:net";

import { describe, expect, test } from "vitest";

import { type Emulator, parseFaults, startEmulator } from "../../src/emulator/index.ts";
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
import { flood, HINT, rawServer, SWITCH } from "../support/raw-server.ts";
import { all, closeLater, expectNoneRefused, impatientClock, KEY, ofType } from "./harness.ts";

type Make = (origin: string) => Model;

const DIALECTS: readonly (readonly [string, Make])[] = [
  ["openai", (url) => openai("emu-reasoner", { apiKey: KEY, baseUrl: `${url}/v1` })],
  ["anthropic", (url) => anthropic("emu-claude", { apiKey: KEY, baseUrl: url })],
  [
    "openaiChat",
    (url) => openaiChat("emu-deepseek", { apiKey: KEY, baseUrl: `${url}/v1`, profile: "deepseek" }),
  ],
];

interface Started {
  readonly emulator: Emulator;
  readonly session: Session;
  readonly slept: readonly number[];
  readonly log: () => Promise<readonly LoggedEvent[]>;
  /** A session with this log, as a process that died here left it. */
  readonly reopened: (events: readonly LoggedEvent[]) => Promise<Session>;
}

/** A conversation of two turns, ready to be compacted. */
async function started(make: Make, limits: object = {}): Promise<Started> {
  const emulator = closeLater(await startEmulator());
  const clock = impatientClock();
  const agent = createAgent({ model: make(emulator.url), clock, limits });
  const session = closeLater(await agent.open({ store: memoryStore() }));
  for (const text of ["my name is Ada", "and I like birds"])
    expect(await session.send(text).result()).toMatchObject({ status: "completed" });
  return {
    emulator,
    session,
    slept: clock.slept,
    log: () => all(session.events()),
    reopened: async (events) => {
      const store = memoryStore();
      await store.create("crashed", { events: events as never, blobs: new Map() });
      return closeLater(await agent.open({ id: "crashed", store }));
    },
  };
}

async function expectGoesOn({ session, emulator, log }: Started): Promise<void> {
  expect((await session.preview()).violations).toEqual([]);
  expect(await session.send("who am I?").result()).toMatchObject({ status: "completed" });
  expectNoneRefused(emulator);
  const turns = ofType(await log(), "turn_end").map(({ turn }) => turn);
  expect(new Set(turns).size).toBe(turns.length);
}

const FAULTS: readonly (readonly [fault: string, times: number])[] = [
  ["cut=after-item:0", 4],
  ["cut=after-event:1", 4],
  ["reset=after-event:3", 4],
  ["end=after-event:2", 4],
  ["no-terminal", 4],
  ["bad-json=1", 4],
  ["http=400,code:some_code,message:No.", 1],
  ["http=401,code:invalid_api_key,message:No.", 1],
  ["http=404,code:model_not_found,message:No.", 1],
  ["429=retry-after:2", 4],
  ["500", 4],
  ["503", 4],
  ["html=200", 1],
  ["failed=server_error,items:0", 4],
  ["error-event=nested,code:server_error,items:0", 4],
];

const DRIP = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/** Servers that no emulator plays, and limits that end a hang. */
const SERVERS: readonly (readonly [string, (socket: Socket) => void])[] = [
  ["switches protocols", (socket) => void socket.write(SWITCH)],
  ["says nothing", () => undefined],
  ["floods with 103", (socket) => flood(socket, HINT)],
  ["starts a stream and stalls", (socket) => void socket.write(`${DRIP}: hi\n\n`)],
  [
    "sends only keep-alives",
    (socket) => {
      socket.write(DRIP);
      flood(socket, ":\n");
    },
  ],
  ["answers with an empty stream", (socket) => void socket.end(DRIP)],
  ["answers with garbage", (socket) => void socket.end(`${DRIP}data: {{{\n\nfoo\u0000bar\n\n`)],
  ["does not speak HTTP", (socket) => void socket.end("220 smtp ready\r\n")],
];

describe.each(DIALECTS)("%s", (_name, make) => {
  test.each(FAULTS)("%s: a digest replaces the summary, and says why", async (fault, times) => {
    const one = await started(make);
    for (let count = 0; count < times; count += 1) one.emulator.addFaults(...parseFaults(fault));
    await one.session.compact();
    const log = await one.log();
    expect(ofType(log, "compaction")).toMatchObject([
      { by: "log", summary: expect.stringContaining("my name is Ada") },
    ]);
    expect(ofType(log, "notice").map(({ code }) => code)).toContain("compaction_digest");
    if (fault.startsWith("429")) expect(one.slept).toEqual([2000, 2000, 2000]);
    await expectGoesOn(one);
  });

  test("a passing outage: the model still writes the summary", async () => {
    for (const fault of ["500", "429=retry-after:2", "cut=after-event:2"]) {
      const one = await started(make);
      one.emulator.addFaults(...parseFaults(fault));
      await one.session.compact();
      expect(ofType(await one.log(), "compaction")).toMatchObject([{ by: "model" }]);
      await expectGoesOn(one);
    }
  });

  test.each(SERVERS)("a server that %s: a digest replaces the summary", async (_what, answer) => {
    const server = await rawServer(answer);
    const limits = { maxRetries: 0, firstByteTimeoutMs: 150, idleTimeoutMs: 150, turnTimeoutMs: 1500 };
    const one = await started(make);
    const limited = await movedTo(make(server.origin), limits, one);
    await limited.session.compact();
    expect(ofType(await limited.log(), "compaction")).toMatchObject([
      { by: "log", summary: expect.stringContaining("my name is Ada") },
    ]);
    await expectGoesOn(await movedTo(one.session.model, {}, limited));
    await expect.poll(() => server.open.size).toBe(0);
  });

  test("cancel and close end it while the server says nothing, and nothing is changed", async () => {
    for (const way of ["signal", "cancel", "close"] as const) {
      const server = await rawServer(() => undefined);
      const one = await started(make);
      const home = one.session.model;
      await one.session.setModel(make(server.origin));
      const controller = new AbortController();
      const compacting = expect(one.session.compact({ signal: controller.signal })).rejects.toMatchObject({
        code: "compaction_cancelled",
      });
      await expect.poll(() => server.requests()).toBe(1);
      if (way === "signal") controller.abort();
      else if (way === "cancel") await one.session.cancel();
      else await one.session.close();
      await compacting;
      if (way === "close") continue;
      expect(ofType(await one.log(), "compaction")).toEqual([]);
      await one.session.setModel(home);
      await expectGoesOn(one);
    }
  });

  test("a kill at any event of a failing compaction leaves a session that can continue", async () => {
    const one = await started(make);
    one.emulator.addFaults(
      ...["cut=after-item:0", "500", "429", "500"].flatMap((fault) => parseFaults(fault)),
    );
    const before = (await one.log()).length;
    await one.session.compact();
    const log = await one.log();
    for (let length = before; length <= log.length; length += 1) {
      const session = await one.reopened(log.slice(0, length));
      expect(await session.send("who am I?").result()).toMatchObject({ status: "completed" });
      expect((await session.preview()).violations).toEqual([]);
    }
    expectNoneRefused(one.emulator);
  });
});

/** The same conversation on another model, with other limits. */
async function movedTo(model: Model, limits: object, one: Started): Promise<Started> {
  const store = memoryStore();
  await store.create("moved", { events: (await one.log()) as never, blobs: new Map() });
  const agent = createAgent({ model, clock: impatientClock(), limits });
  const session = closeLater(await agent.open({ id: "moved", store }));
  return { ...one, session, log: () => all(session.events()) };
}
