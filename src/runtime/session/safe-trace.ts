/** Calls the caller's `trace` function. Its failure never fails a turn: the log says once per session that it failed. */

import { messageOf } from "../../base/support/index.ts";
import type { LiveLog, WireRecord } from "../turn/index.ts";
import type { AgentOptions } from "./types.ts";

export interface SafeTraceParts {
  readonly live: LiveLog;
  readonly options: Pick<AgentOptions, "trace">;
  readonly redact: (text: string) => string;
}

export class SafeTrace {
  readonly #parts: SafeTraceParts;
  #failed = false;

  constructor(parts: SafeTraceParts) {
    this.#parts = parts;
  }

  /** Undefined if nothing is traced. */
  forTurn(turn: string): ((record: WireRecord) => void) | undefined {
    const { trace } = this.#parts.options;
    if (trace === undefined) return undefined;
    return (record) => {
      try {
        const returned: unknown = trace(record);
        // A rejection that is not handled would end the process.
        if (returned instanceof Promise) returned.catch((error: unknown) => this.#report(turn, error));
      } catch (error) {
        this.#report(turn, error);
      }
    };
  }

  #report(turn: string, error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    const { live, redact } = this.#parts;
    const message = `the trace function failed, so the trace is not complete: ${messageOf(error)}`;
    // A log that was closed meanwhile cannot record it.
    live
      .append([{ type: "notice", turn, code: "trace_failed", message: redact(message) }])
      .catch(() => undefined);
  }
}
