/**
 * The question that stands, and who has the keys: the question or the message. What was typed into a question that goes
 * away belongs to the message.
 */

import type { SessionHandle } from "../../base/api/index.ts";
import type { PermissionRequest } from "../../base/events/index.ts";
import { PermissionPrompt, type PromptView } from "./permission-prompt.ts";
import type { Style } from "./style.ts";

export interface PermissionDialogOptions {
  readonly handle: SessionHandle;
  /** What the log asks; nobody may be here to answer it. */
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

  /** The question has the keys, not the message. */
  get hasKeys(): boolean {
    return this.#prompt !== undefined && this.#answering;
  }

  /** Typed into the question, and no answer yet. */
  get typed(): string {
    return this.#prompt?.typed ?? "";
  }

  /** After anything has happened: another question, or none any more. */
  update(): void {
    const { handle, asked, message } = this.#options;
    const request = handle.access === "read" || handle.writer === "none" ? undefined : asked();
    if (request?.requestId === this.#prompt?.request.requestId) return;
    if (this.typed !== "") message.text += this.typed;
    this.#prompt = request === undefined ? undefined : this.#promptFor(request);
    // Somebody in the middle of a message goes on writing it.
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
        const said =
          answer === "allow" ? handle.approve(requestId, { argumentsHash }) : handle.deny(requestId);
        said.catch(onProblem);
      },
      onText: (text) => {
        message.text = text;
        this.#answering = false;
      },
    });
  }
}
