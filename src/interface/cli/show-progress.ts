/** Shows a turn as lines on stderr: reasoning titles, tools, waits. It moves no cursor, so it reads the same in a log. */

import type {
  ElicitationAnswerEvent,
  PermissionRequest,
  Reasoning,
  SessionEvent,
  ShowReasoning,
  ToolCall,
} from "../../base/events/index.ts";
import { unmistakableLine } from "../../base/support/index.ts";
import { formatDuration, mcpQuestionLines, resultOutcome, ToolNames } from "../fragments/index.ts";
import { inert, inertLine } from "./inert-text.ts";
import type { Terminal } from "./terminal.ts";

const WIDTH = 100;
/** The limit for errors, which say at their end what to do. */
const SENTENCE = 2000;

export interface ProgressOptions {
  /** `auto` means `title`: the title as soon as it is known, the duration at the end. */
  readonly reasoning?: ShowReasoning | undefined;
  /** What earlier events of the session have said about the names of tools. */
  readonly names?: ToolNames | undefined;
  /** Also shows questions about calls, for a caller that does not ask them itself. */
  readonly questions?: boolean | undefined;
}

export class ProgressLines {
  readonly #terminal: Terminal;
  readonly #reasoning: ShowReasoning;
  readonly #names: ToolNames;
  readonly #questions: boolean;
  readonly #tools = new Map<string, ToolCall>();
  /** The servers that asked, by the id of the question. */
  readonly #asked = new Map<string, string>();
  /** True if the policy, not a person, denied a call. */
  denied = false;

  constructor(terminal: Terminal, options: ProgressOptions = {}) {
    this.#terminal = terminal;
    this.#reasoning = options.reasoning ?? "auto";
    this.#names = options.names ?? new ToolNames();
    this.#questions = options.questions === true;
  }

  show(event: SessionEvent): void {
    if (event.type === "settings") this.#names.add(event.settings.tools);
    if (event.type === "tool_call") this.#tools.set(event.callId, event);
    if (event.type === "permission_request" && this.#questions) this.#question(event);
    if (event.type === "elicitation_request") this.#asked.set(event.requestId, event.server);
    if (event.type === "permission_decision" && event.decision === "deny" && event.by === "policy") {
      this.denied = true;
    }
    for (const line of this.#tell(event)) this.#line(line);
    if (event.type === "reasoning" && this.#reasoning === "full") this.#thought(event);
  }

  #tell(event: SessionEvent): readonly string[] {
    if (event.type === "reasoning_part_start" || event.type === "reasoning") {
      return this.#reasoning === "none" ? [] : [thoughtLine(event)];
    }
    // Commentary is progress; the answer goes to stdout.
    if (event.type === "assistant_message" && event.phase === "commentary") return [`» ${event.text}`];
    if (event.type === "tool_call") return [`→ ${this.#names.label(event.name)}(${event.arguments})`];
    if (event.type === "tool_result") {
      const name = this.#tools.get(event.callId)?.name ?? event.callId;
      const done = resultOutcome({ name, mcp: this.#names.of(name), result: event }) === "ok";
      const person = event.forPerson === undefined ? [] : [`  for you: ${event.forPerson}`];
      return [`${done ? "✓" : "✗"} ${this.#names.label(name)}: ${event.text}`, ...person];
    }
    if (event.type === "elicitation_request") return [`? ${event.server} asks: ${event.message}`];
    if (event.type === "elicitation_answer")
      return answerLine(event, this.#asked.get(event.requestId) ?? "a server");
    if (event.type === "retry")
      return [`! ${event.error.message} · retrying in ${formatDuration(event.delayMs)}`];
    return event.type === "notice" ? [`! ${event.message}`] : [];
  }

  /** Complete, because it says what waits for permission. */
  #question({ tool, arguments: given, mcp, changed }: PermissionRequest): void {
    if (mcp === undefined) return;
    const [whose = "", ...more] = mcpQuestionLines({ mcp, changed });
    const name = unmistakableLine(tool);
    for (const line of [`? ${whose} (${name}): ${unmistakableLine(given)}`, ...more])
      this.#terminal.stderr.write(`${this.#terminal.dim(line)}\n`);
  }

  #thought({ parts }: Reasoning): void {
    for (const { text } of parts) {
      for (const line of inert(text).trim().split("\n")) {
        this.#terminal.stderr.write(`${this.#terminal.dim(`  ${line}`)}\n`);
      }
    }
  }

  #line(text: string): void {
    this.#terminal.stderr.write(
      `${this.#terminal.dim(inertLine(text, text.startsWith("! ") ? SENTENCE : WIDTH))}\n`,
    );
  }
}

function thoughtLine(event: Extract<SessionEvent, { type: "reasoning_part_start" | "reasoning" }>): string {
  if (event.type === "reasoning_part_start") return `· ${event.title ?? "Thinking…"}`;
  return `· Thought for ${formatDuration(event.durationMs)}${event.parts.length === 0 ? " · no summary from the provider" : ""}`;
}

/** A person knows what they answered. */
function answerLine({ action, by, reason }: ElicitationAnswerEvent, server: string): readonly string[] {
  if (by === "person") return [];
  const did = action === "decline" ? "declined" : "cancelled";
  return [`! the question of ${server} was ${did}${reason === undefined ? "" : `: ${reason}`}`];
}

/** Formats a duration with tenths of a second, for tables. Sentences use `formatDuration`. */
export function seconds(ms: number): string {
  if (ms > 0 && ms < 50) return "<0.1s";
  return ms < 60_000
    ? `${Math.round(ms / 100) / 10}s`
    : `${Math.floor(ms / 60_000)}m${Math.round((ms % 60_000) / 1000)}s`;
}
