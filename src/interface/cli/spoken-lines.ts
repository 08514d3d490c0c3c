/** Shows a turn in sentences, for a screen reader: no symbols, no boxes, no running seconds. */

import type { SessionEvent, ToolCall } from "../../base/events/index.ts";
import { resultOutcome, TOOL_STATUS_WORDS, ToolNames } from "../fragments/index.ts";
import { amount } from "./amount.ts";
import { inertLine } from "./inert-text.ts";

const LENGTH = 300;

export class SpokenLines {
  readonly #write: (line: string) => void;
  readonly #tools = new Map<string, ToolCall>();
  readonly #names: ToolNames;

  constructor(write: (line: string) => void, names = new ToolNames()) {
    this.#write = write;
    this.#names = names;
  }

  show(event: SessionEvent): void {
    if (event.type === "settings") this.#names.add(event.settings.tools);
    if (event.type === "tool_call") this.#tools.set(event.callId, event);
    const line = this.#tell(event);
    if (line !== undefined) this.#write(inertLine(line, LENGTH));
  }

  #tell(event: SessionEvent): string | undefined {
    if (event.type === "reasoning_part_start")
      return event.title === undefined ? "Thinking." : `Thinking: ${event.title}.`;
    if (event.type === "reasoning") {
      const parts = event.parts.length === 0 ? "no summary" : amount(event.parts.length, "part");
      const seconds = Math.round(event.durationMs / 1000);
      return `Thought for ${seconds < 1 ? "less than a second" : amount(seconds, "second")}, ${parts}.`;
    }
    if (event.type === "tool_call") return `Tool ${this.#names.label(event.name)}: ${event.arguments}.`;
    if (event.type === "tool_result") {
      const name = this.#tools.get(event.callId)?.name ?? "";
      const done = resultOutcome({ name, mcp: this.#names.of(name), result: event }) === "ok";
      const said = done ? "" : `: ${event.text}`;
      const outcome = done ? "done" : (TOOL_STATUS_WORDS[event.status] ?? "failed");
      const person = event.forPerson === undefined ? "" : ` For you: ${event.forPerson}.`;
      return `Tool ${this.#names.label(name)}: ${outcome}${said}.${person}`;
    }
    if (event.type === "retry")
      return `Waiting ${amount(Math.ceil(event.delayMs / 1000), "second")} before another attempt: ${event.error.message}.`;
    if (event.type === "elicitation_answer" && event.by === "policy")
      return `The question was ${event.action === "decline" ? "declined" : "cancelled"}: ${event.reason ?? "nobody decided"}.`;
    return event.type === "notice" ? `Note: ${event.message}.` : undefined;
  }
}
