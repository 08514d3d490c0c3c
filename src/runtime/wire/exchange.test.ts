/**
 * The exchange against every event that Node's ClientRequest can emit, in every order, with an abort and every time
 * limit at every position: it settles once and leaves nothing behind.
 */

import { EventEmitter } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";

import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";

import { afterTest } from "../../../test/support/clean-up.ts";
import { runs } from "../../../test/support/runs.ts";
import { Exchange } from "./exchange.ts";
import type { HttpRequest, HttpResponse } from "./http.ts";
import { sendByNode } from "./via-node.ts";

const LIMITS = { connectMs: 1000, firstByteMs: 5000, idleMs: 7000 };
const REASON = new Error("the user pressed a key");

/**
 * The timers that the code under test has set. Test files share a process, and a connection that an earlier one has left
 * to Node may set its own meanwhile.
 */
const ownTimers = new Set<unknown>();

/** Returns what undoes it: the fake timers must be in their places again before they are replaced by the real ones. */
function countOwnTimers(): () => void {
  ownTimers.clear();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const counted = (run: () => void, ms?: number): NodeJS.Timeout => {
    const timer = set(() => {
      ownTimers.delete(timer);
      run();
    }, ms);
    if (/[/\\]runtime[/\\]wire[/\\](?!exchange\.test)/.test(new Error("set here").stack ?? ""))
      ownTimers.add(timer);
    return timer;
  };
  globalThis.setTimeout = counted as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    ownTimers.delete(timer);
    clear(timer);
  };
  return () => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  afterTest(() => void vi.useRealTimers());
  afterTest(countOwnTimers());
});

/** The parts of a socket that this code uses. */
class StandInSocket extends EventEmitter {
  connecting = true;
  destroyed = false;
  destroy(): this {
    this.destroyed = true;
    return this;
  }
}

/** Like Node's IncomingMessage: emits an error only if there is a listener. */
class StandInResponse extends PassThrough {
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(this.listenerCount("error") === 0 ? null : error);
  }
}

/** A silent ClientRequest: it emits only what the test says, not even an event when it is destroyed. */
class StandInRequest extends EventEmitter {
  reusedSocket = false;
  writableFinished = true;
  destroyed = false;
  readonly sockets: StandInSocket[] = [];
  readonly bodies: PassThrough[] = [];
  write(): boolean {
    return true;
  }
  end(): this {
    return this;
  }
  destroy(): this {
    this.destroyed = true;
    return this;
  }
  socket(): StandInSocket {
    const socket = new StandInSocket();
    this.sockets.push(socket);
    return socket;
  }
  response(statusCode: number, headers: Readonly<Record<string, string>> = {}): IncomingMessage {
    const body = new StandInResponse();
    this.bodies.push(body);
    return Object.assign(body, { statusCode, headers, complete: false }) as unknown as IncomingMessage;
  }
}

const reset = (): Error => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

/** Every event that Node documents for http.ClientRequest, and its arguments. */
const EVENTS: Readonly<Record<string, (request: StandInRequest) => void>> = {
  abort: (request) => void request.emit("abort"),
  close: (request) => void request.emit("close"),
  connect: (request) =>
    void request.emit("connect", request.response(200), request.socket(), Buffer.alloc(0)),
  continue: (request) => void request.emit("continue"),
  drain: (request) => void request.emit("drain"),
  error: (request) => void request.emit("error", reset()),
  finish: (request) => void request.emit("finish"),
  information: (request) => void request.emit("information", { statusCode: 103, headers: {} }),
  pipe: (request) => void request.emit("pipe", new PassThrough()),
  unpipe: (request) => void request.emit("unpipe", new PassThrough()),
  response: (request) => void request.emit("response", request.response(200)),
  "a 101 as a response": (request) => void request.emit("response", request.response(101)),
  "an odd encoding": (request) =>
    void request.emit("response", request.response(200, { "content-encoding": "zstd" })),
  "a compressed response": (request) =>
    void request.emit("response", request.response(200, { "content-encoding": "gzip" })),
  socket: (request) => void request.emit("socket", request.socket()),
  connected: (request) => request.sockets.forEach((socket) => socket.emit("connect")),
  // Node removes its own listeners when it returns or hands over a connection: the next error must not end the process.
  "the socket fails": (request) => request.sockets.forEach((socket) => socket.emit("error", reset())),
  timeout: (request) => void request.emit("timeout"),
  upgrade: (request) =>
    void request.emit("upgrade", request.response(101), request.socket(), Buffer.from("x")),
  "the body's end": (request) => request.bodies.forEach((body) => body.end("bytes")),
  "the body closes": (request) => request.bodies.forEach((body) => body.emit("close")),
  "the body is aborted": (request) => request.bodies.forEach((body) => body.emit("aborted")),
  "the body fails": (request) => request.bodies.forEach((body) => body.destroy(reset())),
};
const NAMES = Object.keys(EVENTS);
/** Costs more than all the others together. */
const COMPRESSED = "a compressed response";
/** These say nothing about how a request ends. */
const MILD = new Set(["abort", "continue", "drain", "finish", "pipe", "unpipe", "timeout"]);
const CODES = /^(?:connection_lost|bad_response|timeout_connect|timeout_first_byte|timeout_idle)$/;

