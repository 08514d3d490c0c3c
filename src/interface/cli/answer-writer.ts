/**
 * Writes the answer to standard output as it arrives. After an interrupted turn, the output is what the user has seen.
 *
 * Text that the provider marks as commentary is progress and goes to stderr. If an attempt is cut off and retried, its
 * text cannot be taken back: the new attempt starts on a new line.
 */

import type { SessionEvent } from "../../base/events/index.ts";
import type { Terminal } from "./terminal.ts";

export class AnswerWriter {
  readonly #terminal: Terminal;
  /** By response and output index: how much of a message was written, and whether it is commentary. */
  readonly #messages = new Map<string, { written: number; readonly aside: boolean }>();
  #midLine = false;
  #any = false;
  /** A trailing character that may be half of a pair: a surrogate, or a carriage return. */
  #held = "";

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(event: SessionEvent): void {
    if (event.type === "text_start") {
      this.#endLine();
      this.#messages.set(keyOf(event), { written: 0, aside: event.phase === "commentary" });
    } else if (event.type === "text_delta") this.#delta(event);
    else if (event.type === "text_end") this.#flush();
    else if (event.type === "assistant_message") this.#whole(event);
    else if (event.type === "response_end" && event.status !== "completed") this.#endLine();
  }

  /** Ends the last line. Returns true if anything was written. */
  end(): boolean {
    this.#endLine();
    return this.#any;
  }

  #delta(event: Extract<SessionEvent, { type: "text_delta" }>): void {
    const message = this.#messages.get(keyOf(event));
    if (message === undefined || message.aside) return;
    message.written += event.delta.length;
    this.#write(event.delta);
  }

  /** Some servers send a message without deltas, or a final text that is longer than its deltas. */
  #whole(event: Extract<SessionEvent, { type: "assistant_message" }>): void {
    if (event.phase === "commentary") return;
    const text = event.text === "" ? (event.refusal ?? "") : event.text;
    const written = this.#messages.get(keyOf(event))?.written ?? 0;
    if (text.length > written) this.#write(text.slice(written));
    this.#endLine();
  }

  #write(text: string): void {
    if (text === "") return;
    const all = this.#held + text;
    const keep = /[\uD800-\uDBFF\r]$/.test(all) ? 1 : 0;
    this.#held = keep === 0 ? "" : all.slice(-1);
    this.#out(keep === 0 ? all : all.slice(0, -1));
  }

  #flush(): void {
    const held = this.#held;
    this.#held = "";
    this.#out(held);
  }

  #out(text: string): void {
    if (text === "") return;
    this.#terminal.stdout.write(text);
    this.#midLine = !text.endsWith("\n");
    this.#any = true;
  }

  #endLine(): void {
    this.#flush();
    if (this.#midLine) this.#terminal.stdout.write("\n");
    this.#midLine = false;
  }
}

function keyOf(event: { readonly response?: string; readonly outputIndex?: number }): string {
  return `${event.response ?? ""} ${event.outputIndex ?? 0}`;
}
