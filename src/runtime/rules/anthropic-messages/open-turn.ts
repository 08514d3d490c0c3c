/**
 * The turn that is still open at the end of the messages. A tool loop is one assistant turn (C13); a user message
 * without results starts another.
 */

import type { MessageView } from "./message-view.ts";

export class OpenTurn {
  readonly #answers: MessageView[] = [];
  #last: MessageView | undefined;

  push(message: MessageView): void {
    this.#last = message;
    if (message.role === "assistant") this.#answers.push(message);
    else if (message.role === "user" && !message.blocks.some(({ type }) => type === "tool_result"))
      this.#answers.length = 0;
  }

  /** The assistant messages of the open turn, in order. */
  answers(): readonly MessageView[] {
    return this.#answers;
  }

  last(): MessageView | undefined {
    return this.#last;
  }
}
