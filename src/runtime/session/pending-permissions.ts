/** Questions that wait for a person's answer. */

import { codedError, onAbort } from "../../base/support/index.ts";
import type { PermissionAsk, PermissionDecision, PersonsAnswer } from "../turn/index.ts";

interface Question {
  readonly argumentsHash: string;
  readonly settle: (answer: PersonsAnswer) => void;
}

export class PendingPermissions {
  readonly #pending = new Map<string, Question>();

  ask({ requestId, argumentsHash }: PermissionAsk, signal: AbortSignal): Promise<PersonsAnswer> {
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
      const settle = (answer: PersonsAnswer): void => {
        forget();
        resolve(answer);
      };
      this.#pending.set(requestId, { argumentsHash, settle });
    });
  }

  /**
   * Resolves once the log has the answer. `argumentsHash` is the hash of what the person was shown, if the caller knows
   * it.
   */
  async answer(requestId: string, decision: PermissionDecision, argumentsHash?: string): Promise<void> {
    const question = this.#pending.get(requestId);
    if (question === undefined) {
      throw codedError(
        "permission_not_pending",
        `no permission request "${requestId}" is waiting: it was already answered, or its turn has ended`,
      );
    }
    if (argumentsHash !== undefined && argumentsHash !== question.argumentsHash) {
      throw codedError(
        "permission_mismatch",
        `permission request "${requestId}" has different arguments from those you approved. Read the request again`,
      );
    }
    this.#pending.delete(requestId);
    await new Promise<void>((resolve, reject) => {
      const recorded = (error?: unknown): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      question.settle({ ...decision, recorded });
    });
  }
}
