/**
 * Handles keys: decides whether a list, a question or the message gets a key, and which keys stop or exit. If the screen
 * does not show what a key did, a hint says so until the next key.
 */

import type { ChatEnd } from "./commands.ts";
import type { LineEditor } from "./line-editor.ts";
import type { LiveSession } from "./live-session.ts";
import type { Painter } from "./painter.ts";
import type { Picker } from "./picker.ts";
import type { QuestionDialog } from "./question-dialog.ts";
import { isKey } from "./terminal-library.ts";
import type { TuiOptions } from "./tui-options.ts";

export interface KeyboardParts {
  readonly options: Pick<TuiOptions, "history" | "files">;
  readonly session: LiveSession;
  readonly painter: Painter;
  readonly editor: LineEditor;
  readonly dialog: QuestionDialog;
  readonly picker: () => Picker | undefined;
  readonly command: (line: string) => void;
  /** Sends the message into the running turn. */
  readonly steer: (text: string) => void;
  readonly suspend: () => void;
  readonly end: (outcome: ChatEnd) => void;
}

export class Keyboard {
  readonly #parts: KeyboardParts;
  /** True if the next Ctrl+C exits. */
  #armed = false;
  hint: string | undefined;

  constructor(parts: KeyboardParts) {
    this.#parts = parts;
  }

  paste(text: string): void {
    const { editor, dialog, picker } = this.#parts;
    if (picker() !== undefined || dialog.paste(text)) return;
    dialog.leave();
    editor.paste(text);
  }

  key(data: string): void {
    const { editor, dialog, painter, options } = this.#parts;
    const armed = this.#armed;
    this.#armed = false;
    this.hint = undefined;
    const picker = this.#parts.picker();
    const { completing } = editor;
    if (picker !== undefined) picker.key(data);
    else if (isKey(data, "ctrl+c")) this.#controlC(armed);
    else if (isKey(data, "ctrl+t")) this.hint = painter.toggle("reasoning");
    else if (isKey(data, "ctrl+o")) this.hint = painter.toggle("tools");
    else if (isKey(data, "ctrl+z")) this.#parts.suspend();
    else if (isKey(data, "escape") && !completing) this.#escape();
    else if (isKey(data, "tab") && dialog.isOpen && !completing) dialog.toggle();
    else if (dialog.hasKeys) dialog.key(data);
    else if (isKey(data, "ctrl+d") && editor.text === "") this.#parts.end({ type: "leave" });
    else if (isKey(data, "ctrl+l")) this.#parts.command("/model");
    else if (isKey(data, "ctrl+s")) this.#steer();
    else if (isKey(data, "alt+up")) this.#takeBack();
    else if (isKey(data, "ctrl+j")) editor.key("\n");
    else {
      editor.key(data);
      if (data === "@" && options.files === undefined) this.hint = FILES_THERE;
    }
  }

  /** The first Ctrl+C stops the turn or clears the line; the second exits. */
  #controlC(armed: boolean): void {
    const { session, editor, options } = this.#parts;
    if (armed) {
      this.#parts.end({ type: "leave" });
      return;
    }
    this.#armed = true;
    const { text } = editor;
    if (session.stoppable) {
      session.stopAndHold();
      this.hint = "Stopping. Press Ctrl+C again to exit.";
    } else if (text === "") {
      this.hint = "Press Ctrl+C again to exit.";
    } else {
      options.history.add(text);
      editor.remember(text);
      editor.text = "";
      session.rewriting = undefined;
      this.hint = "Cleared; Up brings it back. Press Ctrl+C again to exit.";
    }
  }

  #escape(): void {
    const { session, dialog } = this.#parts;
    if (dialog.escape()) return;
    if (session.stoppable) session.stop();
    else if (session.away) this.hint = "The server does not answer, so the turn cannot be stopped now.";
    else if (session.rewriting !== undefined) {
      session.rewriting = undefined;
      this.hint = "No longer an edit: Enter sends it as a new message.";
    }
  }

  #steer(): void {
    const { editor } = this.#parts;
    const text = editor.text.trim();
    if (text === "") {
      this.hint = "Type a message first; Ctrl+S sends it into the running turn.";
      return;
    }
    editor.text = "";
    this.#parts.steer(text);
  }

  #takeBack(): void {
    const { session, editor } = this.#parts;
    const parts = [...session.takeBack(), editor.text];
    editor.text = parts.filter((text) => text !== "").join("\n\n");
  }
}

const FILES_THERE =
  "Files are on the server and cannot be listed here. The server reads a path that you type.";
