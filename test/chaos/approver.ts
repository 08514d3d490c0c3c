/** Answers the questions of running turns, at random nodes, until each is answered. */

import type { LogBook } from "./log-book.ts";
import { askOnce, codeOfAnswer, pause, type RequestParts } from "./requests.ts";

const TRIES = 20;

interface Question {
  readonly session: string;
  readonly requestId: string;
  readonly response: string;
  readonly callId: string;
}

export class Approver {
  readonly #parts: RequestParts;
  readonly #book: LogBook;
  /** Questions being answered, by the call: a resumed turn asks again under another id. */
  readonly #busy = new Set<string>();

  constructor(parts: RequestParts, book: LogBook) {
    this.#parts = parts;
    this.#book = book;
  }

  /** Begins to answer what the book shows as open. */
  answer(): void {
    for (const question of this.#open()) {
      const key = `${question.session} ${question.response} ${question.callId}`;
      if (this.#busy.has(key)) continue;
      this.#busy.add(key);
      void this.#decide(question).finally(() => this.#busy.delete(key));
    }
  }

  #open(): readonly Question[] {
    const open: Question[] = [];
    for (const [session, { events }] of this.#book.logs) {
      const asked = new Map<string, Question>();
      for (const event of events.slice(-LAST_EVENTS)) {
        if (event.type === "turn_end") asked.clear();
        else if (event.type === "permission_request") asked.set(event.callId, { ...event, session });
        else if (event.type === "permission_decision" || event.type === "tool_result")
          asked.delete(event.callId);
      }
      open.push(...asked.values());
    }
    return open;
  }

  async #decide({ session, requestId, response, callId }: Question): Promise<void> {
    const { random, ledger } = this.#parts;
    const decision = random.chance(0.7) ? "allow" : "deny";
    const path = `/${session}/permissions/${requestId}`;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const answer = await askOnce(this.#parts, path, { body: { decision }, waitMs: 5000 });
      if (answer?.status === 200) {
        ledger.decisions.push({ session, response, callId, decision, at: Date.now() });
        ledger.add("decisions acknowledged");
        return;
      }
      if (answer !== undefined && DONE.has(codeOfAnswer(answer))) return;
      if (answer?.status === 404 && ledger.count("promotions") > 0) return; // taken back
      if (answer?.status === 400 || answer?.status === 404)
        return ledger.violate(`an answer to ${requestId} of ${session} was refused`, answer);
      await pause(random.between(20, 200));
    }
  }
}

/** A turn with a question is the last one of its log. */
const LAST_EVENTS = 60;

/** Answered already, or asked again under another id, which the next look finds. */
const DONE: ReadonlySet<string> = new Set(["permission_not_pending"]);
