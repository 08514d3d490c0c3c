/**
 * A turn told in lines on stderr: titles of thoughts, tools, waits. No cursor movement, so it reads the same in a log.
 *
 * @module
 */

import type { SessionEvent } from "../events/index.ts";
import { inertLine } from "./inert-text.ts";
import type { Terminal } from "./terminal.ts";

const WIDTH = 100;

export class ProgressLines {
  readonly #terminal: Terminal;
  readonly #tools = new Map<string, string>();
  /** A call was denied only because nobody could be asked. */
  neededPermission = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(event: SessionEvent): void {
    switch (event.type) {
      case "reasoning_part_start":
        this.#line(`· ${event.title ?? "Thinking…"}`);
        break;
      case "reasoning":
        this.#line(
          `· Thought for ${seconds(event.durationMs)}${event.parts.length === 0 ? " · no summary" : ""}`,
        );
        break;
      case "tool_call":
        this.#tools.set(event.callId, event.name);
        this.#line(`→ ${event.name}(${event.arguments})`);
        break;
      case "tool_result":
        this.#line(
          `${event.status === "ok" ? "✓" : "✗"} ${this.#tools.get(event.callId) ?? event.callId}: ${event.text}`,
        );
        break;
      case "permission_decision":
        if (event.decision === "deny" && event.by === "policy") this.neededPermission = true;
        break;
      case "retry":
        this.#line(`! ${event.error.message}; trying again in ${seconds(event.delayMs)}`);
        break;
      case "notice":
        this.#line(`! ${event.message}`);
        break;
      default:
        break;
    }
  }

  #line(text: string): void {
    this.#terminal.stderr.write(`${this.#terminal.dim(inertLine(text, WIDTH))}\n`);
  }
}

export function seconds(ms: number): string {
  return ms < 60_000
    ? `${Math.round(ms / 100) / 10}s`
    : `${Math.floor(ms / 60_000)}m${Math.round((ms % 60_000) / 1000)}s`;
}
