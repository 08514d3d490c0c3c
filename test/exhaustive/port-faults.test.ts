/**
 * A session whose disk fails, or whose turn is cancelled, at every single call of its ports: log, wire, tool. The turn
 * ends once and says why, no acknowledged event is lost, nothing runs twice, and the session continues.
 */

import { rmSync } from "node:fs";

import { afterAll, beforeAll, expect, test } from "vitest";

import { type Emulator, parseFaults, startEmulator } from "../../src/emulator/index.ts";
import {
  type Clock,
  createAgent,
  fileStore,
  type LoggedEvent,
  type Session,
  tool,
  type TurnResult,
} from "../../src/index.ts";
import { countedIo, errno } from "../contracts/file-fixture.ts";
import { instantClock } from "../support/instant-clock.ts";
import { Tally } from "../support/runs.ts";
import { text } from "../support/tool-schema.ts";
import { emulatedModel } from "./corpus.ts";
import { EXHAUSTIVE, PATIENCE_MS, quickFolder, someOf } from "./how-much.ts";

const tally = new Tally();
let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(async () => {
  await emulator.close();
  tally.print(`faults and cancels at every port call (${EXHAUSTIVE ? "all" : "a sample"})`);
});

const MODELS = ["emu-reasoner", "emu-claude", "emu-deepseek"] as const;

interface Hooks {
  /** Called with each write, sync, event and tool; may throw for a write, reject for a sync, or cancel the turn. */
  write?(nth: number): number | undefined;
  sync?(nth: number): void;
  event?(nth: number, cancel: () => void): void;
  tool?(nth: number, cancel: () => void): void;
  /** Called with each request, the head of its answer and each chunk of its body. */
  wire?(nth: number, cancel: () => void): void;
  /** Called with each wait. The first request is refused with 503, so there is one. */
  clock?(nth: number, cancel: () => void): void;
}

const nothing = (): void => undefined;

interface Ran {
  readonly calls: {
    readonly write: number;
    readonly sync: number;
    readonly event: number;
    readonly tool: number;
    readonly wire: number;
    readonly clock: number;
  };
  readonly result: TurnResult | undefined;
  readonly acknowledged: readonly LoggedEvent[];
  readonly effects: string[];
  /** Opens it again, with no more faults. */
  reopen(): Promise<Session>;
  remove(): void;
}

function watchedFetch(touch: () => void): typeof fetch {
  return async (input, init) => {
    touch();
    const { body, status, headers } = await fetch(input, init);
    touch();
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        touch();
        controller.enqueue(piece);
      },
    });
    return new Response(body?.pipeThrough(watched) ?? null, { status, headers });
  };
}

function watchedClock(touch: () => void): Clock {
  const clock = instantClock();
  return {
    ...clock,
    sleep(ms, signal) {
      touch();
      return clock.sleep(ms, signal);
    },
  };
}

