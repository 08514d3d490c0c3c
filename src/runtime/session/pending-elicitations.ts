/** Questions of running tools that wait for a person's answer, each under exactly one id. */

import { type Elicitation, readElicitationAnswer } from "../../base/events/index.ts";
import { codedError, onAbort } from "../../base/support/index.ts";
import { notPending, type PersonsElicitationAnswer } from "../turn/index.ts";

interface Question {
  readonly request: Elicitation;
  readonly settle: (answer: PersonsElicitationAnswer) => void;
}

export class PendingElicitations {
  readonly #pending = new Map<string, Question>();

  /** Whether any question waits. */
  get waits(): boolean {
    return this.#pending.size > 0;
  }

  /** Rejects when the signal aborts: nothing waits for an answer any more. */
  ask(requestId: string, request: Elicitation, signal: AbortSignal): Promise<PersonsElicitationAnswer> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#pending.delete(requestId);
        reject(signal.reason as Error);
      };
      if (signal.aborted) {
        stop();
        return;
      }
      const forget = onAbort(signal, stop);
      const settle = (answer: PersonsElicitationAnswer): void => {
        forget();
        resolve(answer);
      };
      this.#pending.set(requestId, { request, settle });
    });
  }

  /** Resolves once the log has the answer. An answer that does not fit is none, and the question stays open. */
  async answer(requestId: string, given: unknown): Promise<void> {
    const question = this.#pending.get(requestId);
    if (question === undefined) throw notPending(requestId);
    const read = readElicitationAnswer(question.request, given);
    if (!read.ok) throw codedError("elicitation_invalid", `${read.problem}. The question is still open`);
    this.#pending.delete(requestId);
    await new Promise<void>((resolve, reject) => {
      const recorded = (error?: unknown): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      question.settle({ answer: read.value, recorded });
    });
  }
}