/** What may happen between two events: the caller aborts, or this much time passes. */
const PASSES = {
  connect: LIMITS.connectMs,
  "first byte": LIMITS.firstByteMs,
  idle: LIMITS.idleMs,
  nothing: 0,
};
type Stop = "abort" | keyof typeof PASSES;
const STOPS: readonly Stop[] = ["abort", "connect", "first byte", "idle", "nothing"];

interface Together {
  readonly stop: Stop;
  /** Before the event with this index. */
  readonly at: number;
  /** The request uses a kept-alive connection. */
  readonly reused: boolean;
  /** Whether everything else gets a turn between two events. */
  readonly pauses: boolean;
}

class Play {
  readonly requests: StandInRequest[] = [];
  readonly controller = new AbortController();
  /** Listeners on the caller's signal. */
  listening = 0;
  settlements: string[] = [];
  bodyEnds: string[] = [];
  failure: unknown;
  readonly #settled: Promise<void>;

  constructor(reused: boolean) {
    const { signal } = this.controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      this.listening += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      this.listening = 0; // the exchange has one listener and may remove it more than once
      remove(...args);
    };
    const request: HttpRequest = {
      url: "http://example.test/v1",
      headers: {},
      body: [Buffer.from("{}")],
      signal,
      timeouts: LIMITS,
    };
    const exchange = new Exchange(request);
    sendByNode(exchange, request, (_options, connection) => {
      const made = new StandInRequest();
      made.reusedSocket = reused && connection === "any";
      this.requests.push(made);
      return made as unknown as ClientRequest;
    });
    this.#settled = exchange.answer.then(
      (response) => this.#read(response),
      (error: unknown) => {
        this.failure = error;
        this.settlements.push("failed");
      },
    );
  }

  async #read({ body }: HttpResponse): Promise<void> {
    this.settlements.push("answered");
    try {
      for await (const _ of body);
      this.bodyEnds.push("ended");
    } catch (error) {
      this.failure = error;
      this.bodyEnds.push("failed");
    }
  }

  /** Emits the event on the current request. */
  emit(name: string | undefined): void {
    const request = this.requests.at(-1);
    if (request !== undefined && name !== undefined) EVENTS[name]?.(request);
  }

  /** Returns what is wrong after time has ended everything: it must have settled once and left nothing behind. */
  async faults(): Promise<readonly string[]> {
    await this.#settled;
    const whole = this.bodyEnds[0] === "ended";
    const code = (this.failure as { readonly code?: string } | undefined)?.code ?? "";
    // A whole response leaves its connection to Node, which keeps it. Everything else is ended.
    const left = this.requests.filter(({ destroyed }) => !destroyed).length;
    const wrong: Readonly<Record<string, boolean>> = {
      "settled more or less than once": this.settlements.length !== 1,
      "a body with more or less than one end":
        this.bodyEnds.length !== (this.settlements[0] === "answered" ? 1 : 0),
      "neither a code nor the caller's reason": !whole && this.failure !== REASON && !CODES.test(code),
      "a listener is left": this.listening !== 0,
      "a request is left": left !== (whole ? 1 : 0),
    };
    return Object.keys(wrong).filter((what) => wrong[what]);
  }

  close(): void {
    for (const { bodies } of this.requests)
      for (const body of bodies) body.on("error", () => undefined).destroy();
  }
}

