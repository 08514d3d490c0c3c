/**
 * The open question, and whether it or the message has the keyboard: whether a call may run, or what a running tool asks.
 * Text typed into a permission question that closes moves to the message. What was typed into a form never does: it was
 * meant for a server, and a message goes to a model.
 */

import type { SessionHandle } from "../../base/api/index.ts";
import type { ElicitationRequest, PermissionRequest } from "../../base/events/index.ts";
import { ElicitationPrompt } from "./elicitation-prompt.ts";
import { PermissionPrompt, type PromptView } from "./permission-prompt.ts";
import type { Style } from "./style.ts";

export interface QuestionDialogOptions {
  readonly handle: SessionHandle;
  /** The open question, if this interface can answer it. */
  readonly asked: () => PermissionRequest | ElicitationRequest | undefined;
  readonly message: { text: string };
  readonly onProblem: (error: unknown) => void;
}

export class QuestionDialog {
  readonly #options: QuestionDialogOptions;
  #prompt: PermissionPrompt | ElicitationPrompt | undefined;
  #answering = false;

  constructor(options: QuestionDialogOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#prompt !== undefined;
  }

  /** True if the question, not the message, has the keyboard. */
  get hasKeys(): boolean {
    return this.#prompt !== undefined && this.#answering;
  }

  /** Text typed into the question and not yet submitted that belongs to the message. */
  get typed(): string {
    return this.#prompt instanceof PermissionPrompt ? this.#prompt.typed : "";
  }

  /** Called after every change: opens a new question or closes the old one. */
  update(): void {
    const { asked, message } = this.#options;
    const request = asked();
    if (request?.requestId === this.#prompt?.requestId) return;
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

  /** True if the text was taken as a value; text pasted into any other question belongs to the message. */
  paste(text: string): boolean {
    if (!this.hasKeys || !(this.#prompt instanceof ElicitationPrompt)) return false;
    this.#prompt.paste(text);
    return true;
  }

  /** True if Esc declined what a tool asks; otherwise it stops the turn. */
  escape(): boolean {
    if (!this.hasKeys || !(this.#prompt instanceof ElicitationPrompt)) return false;
    this.#prompt.escape();
    return true;
  }

  render(width: number, most: number, style: Style): PromptView | undefined {
    return this.#prompt?.render(width, most, style);
  }

  #promptFor(request: PermissionRequest | ElicitationRequest): PermissionPrompt | ElicitationPrompt {
    return request.type === "permission_request" ? this.#permission(request) : this.#elicitation(request);
  }

  #elicitation(request: ElicitationRequest): ElicitationPrompt {
    const { handle, onProblem } = this.#options;
    return new ElicitationPrompt({
      request,
      onAnswer: async (answer) => {
        try {
          await handle.answer(request.requestId, answer);
        } catch (error) {
          onProblem(error);
          throw error;
        }
      },
    });
  }

  #permission(request: PermissionRequest): PermissionPrompt {
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