async function run(model: string, hooks: Hooks): Promise<Ran> {
  const folder = quickFolder();
  const calls = { write: 0, sync: 0, event: 0, tool: 0, wire: 0, clock: 0 };
  const effects: string[] = [];
  const acknowledged: LoggedEvent[] = [];
  let cancel: () => void = nothing;
  const io = countedIo();
  io.failWrite = () => {
    calls.write += 1;
    return hooks.write?.(calls.write) ?? Number.MAX_SAFE_INTEGER;
  };
  io.onSync = async () => {
    calls.sync += 1;
    hooks.sync?.(calls.sync);
  };
  const touchWire = (): void => hooks.wire?.((calls.wire += 1), cancel);
  const touchClock = (): void => hooks.clock?.((calls.clock += 1), cancel);
  if (hooks.clock !== undefined) emulator.addFaults(...parseFaults("http=503"));
  const agent = createAgent({
    model: emulatedModel(model, emulator.baseUrl),
    permissions: "auto",
    ...(hooks.wire === undefined ? {} : { fetch: watchedFetch(touchWire) }),
    ...(hooks.clock === undefined ? {} : { clock: watchedClock(touchClock) }),
    limits: { toolGraceMs: 1 },
    tools: [
      tool({
        name: "get_weather",
        description: "Weather of a city",
        input: text("city"),
        access: "write",
        run: async ({ city }, { idempotencyKey }) => {
          calls.tool += 1;
          hooks.tool?.(calls.tool, cancel);
          effects.push(idempotencyKey);
          return `Sunny in ${String(city)}`;
        },
      }),
    ],
  });
  const open = (whole: boolean): Promise<Session> =>
    agent.open({ id: "s", store: whole ? fileStore(folder) : fileStore(folder, { io }) });
  const session = await open(false);
  let result: TurnResult | undefined;
  try {
    const turn = session.send("What is the weather in Rome and Lima?");
    cancel = () => turn.cancel();
    for await (const event of turn) {
      calls.event += 1;
      if ("seq" in event) acknowledged.push(event);
      hooks.event?.(calls.event, cancel);
    }
    result = await turn.result();
  } finally {
    await session.close().catch(() => undefined);
  }

  return {
    calls,
    result,
    acknowledged,
    effects,
    reopen: () => open(true),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The next writer finds what was acknowledged and completes a turn; every turn has one end, and no call ran twice. */
async function expectGoesOn(ran: Ran, where: string): Promise<void> {
  const before = emulator.exchanges.length;
  const session = await ran.reopen();
  try {
    const turn = session.interrupted ? session.resume() : session.send("Are you there?");
    expect((await turn.result()).status, where).toBe("completed");
    const history: LoggedEvent[] = [];
    for await (const event of session.events()) history.push(event);
    for (const event of ran.acknowledged) expect(history[event.seq], where).toEqual(event);
    expect(new Set(ran.effects).size, where).toBe(ran.effects.length);
    const starts = history.flatMap((event) => (event.type === "tool_start" ? [event.callId] : []));
    expect(new Set(starts).size, where).toBe(starts.length);
    const turns = new Set(history.flatMap((event) => (event.turn === undefined ? [] : [event.turn])));
    expect(history.filter(({ type }) => type === "turn_end").length, where).toBe(turns.size);
    const refused = emulator.exchanges.slice(before).filter(({ report }) => report?.verdict === "refused");
    expect(refused, where).toEqual([]);
  } finally {
    await session.close();
    ran.remove();
  }
}

const DISK: Readonly<Record<string, (nth: number) => Hooks>> = {
  "ENOSPC once": (nth) => ({ write: (at) => failing(at === nth, "ENOSPC") }),
  "ENOSPC from here on": (nth) => ({ write: (at) => failing(at >= nth, "ENOSPC") }),
  "EIO once": (nth) => ({ write: (at) => failing(at === nth, "EIO") }),
  "a short write, then ENOSPC": (nth) => ({
    write: (at) => (at === nth ? 17 : failing(at === nth + 1, "ENOSPC")),
  }),
  "a short write, then the rest": (nth) => ({ write: (at) => (at === nth ? 17 : undefined) }),
};

function failing(now: boolean, code: string): undefined {
  if (now) throw errno(code);
  return undefined;
}

test.each(MODELS)(
  "%s: the disk may fail at any write or sync",
  async (model) => {
    const golden = await run(model, {});
    expect(golden.result?.status).toBe("completed");
    golden.remove();
    const cases = [
      ...Object.entries(DISK).flatMap(([name, hooks]) =>
        Array.from(
          { length: golden.calls.write },
          (_, at) => [`write ${at + 1}: ${name}`, hooks(at + 1)] as const,
        ),
      ),
      ...Array.from(
        { length: golden.calls.sync },
        (_, at) =>
          [
            `sync ${at + 1}: EIO`,
            { sync: (nth: number) => failing(nth === at + 1, "EIO") } satisfies Hooks,
          ] as const,
      ),
    ];
    for (const index of someOf(cases.length, 12)) {
      const [name, hooks] = cases[index] as (typeof cases)[number];
      const ran = await run(model, hooks);
      tally.add(name.replace(/ \d+/, ""));
      tally.add("disk faults");
      expect(ran.result, name).toBeDefined();
      if (name.includes("the rest")) expect(ran.result?.status, name).toBe("completed");
      else if (ran.result?.status !== "completed") {
        expect(ran.result?.status, name).toBe("failed");
        expect(ran.result?.error?.code, name).toMatch(/^log_/);
      }
      await expectGoesOn(ran, name);
    }
  },
  PATIENCE_MS,
);

test.each(MODELS)(
  "%s: the turn may be cancelled at any write, sync, event, tool, wait or chunk of the wire",
  async (model) => {
    const golden = await run(model, {});
    const wire = await run(model, { wire: nothing });
    const clock = await run(model, { clock: nothing });
    for (const one of [golden, wire, clock]) one.remove();
    const counts = { ...golden.calls, wire: wire.calls.wire, clock: clock.calls.clock };
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
    const points = PORTS.flatMap((port) =>
      Array.from({ length: counts[port] }, (_, at) => ({ port, nth: at + 1 })),
    );
    for (const index of someOf(points.length, 12)) {
      const { port, nth } = points[index] as (typeof points)[number];
      const where = `cancel at ${port} ${nth}`;
      const ran = await run(model, cancelAt(port, nth));
      tally.add(`cancels at a ${port}`);
      expect(["cancelled", "completed"], where).toContain(ran.result?.status);
      await expectGoesOn(ran, where);
    }
  },
  PATIENCE_MS,
);

const PORTS = ["event", "tool", "write", "sync", "clock", "wire"] as const;
type Port = (typeof PORTS)[number];

function cancelAt(port: Port, nth: number): Hooks {
  let stop: () => void = nothing;
  const at = (here: Port, count: number): void => {
    if (here === port && count === nth) stop();
  };
  const own = (here: Port) => (count: number, cancel: () => void) => {
    stop = cancel;
    at(here, count);
  };
  return {
    ...(port === "wire" ? { wire: own("wire") } : {}),
    ...(port === "clock" ? { clock: own("clock") } : {}),
    write: (count) => {
      at("write", count);
      return undefined;
    },
    sync: (count) => at("sync", count),
    event: (count, cancel) => {
      stop = cancel;
      at("event", count);
    },
    tool: (count, cancel) => {
      stop = cancel;
      at("tool", count);
    },
  };
}
