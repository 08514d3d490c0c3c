/** Questions that wait for a person's answer. */

import type { ApproveOptions } from "../../base/api/index.ts";
import { codedError, onAbort, type ThroughlineError } from "../../base/support/index.ts";
import type { SessionFacts } from "../facts/index.ts";
import type { PermissionAsk, PermissionDecision, PersonsAnswer } from "../turn/index.ts";

interface Question {
  /** All ids that answer it: its own, and those of earlier questions about the same call. */
  readonly ids: readonly string[];
  readonly argumentsHash: string;
  readonly rule: string | undefined;
  readonly settle: (answer: PersonsAnswer) => void;
}

export class PendingPermissions {
  readonly #facts: () => SessionFacts;
  readonly #pending = new Map<string, Question>();

  constructor(facts: () => SessionFacts) {
    this.#facts = facts;
  }

  /** Whether any question waits. */
  get waits(): boolean {
    return this.#pending.size > 0;
  }

  ask(
    { requestId, argumentsHash, rule }: PermissionAsk,
    earlier: readonly string[],
    signal: AbortSignal,
  ): Promise<PersonsAnswer> {
    const ids = [requestId, ...earlier];
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#forget(ids);
        reject(signal.reason as Error);
      };
      if (signal.aborted) {
        stop();
        return;
      }
      const forget = onAbort(signal, stop);
      const settle = (answer: PersonsAnswer): void => {
        forget();
        resolve(answer);
      };
      for (const id of ids) this.#pending.set(id, { ids, argumentsHash, rule, settle });
    });
  }

  /**
   * Resolves once the log has the answer. `argumentsHash` is the hash of what the person was shown, if the caller knows
   * it.
   */
  async answer(
    requestId: string,
    decision: PermissionDecision,
    { argumentsHash, forSession = false }: ApproveOptions = {},
  ): Promise<void> {
    const question = this.#pending.get(requestId);
    if (question === undefined) throw this.#notPending(requestId);
    if (argumentsHash !== undefined && argumentsHash !== question.argumentsHash) {
      throw codedError(
        "permission_mismatch",
        `permission request "${requestId}" has different arguments from those you approved. Read the request again`,
      );
    }
    const { rule } = question;
    if (forSession && rule === undefined) {
      throw codedError(
        "allow_rule_invalid",
        `permission request "${requestId}" has no rule: no text says exactly what it asks for. Allow it once`,
      );
    }
    this.#forget(question.ids);
    await new Promise<void>((resolve, reject) => {
      const recorded = (error?: unknown): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      question.settle({ ...decision, rule: forSession ? rule : undefined, recorded });
    });
  }

  #notPending(requestId: string): ThroughlineError {
    const open = this.#facts().question?.requestId === requestId;
    return codedError(
      "permission_not_pending",
      open
        ? `permission request "${requestId}" was open when its turn was interrupted. Resume the turn; it asks again`
        : `no permission request "${requestId}" is waiting: it was already answered, or its turn has ended`,
    );
  }

  #forget(ids: readonly string[]): void {
    for (const id of ids) this.#pending.delete(id);
  }
}
