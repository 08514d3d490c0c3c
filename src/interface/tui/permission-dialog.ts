/**
 * The open permission question, and whether it or the message has the keyboard. Text typed into a question that closes
 * moves to the message.
 */

import type { SessionHandle } from "../../base/api/index.ts";
import type { PermissionRequest } from "../../base/events/index.ts";
import { PermissionPrompt, type PromptView } from "./permission-prompt.ts";
import type { Style } from "./style.ts";

export interface PermissionDialogOptions {
  readonly handle: SessionHandle;
  /** The open request, if this interface can answer it. */
  readonly asked: () => PermissionRequest | undefined;
  readonly message: { text: string };
  readonly onProblem: (error: unknown) => void;
}

export class PermissionDialog {
  readonly #options: PermissionDialogOptions;
  #prompt: PermissionPrompt | undefined;
  #answering = false;

  constructor(options: PermissionDialogOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#prompt !== undefined;
  }

  /** True if the question, not the message, has the keyboard. */
  get hasKeys(): boolean {
    return this.#prompt !== undefined && this.#answering;
  }

  /** Text typed into the question and not yet submitted. */
  get typed(): string {
    return this.#prompt?.typed ?? "";
  }

  /** Called after every change: opens a new question or closes the old one. */
  update(): void {
    const { asked, message } = this.#options;
    const request = asked();
    if (request?.requestId === this.#prompt?.request.requestId) return;
    if (this.typed !== "") message.text += this.typed;
    this.#prompt = request === undefined ? undefined : this.#promptFor(request);
    // A user who is typing a message keeps typing it.
    this.#answering = message.text === "";
  }

  toggle(): void {
    this.#answering = !this.#answering;
  }

  leave(): void {
    this.#answering = false;
  }

  key(data: string): void {
    this.#prompt?.key(data);
  }

  render(width: number, most: number, style: Style): PromptView | undefined {
    return this.#prompt?.render(width, most, style);
  }

  #promptFor(request: PermissionRequest): PermissionPrompt {
    const { handle, message, onProblem } = this.#options;
    return new PermissionPrompt({
      request,
      onAnswer: (answer) => {
        const { requestId, argumentsHash } = request;
        const forSession = answer === "session" ? true : undefined;
        const said =
          answer === "deny"
            ? handle.deny(requestId)
            : handle.approve(requestId, { argumentsHash, forSession });
        said.catch(onProblem);
      },
      onText: (text) => {
        message.text = text;
        this.#answering = false;
      },
    });
  }
}
