/** Questions that wait for a person. */

import { codedError, onAbort } from "../../base/support/index.ts";
import type { PermissionAsk, PermissionDecision } from "../turn/index.ts";

interface Question {
  readonly argumentsHash: string;
  readonly settle: (decision: PermissionDecision) => void;
}

export class PendingPermissions {
  readonly #pending = new Map<string, Question>();

  ask({ requestId, argumentsHash }: PermissionAsk, signal: AbortSignal): Promise<PermissionDecision> {
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
      const settle = (decision: PermissionDecision): void => {
        forget();
        resolve(decision);
      };
      this.#pending.set(requestId, { argumentsHash, settle });
    });
  }

  /** `argumentsHash`: of what the person was shown, where the caller knows it. */
  answer(requestId: string, decision: PermissionDecision, argumentsHash?: string): void {
    const question = this.#pending.get(requestId);
    if (question === undefined) {
      throw codedError(
        "permission_not_pending",
        `no permission request "${requestId}" is waiting: it was answered, or its turn has ended`,
      );
    }
    if (argumentsHash !== undefined && argumentsHash !== question.argumentsHash) {
      throw codedError(
        "permission_mismatch",
        `permission request "${requestId}" is about other arguments than those you approved: read the request again`,
      );
    }
    this.#pending.delete(requestId);
    question.settle(decision);
  }
}
