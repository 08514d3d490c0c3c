/**
 * What the terminal is asked to do differently while it is ours: pastes in brackets, and keys in full where it knows
 * the Kitty protocol. Given back whenever somebody else gets the terminal, a shell after Ctrl+Z included.
 */

const PASTE_ON = "\u001B[?2004h";
const PASTE_OFF = "\u001B[?2004l";
const ASK_KITTY = "\u001B[?u";
const KITTY_ON = "\u001B[>1u";
const KITTY_OFF = "\u001B[<u";

export class TerminalModes {
  readonly #write: (data: string) => void;
  #kitty = false;

  constructor(terminal: { write(data: string): void }) {
    this.#write = (data) => terminal.write(data);
  }

  on(): void {
    this.#write(PASTE_ON + (this.#kitty ? KITTY_ON : ASK_KITTY));
  }

  /** It has answered that it knows the protocol. */
  knowsKitty(): void {
    if (this.#kitty) return;
    this.#kitty = true;
    this.#write(KITTY_ON);
  }

  off(): void {
    this.#write(PASTE_OFF + (this.#kitty ? KITTY_OFF : ""));
  }
}
