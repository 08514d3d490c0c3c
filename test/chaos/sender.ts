/**
 * A sender: makes sessions, sends turns under its own ids to random nodes until they are accepted, sends some of them
 * twice, and cancels some. What it was answered goes into the ledger.
 */

import { PROMPTS } from "./child-plan.ts";
import type { PromisedTurn } from "./ledger.ts";
import { type Answer, ask, askOnce, codeOfAnswer, pause, type RequestParts } from "./requests.ts";
import { Viewer } from "./viewer.ts";

/** A longer session takes longer to answer, and then the faults hit fewer distinct moments. */
const TURNS_EACH = 14;
const MOST_OPEN = 3;
const CANCEL_TRIES = 4;

const KINDS = {
  talk: 2,
  long: 1,
  fast: 2,
  slow: 2,
  slowest: 1,
  parallel: 3,
  serial: 1,
  idempotent: 1,
  asking: 2,
} as const satisfies Record<keyof typeof PROMPTS, number>;

export interface SenderParts extends RequestParts {
  readonly viewersEach: number;
  readonly viewers: Viewer[];
  /** The work that goes on until the clients stop. */
  readonly running: Set<Promise<void>>;
}

export class Sender {
  readonly #parts: SenderParts;
  readonly #name: string;
  readonly #over: AbortSignal;

  constructor(parts: SenderParts, name: string, over: AbortSignal) {
    this.#parts = parts;
    this.#name = name;
    this.#over = over;
  }

  async run(): Promise<void> {
    for (let made = 0; !this.#over.aborted; made += 1) {
      const session = `${this.#name}-${made}`;
      if (!(await this.#create(session))) return;
      const viewers = this.#follow(session);
      const open: PromisedTurn[] = [];
      for (let n = 0; n < TURNS_EACH && !this.#over.aborted && !this.#isLost(session); n += 1)
        await this.#speak(session, n, open);
      for (const viewer of viewers) viewer.isRetired = true;
    }
  }

  /** A promotion took the session back. */
  #isLost(session: string): boolean {
    return !this.#parts.ledger.sessions.has(session);
  }

  async #create(session: string): Promise<boolean> {
    while (!this.#over.aborted) {
      const answer = await ask(this.#parts, "", { body: { id: session } }, this.#over);
      if (answer === undefined) return false;
      // Made by an earlier request whose answer was lost, or being made by one that may still fail.
      const isTaken = codeOfAnswer(answer) === "session_exists";
      const found = isTaken ? await ask(this.#parts, `/${session}`, {}, this.#over) : answer;
      const isGone = found !== undefined && (found.status === 404 || codeOfAnswer(found) === "session_gone");
      if (isGone && isTaken) continue;
      if (found !== undefined && found.status >= 300) this.#unexpected(`creating ${session}`, found);
      if (found === undefined || found.status >= 300) return false;
      this.#parts.ledger.sessions.set(session, Date.now());
      return true;
    }
    return false;
  }

  #follow(session: string): readonly Viewer[] {
    const { viewersEach, viewers, running } = this.#parts;
    return Array.from({ length: viewersEach }, () => {
      const viewer = new Viewer(session, this.#parts, this.#over);
      viewers.push(viewer);
      const work = viewer.run().finally(() => running.delete(work));
      running.add(work);
      return viewer;
    });
  }

  async #speak(session: string, n: number, open: PromisedTurn[]): Promise<void> {
    const { ledger, random } = this.#parts;
    while (open.length >= MOST_OPEN && !this.#over.aborted) await this.#dropEnded(open);
    const turn = `${session}-${n}`;
    const input = PROMPTS[random.weighted(KINDS)](turn);
    const steers = random.chance(0.08);
    const promised = newTurn(session, turn, input, steers);
    ledger.turns.set(turn, promised);
    const body = bodyOf(promised);
    const answer = await ask(this.#parts, `/${session}/turns`, { body }, this.#over);
    if (answer === undefined) return;
    if (answer.status !== 202 || answer.body["turn"] !== turn)
      return this.#unexpected(`sending ${turn}`, answer);
    promised.acceptedAt = Date.now();
    ledger.note(`${answer.node} has accepted ${turn}`);
    open.push(promised);
    const next = random.weighted({ cancel: 3, repeat: 3, wait: 8, nothing: 6 });
    if (next === "cancel") await this.#cancel(promised);
    else if (next === "repeat") await this.#repeat(promised);
    else if (next === "wait") await this.#wait(promised);
    await pause(random.between(0, 300));
  }

  async #cancel(promised: PromisedTurn): Promise<void> {
    const { random, ledger } = this.#parts;
    const { session, turn } = promised;
    await pause(random.between(0, 700));
    for (let tries = 0; tries < CANCEL_TRIES && !this.#over.aborted; tries += 1) {
      promised.cancel = "sent";
      const answer = await askOnce(this.#parts, `/${session}/cancel`, { body: { turn }, waitMs: 5000 });
      if (answer?.status === 200) {
        promised.cancel = "acknowledged";
        promised.cancelledAt = Date.now();
        ledger.add("cancels acknowledged");
        ledger.note(`${answer.node} has cancelled ${turn}`);
        return;
      }
      if (answer?.status === 404) return this.#unexpected(`cancelling ${turn}`, answer);
      if (answer !== undefined && codeOfAnswer(answer) === "turn_ended") return;
      await pause(random.between(20, 200));
    }
  }

  async #repeat(promised: PromisedTurn): Promise<void> {
    const { ledger } = this.#parts;
    const { session, turn } = promised;
    const body = bodyOf(promised);
    const answer = await ask(this.#parts, `/${session}/turns`, { body }, this.#over);
    if (answer === undefined) return;
    ledger.add("turns sent twice");
    ledger.note(`${answer.node} was sent ${turn} again: ${answer.status}`);
    if (answer.status !== 202) this.#unexpected(`sending ${turn} again`, answer);
  }

  async #wait({ session, turn }: PromisedTurn): Promise<void> {
    const answer = await askOnce(this.#parts, `/${session}/turns/${turn}?wait=2`, { waitMs: 4000 });
    if (answer?.status === 404) this.#unexpected(`waiting for ${turn}`, answer);
  }

  async #dropEnded(open: PromisedTurn[]): Promise<void> {
    const [oldest] = open;
    if (oldest === undefined) return;
    const path = `/${oldest.session}/turns/${oldest.turn}?wait=1`;
    const answer = await askOnce(this.#parts, path, { waitMs: 3000 });
    if (answer?.status === 404) this.#unexpected(`asking for ${oldest.turn}`, answer);
    if (answer?.body["state"] === "done" || answer?.status === 404) open.shift();
    else await pause(50);
  }

  #unexpected(what: string, { status, body }: Answer): void {
    const { ledger } = this.#parts;
    // A promotion may have taken back the session or the turn.
    if (status === 404 && ledger.count("promotions") > 0)
      ledger.add("answers about what a promotion took back");
    else ledger.violate(`${what} was answered ${status}`, body);
  }
}

export function newTurn(session: string, turn: string, input: string, steers: boolean): PromisedTurn {
  return { session, turn, input, steers, acceptedAt: undefined, cancel: "none", cancelledAt: undefined };
}

function bodyOf({ input, turn, steers }: PromisedTurn): object {
  return { input, turn, ...(steers ? { whenBusy: "steer" } : {}) };
}
