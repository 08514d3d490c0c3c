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
  /** A call was denied by the policy, not by a person. */
  denied = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(event: SessionEvent): void {
    if (event.type === "tool_call") this.#tools.set(event.callId, event.name);
    if (event.type === "permission_decision" && event.decision === "deny" && event.by === "policy") {
      this.denied = true;
    }
    const line = this.#tell(event);
    if (line !== undefined) this.#line(line);
  }

  #tell(event: SessionEvent): string | undefined {
    if (event.type === "reasoning_part_start") return `· ${event.title ?? "Thinking…"}`;
    if (event.type === "reasoning") {
      return `· Thought for ${seconds(event.durationMs)}${event.parts.length === 0 ? " · no summary" : ""}`;
    }
    if (event.type === "tool_call") return `→ ${event.name}(${event.arguments})`;
    if (event.type === "tool_result") {
      return `${event.status === "ok" ? "✓" : "✗"} ${this.#tools.get(event.callId) ?? event.callId}: ${event.text}`;
    }
    if (event.type === "retry") return `! ${event.error.message}; trying again in ${seconds(event.delayMs)}`;
    return event.type === "notice" ? `! ${event.message}` : undefined;
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
