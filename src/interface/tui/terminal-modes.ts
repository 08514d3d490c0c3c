/**
 * The terminal modes that the interface switches on: bracketed paste, and the Kitty keyboard protocol if supported. They
 * are switched off whenever another program gets the terminal, including a shell after Ctrl+Z.
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

  /** Called when the terminal has answered that it supports the protocol. */
  knowsKitty(): void {
    if (this.#kitty) return;
    this.#kitty = true;
    this.#write(KITTY_ON);
  }

  off(): void {
    this.#write(PASTE_OFF + (this.#kitty ? KITTY_OFF : ""));
  }
}
