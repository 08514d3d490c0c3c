/**
 * Asks for the values of a form, one field after another, or shows an address to open. It replaces the input, so it
 * cannot scroll away. Nothing goes to the server before the last line: there a word and Enter accept, decline or cancel,
 * and Enter alone does nothing. Esc declines.
 */

import {
  type Elicitation,
  type ElicitationAnswer,
  type ElicitationField,
  elicitationOf,
  type ElicitationRequest,
  type ElicitationValue,
  typedElicitationValue,
} from "../../base/events/index.ts";
import { inert, unmistakableLine, withoutActive } from "../../base/support/index.ts";
import {
  actionOf,
  elicitationLines,
  elicitationTitle,
  emptyMeans,
  fieldLabel,
  fieldLines,
  shownValue,
} from "./elicitation-words.ts";
import type { PromptView } from "./permission-prompt.ts";
import { count, type Rows } from "./rows.ts";
import type { Style } from "./style.ts";
import { fit, isKey, widthOf, wrap } from "./terminal-library.ts";

export interface ElicitationPromptOptions {
  readonly request: ElicitationRequest;
  /** Resolves when the session has the answer. */
  readonly onAnswer: (answer: ElicitationAnswer) => Promise<void>;
}

export class ElicitationPrompt {
  readonly #options: ElicitationPromptOptions;
  readonly #asked: Elicitation;
  readonly #fields: readonly ElicitationField[];
  readonly #values: (ElicitationValue | undefined)[] = [];
  #typed = "";
  #problem: string | undefined;
  #sent = false;
  #from = 0;
  #room = 1;

  constructor(options: ElicitationPromptOptions) {
    this.#options = options;
    this.#asked = elicitationOf(options.request);
    this.#fields = this.#asked.mode === "form" ? this.#asked.fields : [];
  }

  get requestId(): string {
    return this.#options.request.requestId;
  }

  /** Text typed and not yet submitted. */
  get typed(): string {
    return this.#typed;
  }

  key(data: string): void {
    if (isKey(data, "enter")) this.#enter();
    else if (isKey(data, "backspace")) this.#typed = Array.from(this.#typed).slice(0, -1).join("");
    else if (isKey(data, "ctrl+u")) this.#typed = "";
    else if (isKey(data, "down", "pageDown")) this.#scroll(isKey(data, "down") ? 1 : this.#room);
    else if (isKey(data, "up", "pageUp")) this.#scroll(isKey(data, "up") ? -1 : -this.#room);
    else if (!data.startsWith("\u001B") && inert(data) === data && data !== "\n") this.#typed += data;
  }

  paste(text: string): void {
    this.#typed += withoutActive(text).replaceAll(/[\n\t]+/g, " ");
  }

  escape(): void {
    this.#answer({ action: "decline" });
  }

  /** Renders at most `most` rows, however long the question is. */
  render(width: number, most: number, style: Style): PromptView {
    // Wrapped, never cut: the end of a host says whose page it is.
    const title = wrap(`? ${elicitationTitle(this.#asked)}`, width).map((row) => style.warn(row));
    const all = this.#body().flatMap((line) => hanging(line, width - 4));
    const problem = this.#problem === undefined ? [] : wrap(this.#problem, width - 2).slice(0, 2);
    const hint = wrap(this.#hint(), width - 2).slice(0, most < 12 ? 1 : 3);
    this.#room = Math.max(1, Math.min(all.length, most - 2 - title.length - hint.length - problem.length));
    this.#from = Math.max(0, Math.min(this.#from, all.length - this.#room));
    const shown = all.slice(this.#from, this.#from + this.#room).map((row) => `  ${row}`);
    const below = all.length - this.#from - this.#room;
    const scroll = all.length > this.#room ? [style.dim(fit(this.#scrollHint(below), width))] : [];
    const asked: Rows = [...title, ...shown, ...scroll];
    const rows = [
      ...asked,
      ...problem.map((row) => style.bad(`  ${row}`)),
      ...hint.map((row) => style.dim(`  ${row}`)),
      fit(`❯ ${inert(tailOf(this.#typed, width - 4))}`, width),
    ];
    const column = Math.min(width - 1, 2 + widthOf(tailOf(this.#typed, width - 4)));
    return { asked, rows, cursor: { row: rows.length - 1, column } };
  }

  get #field(): ElicitationField | undefined {
    return this.#fields[this.#values.length];
  }

  /** The message, then the field that is asked for, or all values before they are sent. */
  #body(): readonly string[] {
    const field = this.#field;
    const lines = elicitationLines(this.#asked);
    if (field === undefined)
      return [
        ...lines,
        ...this.#fields.map((one, at) => `${labelOf(one)}: ${shownValue(one, this.#values[at])}`),
      ];
    const place = this.#fields.length === 1 ? "" : `${this.#values.length + 1} of ${this.#fields.length}: `;
    return [...lines, `${place}${fieldLabel(field)}`, ...fieldLines(field)];
  }

  #hint(): string {
    if (this.#sent) return "Sending…";
    const field = this.#field;
    if (field !== undefined) return `${emptyMeans(field)} · Esc declines`;
    const server = unmistakableLine(this.#asked.server);
    const accept = this.#asked.mode === "form" ? `a + Enter sends this to ${server}` : "a + Enter: I am done";
    const back = this.#fields.length === 0 ? "" : " · b starts again";
    return `${accept} · d declines · c cancels${back} · Esc declines`;
  }

  #scrollHint(below: number): string {
    return below === 0 ? `  (end; ${count(this.#from, "row")} above)` : `  ↓ ${count(below, "more row")}`;
  }

  #scroll(by: number): void {
    this.#from = Math.max(0, this.#from + by);
  }

  #enter(): void {
    if (this.#sent) return;
    const field = this.#field;
    if (field === undefined) {
      this.#decide();
      return;
    }
    const read = typedElicitationValue(field, this.#typed);
    if (!read.ok) {
      this.#problem = `${labelOf(field)} ${read.problem}`; // what was typed stays, to be corrected
      return;
    }
    this.#values.push(read.value);
    this.#next();
  }

  #decide(): void {
    const word = this.#typed.trim().toLowerCase();
    const action = actionOf(word);
    if (word === "b" && this.#fields.length > 0) this.#values.length = 0;
    else if (action === undefined) {
      this.#problem = "Type a, d or c and press Enter.";
      return;
    } else this.#answer(action === "accept" ? { action, content: this.#content() } : { action });
    this.#next();
  }

  #next(): void {
    this.#typed = "";
    this.#problem = undefined;
    this.#from = 0;
  }

  /** A field that was left out is an empty text: an absent one would get its default. */
  #content(): Readonly<Record<string, ElicitationValue>> {
    return Object.fromEntries(this.#fields.map(({ name }, at) => [name, this.#values[at] ?? ""]));
  }

  #answer(answer: ElicitationAnswer): void {
    if (this.#sent) return;
    this.#sent = true;
    this.#options.onAnswer(answer).catch(() => {
      this.#sent = false; // the interface shows why; the question is closed if it is over
    });
  }
}

function labelOf(field: ElicitationField): string {
  return unmistakableLine(field.title === undefined || field.title.trim() === "" ? field.name : field.title);
}

/** The rest of a long line is behind a bar: it cannot imitate the dialog. */
function hanging(line: string, width: number): Rows {
  return wrap(line, width).map((row, at) => (at === 0 ? row : `│ ${row}`));
}

/** The end of a long line, where the cursor is. */
function tailOf(text: string, width: number): string {
  let shown = text;
  while (widthOf(shown) > Math.max(1, width)) shown = Array.from(shown).slice(1).join("");
  return shown;
}
