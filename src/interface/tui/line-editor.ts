/**
 * The input: pi-tui's editor (multiple lines, undo, kill ring, history, completion, large pastes as a marker) without its
 * frame and with the terminal's own cursor. Control characters never get into its text.
 */

import {
  type AutocompleteProvider,
  CURSOR_MARKER,
  Editor,
  type EditorTheme,
  type TUI,
} from "@earendil-works/pi-tui";

import { withoutActive } from "../../base/support/index.ts";
import type { Completion } from "./completion.ts";
import type { Rows } from "./rows.ts";
import type { Style } from "./style.ts";
import { fit, isKey, widthOf } from "./terminal-library.ts";

export interface LineEditorOptions {
  readonly style: Style;
  /** The rows of the terminal. */
  readonly height: () => number;
  readonly onSubmit: (text: string) => void;
  /** Called on changes without a key, for example when completions arrive. */
  readonly onChange: () => void;
  readonly complete: Completion;
}

export interface EditorView {
  readonly rows: Rows;
  readonly cursor: { readonly row: number; readonly column: number };
}

const PROMPT = "❯ ";
/** Marks the rows of the library's frame; never occurs in text. */
const FRAME = "\u0000";
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const FAKE_CURSOR = /\u001B\[7m([^]*?)\u001B\[0m/;

/** Text that can be completed: the name of a command, or of a file after an @ (completion.ts). */
const COMPLETABLE = /^\/[a-z]*$|(?:^|\s)@\S*$/;

export class LineEditor {
  readonly #editor: Editor;
  readonly #style: Style;
  readonly #provider: AutocompleteProvider;
  /** The text and cursor that the visible list belongs to. */
  #listedFor: string | undefined;

  constructor(options: LineEditorOptions) {
    this.#style = options.style;
    // The editor uses only these two members of its screen.
    const screen = {
      terminal: {
        get rows() {
          return options.height();
        },
      },
      requestRender: () => options.onChange(),
    };
    this.#editor = new Editor(screen as unknown as TUI, themeOf(options.style), {
      autocompleteMaxVisible: 8,
    });
    this.#editor.focused = true;
    this.#editor.onSubmit = (text) => options.onSubmit(text);
    this.#provider = this.#providerOf(options.complete);
    this.#editor.setAutocompleteProvider(this.#provider);
  }

  /** The text with pastes expanded. */
  get text(): string {
    return this.#editor.getExpandedText();
  }

  set text(text: string) {
    this.#editor.setText(clean(text));
  }

  get completing(): boolean {
    return this.#editor.isShowingAutocomplete();
  }

  remember(text: string): void {
    this.#editor.addToHistory(clean(text));
  }

  key(data: string): void {
    // The library completes from the visible list, even if the text has changed since that list was requested.
    if (this.completing && isKey(data, "enter", "tab") && this.#listedFor !== this.#textAndCursor()) {
      this.#editor.setAutocompleteProvider(this.#provider); // closes the list
    }
    // Alt with a key starts with an escape; anything else that is not a sequence is text and must be made harmless.
    this.#editor.handleInput(data.startsWith("\u001B") || data.length === 1 ? data : clean(data));
    // The library leaves the list open when cutting, pasting or undoing changes the text.
    if (this.completing && !COMPLETABLE.test(this.#before())) {
      this.#editor.setAutocompleteProvider(this.#provider); // closes the list
    }
  }

  #before(): string {
    const { line, col } = this.#editor.getCursor();
    return (this.#editor.getLines()[line] ?? "").slice(0, col);
  }

  paste(text: string): void {
    this.#editor.handleInput(`\u001B[200~${clean(text)}\u001B[201~`);
  }

  render(width: number): EditorView {
    const inner = Math.max(2, width - PROMPT.length);
    const drawn = this.#editor.render(inner);
    const end = drawn.findLastIndex((row) => row.startsWith(FRAME));
    const typed = drawn.slice(1, end);
    let cursor = { row: 0, column: PROMPT.length };
    const rows = typed.map((row, at) => {
      const cursorAt = row.indexOf(CURSOR_MARKER);
      if (cursorAt !== -1) cursor = { row: at, column: PROMPT.length + widthOf(row.slice(0, cursorAt)) };
      const text = row.replace(CURSOR_MARKER, "").replace(FAKE_CURSOR, "$1").trimEnd();
      return `${at === 0 ? this.#style.accent(PROMPT) : "  "}${text}`;
    });
    const list = drawn.slice(end + 1).map((row) => fit(`  ${row.trimEnd()}`, width));
    return { rows: [...rows, ...list], cursor: { ...cursor, column: Math.min(cursor.column, width - 1) } };
  }

  #textAndCursor(): string {
    const { line, col } = this.#editor.getCursor();
    return `${line}:${col}:${this.#editor.getText()}`;
  }

  #providerOf(complete: Completion): AutocompleteProvider {
    return {
      getSuggestions: async (lines, line, column, { signal }) => {
        const askedFor = this.#textAndCursor();
        const before = (lines[line] ?? "").slice(0, column);
        const found = await complete(before, { firstLine: line === 0, signal });
        // The library drops suggestions that arrive too late and keeps showing the old list.
        if (!signal.aborted && this.#textAndCursor() === askedFor) this.#listedFor = askedFor;
        return found === undefined || found.items.length === 0
          ? null
          : { prefix: found.prefix, items: found.items.map((item) => ({ ...item })) };
      },
      applyCompletion,
    };
  }
}

function clean(text: string): string {
  // Terminals send the line breaks of a paste as CR, like Enter.
  const lines = text.replaceAll(/\r\n?/g, "\n");
  // The user pasted the text, so drop control characters instead of showing them as escapes.
  return withoutActive(lines);
}

function themeOf(style: Style): EditorTheme {
  return {
    borderColor: (text) => FRAME + text,
    selectList: {
      selectedPrefix: style.accent,
      selectedText: style.accent,
      description: style.dim,
      scrollInfo: style.dim,
      noMatch: style.dim,
    },
  };
}

const applyCompletion: AutocompleteProvider["applyCompletion"] = (lines, line, column, item, prefix) => {
  const row = lines[line] ?? "";
  const before = row.slice(0, column - prefix.length) + item.value;
  const changed = [...lines];
  changed[line] = before + row.slice(column);
  return { lines: changed, cursorLine: line, cursorCol: before.length };
};
