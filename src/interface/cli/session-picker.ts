/**
 * Lets the user pick a session from a numbered list, or search. It writes only lines, so it also works with a screen
 * reader and on a terminal that cannot move its cursor.
 */

import { createInterface, type Interface } from "node:readline/promises";

import type { Store } from "../../runtime/log/index.ts";
import { inertLine } from "./inert-text.ts";
import { rowsOf, rowText, type SessionRow } from "./session-rows.ts";
import { forLineEditor } from "./terminal-gate.ts";
import type { Terminal } from "./terminal.ts";

const PAGE = 10;
/** The number of sessions to search for one page before asking the user again. */
const MOST_SEARCHED = 2000;

/** Returns undefined if the user quits without choosing. */
export async function pickSession(
  store: Store,
  cwd: string | undefined,
  terminal: Terminal,
): Promise<string | undefined> {
  const lines = createInterface({ input: terminal.stdin, output: forLineEditor(terminal.stderr) });
  const ended = new AbortController();
  lines.once("close", () => ended.abort());
  lines.once("SIGINT", () => lines.close());
  try {
    return await new Picker({ store, terminal, lines, ended: ended.signal }, cwd).pick();
  } finally {
    lines.close();
  }
}

interface PickerParts {
  readonly store: Store;
  readonly terminal: Terminal;
  readonly lines: Interface;
  readonly ended: AbortSignal;
}

class Picker {
  readonly #parts: PickerParts;
  #cwd: string | undefined;
  #query = "";
  #rows: AsyncGenerator<SessionRow>;
  #shown: SessionRow[] = [];
  #more = true;

  constructor(parts: PickerParts, cwd: string | undefined) {
    this.#parts = parts;
    this.#cwd = cwd;
    this.#rows = rowsOf(parts.store, cwd);
  }

  async pick(): Promise<string | undefined> {
    await this.#page();
    if (this.#shown.length === 0 && this.#cwd !== undefined) {
      this.#say("No sessions in this directory. These are the sessions of all directories.");
      await this.#restart("", undefined);
    }
    for (;;) {
      if (this.#shown.length === 0 && this.#query === "") {
        this.#say("No sessions yet. Run throughline to start one.");
        return undefined;
      }
      const answer = await this.#ask();
      if (answer === undefined || answer === "q") return undefined;
      const chosen = /^\d+$/.test(answer) ? this.#shown[Number(answer) - 1] : undefined;
      if (chosen !== undefined) return chosen.id;
      await this.#next(answer);
    }
  }

  async #next(answer: string): Promise<void> {
    if (answer === "") await this.#page();
    else if (/^\d+$/.test(answer)) this.#say(`The list has no number ${inertLine(answer, 20)}.`);
    else if (answer === "*") await this.#restart("", undefined);
    else await this.#restart(answer, this.#cwd);
  }

  async #restart(query: string, cwd: string | undefined): Promise<void> {
    await this.#rows.return(undefined);
    this.#query = query;
    this.#cwd = cwd;
    this.#shown = [];
    this.#more = true;
    this.#rows = rowsOf(this.#parts.store, cwd);
    await this.#page();
    if (this.#shown.length === 0 && query !== "")
      this.#say(`No title contains "${inertLine(query, 60)}", and no id begins with it.`);
  }

  async #page(): Promise<void> {
    const from = this.#shown.length;
    for (
      let looked = 0;
      this.#more && this.#shown.length < from + PAGE && looked < MOST_SEARCHED;
      looked += 1
    ) {
      const { value, done } = await this.#rows.next();
      if (done === true) this.#more = false;
      else if (matches(value, this.#query)) this.#shown.push(value);
    }
    for (const [index, row] of this.#shown.slice(from).entries()) {
      this.#say(`${String(from + index + 1).padStart(3)}  ${rowText(row)}`);
    }
    if (!this.#more && this.#shown.length === from && from > 0) this.#say("No more sessions.");
  }

  async #ask(): Promise<string | undefined> {
    const more = this.#more ? ", Enter for more" : "";
    const all = this.#cwd === undefined ? "" : ", * for every directory";
    try {
      const question = `Number to choose, text to search${more}${all}, q to quit: `;
      return (await this.#parts.lines.question(question, { signal: this.#parts.ended })).trim();
    } catch {
      return undefined;
    }
  }

  #say(text: string): void {
    this.#parts.terminal.stderr.write(`${text}\n`);
  }
}

function matches({ id, title }: SessionRow, query: string): boolean {
  const wanted = query.toLowerCase();
  return wanted === "" || id.startsWith(query) || (title ?? "").toLowerCase().includes(wanted);
}
