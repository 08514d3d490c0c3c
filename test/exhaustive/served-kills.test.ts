/**
 * `serve` is killed and stopped again and again under senders that repeat their requests until they are answered. Every
 * answer holds: a created session (201) exists, an accepted turn (202) is in the log exactly once, and a turn whose
 * cancel was answered (200) ended as cancelled.
 */

import { afterAll, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/index.ts";
import { emulatorOf, logsOf, newPlace } from "../cli/harness.ts";
import { ownPort } from "../support/own-port.ts";
import { Tally } from "../support/runs.ts";
import { serve, TOKEN } from "../tui/server-harness.ts";
import { EXHAUSTIVE, PATIENCE_MS } from "./how-much.ts";

const tally = new Tally();
afterAll(() => tally.print(`kills and stops of serve (${EXHAUSTIVE ? "all" : "a sample"})`));

const [KILLS, STOPS] = EXHAUSTIVE ? [200, 50] : [6, 2];
const SESSIONS = 3;
const SENDERS_EACH = 3;
/** A longer session takes longer to answer; then the kills hit fewer distinct moments. */
const TURNS_EACH = 40;

interface Promised {
  readonly sessions: Set<string>;
  readonly turns: Map<string, string>;
  readonly cancelled: Set<string>;
  repeated: number;
}

/** Sends until it gets an answer, so that a killed and restarted server looks like a slow one. */
class Sender {
  readonly #url: string;
  readonly #promised: Promised;
  readonly #over: AbortSignal;
  readonly #name: string;

  constructor(url: string, name: string, promised: Promised, over: AbortSignal) {
    this.#url = url;
    this.#name = name;
    this.#promised = promised;
    this.#over = over;
  }

  async run(random: () => number): Promise<void> {
    for (let made = 0; !this.#over.aborted; made += 1) {
      const session = `${this.#name}-${made}`;
      const answer = await this.#post("", { id: session });
      // 409: created by the first of two requests, whose answer the kill took.
      if (answer === undefined) return;
      expect([201, 409]).toContain(answer.status);
      this.#promised.sessions.add(session);
      await Promise.all(Array.from({ length: SENDERS_EACH }, (_, n) => this.#speak(session, n, random)));
    }
  }

  async #speak(session: string, of: number, random: () => number): Promise<void> {
    for (let n = 0; n < TURNS_EACH / SENDERS_EACH && !this.#over.aborted; n += 1) {
      const turn = `${session}-${of}-${n}`;
      const request = { input: `Say ${turn}`, turn };
      const answer = await this.#post(`/${session}/turns`, request);
      if (answer === undefined) return;
      expect([answer.status, answer.body["turn"]]).toEqual([202, turn]);
      this.#promised.turns.set(turn, session);
      if (random() < 0.2) await this.#cancel(session, turn);
      else if (random() < 0.3) await this.#post(`/${session}/turns`, request); // once more, to no effect
      else if (random() < 0.5) await this.#ask(`/${session}/turns/${turn}?wait=5`);
    }
  }

  async #cancel(session: string, turn: string): Promise<void> {
    const answer = await this.#post(`/${session}/cancel`, { turn });
    if (answer === undefined) return;
    expect([200, 409]).toContain(answer.status);
    if (answer.status === 200) this.#promised.cancelled.add(turn);
  }

  #post(path: string, body: object): Promise<Answer | undefined> {
    return this.#ask(path, { method: "POST", body: JSON.stringify(body) });
  }

  async #ask(path: string, init: RequestInit = {}): Promise<Answer | undefined> {
    while (!this.#over.aborted) {
      try {
        const response = await fetch(`${this.#url}/api/sessions${path}`, { ...init, headers: HEADERS });
        const body = (await response.json()) as Answer["body"];
        if (response.status !== 503) return { status: response.status, body };
      } catch {
        this.#promised.repeated += 1; // the server is down, or the answer was cut off: send again
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return undefined;
  }
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const HEADERS = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

/** Repeatable as far as processes allow: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test(
  "every 202 is in the log exactly once, every 201 exists, every cancel holds",
  async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf({ paceMs: 1 });
    const port = await ownPort();
    const random = randomFrom(20_261_117);
    const promised: Promised = { sessions: new Set(), turns: new Map(), cancelled: new Set(), repeated: 0 };
    const over = new AbortController();
    const url = `http://127.0.0.1:${port}`;
    const senders = Array.from({ length: SESSIONS }, (_, n) =>
      new Sender(url, `s${n}`, promised, over.signal).run(random),
    );
    const failed = Promise.all(senders).then(
      () => undefined,
      (error: unknown) => error,
    );
    const plan = [...Array<"SIGKILL">(KILLS).fill("SIGKILL"), ...Array<"SIGTERM">(STOPS).fill("SIGTERM")]
      .map((signal) => ({ signal, at: random() }))
      .toSorted((a, b) => a.at - b.at);
    for (const { signal } of plan) {
      const server = await serve(place, env, port);
      await new Promise((resolve) => setTimeout(resolve, 20 + random() * 500)); // any moment will do
      server.child.kill(signal);
      await server.exited;
    }
    over.abort();
    expect(await failed).toBeUndefined();

    const last = await serve(place, env, port);
    for (const [turn, session] of promised.turns) {
      let state: unknown;
      while (state !== "done") {
        const answer = await fetch(`${url}/api/sessions/${session}/turns/${turn}?wait=30`, {
          headers: HEADERS,
        });
        expect([turn, answer.status]).toEqual([turn, 200]);
        ({ state } = (await answer.json()) as { readonly state: unknown });
      }
    }
    last.child.kill("SIGTERM");
    await last.exited;

    const logs = await logsOf(place);
    expect([...promised.sessions].filter((id) => !logs.has(id))).toEqual([]);
    const wrong: unknown[] = [];
    for (const [turn, session] of promised.turns) {
      const found = whatBecame(logs.get(session) ?? [], turn);
      const cancelled = promised.cancelled.has(turn);
      // The last turn of a session may have been killed with no later writer to close it: it has its message and no
      // end.
      const once = found.messages <= 1 && found.ends.length <= 1 && found.messages + found.ends.length > 0;
      const [end] = found.ends;
      const right = cancelled ? end === "cancelled" : found.messages === 1 || end === "cancelled";
      if (!once || !right) wrong.push([turn, cancelled, found]);
    }
    expect(wrong).toEqual([]);
    expect(emulator.report().totals.refused).toBe(0);
    tally.add("kills", KILLS);
    tally.add("clean stops", STOPS);
    tally.add("sessions (201)", promised.sessions.size);
    tally.add("turns (202)", promised.turns.size);
    tally.add("cancels (200)", promised.cancelled.size);
    tally.add("requests that had to be repeated", promised.repeated);
  },
  PATIENCE_MS,
);

function whatBecame(
  events: readonly LoggedEvent[],
  turn: string,
): { readonly messages: number; readonly ends: readonly string[] } {
  const own = events.filter((event) => event.turn === turn);
  return {
    messages: own.filter((event) => event.type === "user_message" && event.by === "person").length,
    ends: own.flatMap((event) => (event.type === "turn_end" ? [event.status] : [])),
  };
}