/** Lets streams and promises settle. */
async function ticks(): Promise<void> {
  for (let count = 0; count < 3; count += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Each with its own caller and requests, all on one clock. */
async function playTogether(
  sequences: readonly (readonly string[])[],
  { stop, at, reused, pauses }: Together,
): Promise<void> {
  const plays = sequences.map((events) => ({ play: new Play(reused), events }));
  const longest = Math.max(...sequences.map(({ length }) => length));
  for (let index = 0; index <= longest; index += 1) {
    if (index === at) {
      if (stop === "abort") for (const { play } of plays) play.controller.abort(REASON);
      else vi.advanceTimersByTime(PASSES[stop]);
    }
    if (pauses) await ticks();
    for (const { play, events } of plays) play.emit(events[index]);
  }
  await end(
    plays.map(({ play }) => play),
    (index) => JSON.stringify({ events: sequences[index], stop, at, reused, pauses }),
  );
}

/** Only time is needed to end what is still running. Nothing that happens afterwards changes anything. */
async function end(plays: readonly Play[], told: (index: number) => string): Promise<void> {
  await ticks();
  vi.advanceTimersByTime(LIMITS.firstByteMs);
  await ticks();
  vi.advanceTimersByTime(LIMITS.idleMs);
  await expectSound(plays, told);
  for (const play of plays) for (const name of NAMES) if (name !== COMPRESSED) play.emit(name);
  await ticks();
  await expectSound(plays, told);
  for (const play of plays) play.close();
  expect(ownTimers.size).toBe(0);
}

async function expectSound(plays: readonly Play[], told: (index: number) => string): Promise<void> {
  for (const [index, play] of plays.entries()) {
    const faults = await play.faults();
    if (faults.length > 0) expect(faults, told(index)).toEqual([]);
  }
}

/** All sequences of these names, with repetition. */
function sequencesOf(length: number, names: readonly string[]): readonly (readonly string[])[] {
  if (length === 0) return [[]];
  return sequencesOf(length - 1, names).flatMap((rest) => names.map((name) => [...rest, name]));
}

describe("whatever Node emits, an exchange settles once", () => {
  test.each([
    [0, STOPS],
    [1, STOPS],
    [2, STOPS],
    [3, ["nothing" as const]],
  ])("for every sequence of %i events, with every stop at every position", async (length, stops) => {
    const all = sequencesOf(length, length < 3 ? NAMES : NAMES.filter((name) => !MILD.has(name)));
    for (const stop of stops)
      for (let at = 0; at <= (stop === "nothing" ? 0 : length); at += 1)
        for (const reused of [false, true])
          for (let first = 0; first < all.length; first += 1000)
            await playTogether(all.slice(first, first + 1000), { stop, at, reused, pauses: false });
  });

  test("for long sequences, at once and with pauses", async () => {
    const events = fc.array(fc.constantFrom(...NAMES), { minLength: 3, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(events, { minLength: 1, maxLength: 20 }),
        fc.record({
          stop: fc.constantFrom(...STOPS),
          at: fc.nat({ max: 12 }),
          reused: fc.boolean(),
          pauses: fc.boolean(),
        }),
        playTogether,
      ),
      runs(200),
    );
  });
});

async function codeAfter(...names: readonly string[]): Promise<unknown> {
  const play = new Play(false);
  for (const name of names) play.emit(name);
  await ticks();
  const code = (play.failure as { readonly code?: string } | undefined)?.code;
  await end([play], () => names.join());
  return code;
}

describe("a failed exchange", () => {
  test.each([
    ["close", "connection_lost"],
    ["error", "connection_lost"],
    ["upgrade", "bad_response"],
    ["connect", "bad_response"],
    ["a 101 as a response", "bad_response"],
    ["an odd encoding", "bad_response"],
  ])("on %s alone ends immediately with %s", async (name, code) => {
    expect(await codeAfter(name)).toBe(code);
    expect(await codeAfter("socket", "connected", "information", name, "close")).toBe(code);
  });

  test.each(["the body closes", "the body is aborted", "the body fails", "close"])(
    "reports a lost connection if a response breaks off because %s",
    async (name) => {
      expect(await codeAfter("response", name)).toBe("connection_lost");
      expect(await codeAfter("a compressed response", name)).toBe("connection_lost");
    },
  );

  test("closes the sockets that Node hands over", async () => {
    for (const name of ["upgrade", "connect"]) {
      const play = new Play(false);
      play.emit(name);
      expect(play.requests[0]?.sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
      await end([play], () => name);
    }
  });
});

describe("a kept-alive connection that is reset", () => {
  test("is replaced once, and late events of the old request change nothing", async () => {
    const play = new Play(true);
    const [first] = play.requests;
    first?.emit("error", reset());
    expect(play.requests).toHaveLength(2);
    for (const name of NAMES) if (first !== undefined) EVENTS[name]?.(first);
    await ticks();
    expect([play.requests.length, play.settlements]).toEqual([2, []]);
    play.emit("error");
    await ticks();
    expect([play.requests.length, play.settlements]).toEqual([2, ["failed"]]);
    await end([play], () => "replaced");
  });

  test("is not replaced if the server has responded: it knows the request", async () => {
    for (const name of ["information", "response", "upgrade"]) {
      const play = new Play(true);
      play.emit(name);
      play.emit("error");
      expect(play.requests).toHaveLength(1);
      await end([play], () => name);
    }
  });
});

test("the first-byte timeout keeps running through any number of 1xx responses", async () => {
  const play = new Play(false);
  for (let count = 0; count < 9; count += 1) {
    vi.advanceTimersByTime(LIMITS.firstByteMs / 10);
    for (const name of ["continue", "information", "timeout", "drain"]) play.emit(name);
  }
  expect(play.failure).toBeUndefined();
  vi.advanceTimersByTime(LIMITS.firstByteMs / 10);
  await ticks();
  expect(play.failure).toMatchObject({ code: "timeout_first_byte" });
  await end([play], () => "1xx");
});
