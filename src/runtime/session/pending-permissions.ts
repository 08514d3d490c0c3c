/** Questions that wait for a person. */

import { codedError } from "../../base/support/index.ts";
import type { PermissionDecision } from "../turn/index.ts";

export class PendingPermissions {
  readonly #pending = new Map<string, (decision: PermissionDecision) => void>();

  ask(requestId: string, signal: AbortSignal): Promise<PermissionDecision> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#pending.delete(requestId);
        reject(signal.reason as Error);
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener("abort", onAbort, { once: true });
      this.#pending.set(requestId, (decision) => {
        signal.removeEventListener("abort", onAbort);
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
