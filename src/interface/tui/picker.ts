/** A list to choose from: arrows or Ctrl+P/Ctrl+N move, typing filters, Enter chooses, Esc cancels. */

import { inert, inertLine, messageOf } from "../../base/support/index.ts";
import type { Rows } from "./rows.ts";
import type { Style } from "./style.ts";
import { fit, isKey, wrap } from "./terminal-library.ts";

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly note?: string | undefined;
}

export interface PickerOptions {
  readonly title: string;
  readonly choices: readonly Choice[];
  /** Returns what the user should know before choosing a value; shown under the list. */
  readonly about?: ((value: string) => Promise<string>) | undefined;
  readonly onChange: () => void;
  readonly onEnd: (value: string | undefined) => void;
}

export class Picker {
  readonly #options: PickerOptions;
  readonly #about = new Map<string, string>();
  #filter = "";
  #at = 0;

  constructor(options: PickerOptions) {
    this.#options = options;
    this.#look();
  }

  key(data: string): void {
    const shown = this.#shown();
    if (isKey(data, "escape", "ctrl+c")) this.#options.onEnd(undefined);
    else if (isKey(data, "enter")) this.#take(shown);
    else {
      if (isKey(data, "up", "ctrl+p"))
        this.#at = (this.#at + Math.max(1, shown.length) - 1) % Math.max(1, shown.length);
      else if (isKey(data, "down", "tab", "ctrl+n")) this.#at = (this.#at + 1) % Math.max(1, shown.length);
      else if (isKey(data, "backspace")) this.#narrow(this.#filter.slice(0, -1));
      else if (!data.startsWith("\u001B") && inert(data) === data && data !== "\n")
        this.#narrow(this.#filter + data);
      this.#look();
    }
  }

  render(width: number, most: number, style: Style): Rows {
    const { title } = this.#options;
    const shown = this.#shown();
    const room = Math.max(1, most - (width < 52 ? 5 : 4));
    const from = Math.max(0, Math.min(this.#at - Math.floor(room / 2), shown.length - room));
    const list = shown.slice(from, from + room).map((choice, at) => {
      const chosen = from + at === this.#at;
      const note = choice.note === undefined ? "" : `  ${inertLine(choice.note, 200)}`;
      const label = inertLine(choice.label, 200);
      return fit(`${chosen ? style.accent(`❯ ${label}`) : `  ${label}`}${style.dim(note)}`, width);
    });
    const about = this.#about.get(shown[this.#at]?.value ?? "");
    const filter = this.#filter === "" ? "" : ` · ${this.#filter}`;
    return [
      fit(style.bold(`${title}${filter}`), width),
      ...(list.length === 0 ? [style.dim("  no matches; Backspace to widen")] : list),
      ...(about === undefined
        ? []
        : wrap(inert(about), width)
            .map((row) => style.warn(row))
            .slice(0, 3)),
      ...wrap("↑↓ move · type to filter · Enter choose · Esc cancel", width).map((row) => style.dim(row)),
    ];
  }

  #shown(): readonly Choice[] {
    const wanted = this.#filter.toLowerCase();
    return this.#options.choices.filter(({ label, note }) =>
      `${label} ${note ?? ""}`.toLowerCase().includes(wanted),
    );
  }

  #narrow(filter: string): void {
    this.#filter = filter;
    this.#at = 0;
  }

  #take(shown: readonly Choice[]): void {
    const choice = shown[this.#at];
    if (choice !== undefined) this.#options.onEnd(choice.value);
  }

  #look(): void {
    const value = this.#shown()[this.#at]?.value;
    const { about, onChange } = this.#options;
    onChange();
    if (about === undefined || value === undefined || this.#about.has(value)) return;
    this.#about.set(value, "…");
    void this.#tell(value, about);
  }

  async #tell(value: string, about: (value: string) => Promise<string>): Promise<void> {
    const text = await about(value).catch((error: unknown) => messageOf(error));
    this.#about.set(value, text);
    this.#options.onChange();
  }
}
