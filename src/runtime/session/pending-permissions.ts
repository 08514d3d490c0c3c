/** Questions that wait for a person. */

import { codedError, onAbort } from "../../base/support/index.ts";
import type { PermissionDecision } from "../turn/index.ts";

export class PendingPermissions {
  readonly #pending = new Map<string, (decision: PermissionDecision) => void>();

  ask(requestId: string, signal: AbortSignal): Promise<PermissionDecision> {
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
      this.#pending.set(requestId, (decision) => {
        forget();
        resolve(decision);
      });
    });
  }

  answer(requestId: string, decision: PermissionDecision): void {
    const resolve = this.#pending.get(requestId);
    if (resolve === undefined) {
      throw codedError(
        "permission_not_pending",
        `no permission request "${requestId}" is waiting: it was answered, or its turn has ended`,
      );
    }
    this.#pending.delete(requestId);
    resolve(decision);
  }
}
