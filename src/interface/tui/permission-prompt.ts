/**
 * Asks whether a call may run. It replaces the input, so it cannot scroll away. It shows the exact arguments,
 * escaped and complete, and the rule that an answer for the session adds: a call cannot be allowed before all of that
 * was shown. The answer is a word and Enter; Enter alone means no. So a key that was meant for the message never allows
 * anything.
 */

import type { PermissionRequest } from "../../base/events/index.ts";
import { inert, isObject, tryParseJson, unmistakable, unmistakableLine } from "../../base/support/index.ts";
import { mcpQuestionLines, toolLabel } from "../fragments/index.ts";
import type { EditorView } from "./line-editor.ts";
import { count, type Rows } from "./rows.ts";
import type { Style } from "./style.ts";
import { fit, isKey, widthOf, wrap } from "./terminal-library.ts";

/** `session`: allow, and add the request's rule to the session. */
export type Answer = "allow" | "session" | "deny";

export interface PermissionPromptOptions {
  readonly request: PermissionRequest;
  readonly onAnswer: (answer: Answer) => void;
  /** Called with text that is not an answer and belongs to the message. */
  readonly onText: (text: string) => void;
}

const ACCESS_WORDS = { read: "read", write: "write", execute: "run" } as const;

const SEEN = "y + Enter allows · Enter denies · Esc stops";
const SEEN_WITH_RULE = "y + Enter allows · a + Enter for this session · Enter denies · Esc stops";
const NOT_SEEN = "scroll to the end first: ↓ PageDown · Enter denies";
/** In a lower window, every row is needed for the arguments. */
const ROOMY = 12;

export interface PromptView extends EditorView {
  /** The question without the input row. */
  readonly asked: Rows;
}

export class PermissionPrompt {
  readonly #options: PermissionPromptOptions;
  #typed = "";
  #from = 0;
  #seenTo = 0;
  #total = 0;
  #room = 1;

  constructor(options: PermissionPromptOptions) {
    this.#options = options;
  }

  get request(): PermissionRequest {
    return this.#options.request;
  }

  get requestId(): string {
    return this.request.requestId;
  }

  /** Text typed and not yet submitted. */
  get typed(): string {
    return this.#typed;
  }

  get #allSeen(): boolean {
    return this.#seenTo >= this.#total;
  }

  key(data: string): void {
    if (isKey(data, "enter")) this.#enter();
    else if (isKey(data, "backspace")) this.#typed = this.#typed.slice(0, -1);
    else if (isKey(data, "ctrl+u")) this.#typed = "";
    else if (isKey(data, "down", "pageDown")) this.#scroll(isKey(data, "down") ? 1 : this.#room);
    else if (isKey(data, "up", "pageUp")) this.#scroll(isKey(data, "up") ? -1 : -this.#room);
    else if (!data.startsWith("\u001B") && inert(data) === data && data !== "\n") this.#typed += data;
  }

  /** Renders at most `most` rows, however long the arguments are. */
  render(width: number, most: number, style: Style): PromptView {
    const { request } = this.#options;
    const verb = ACCESS_WORDS[request.access];
    const label = unmistakableLine(toolLabel({ name: request.tool, mcp: request.mcp }));
    const title = fit(style.warn(`? Allow ${label} (${verb})?`), width);
    const all = [
      ...mcpQuestionLines(request).flatMap((line) => wrap(line, width - 2)),
      ...argumentRows(request.arguments, width - 2),
      ...ruleRows(request, width - 2),
    ];
    this.#total = all.length;
    // Wrap the hint instead of cutting it if there is room, because it ends with how to say no.
    const hinted = (hint: string): Rows => wrap(hint, width - 2).slice(0, most < ROOMY ? 1 : 3);
    this.#room = Math.max(1, Math.min(all.length, most - 3 - hinted(NOT_SEEN).length));
    this.#from = Math.max(0, Math.min(this.#from, all.length - this.#room));
    this.#seenTo = Math.max(this.#seenTo, this.#from + this.#room);
    const shown = all.slice(this.#from, this.#from + this.#room).map((row) => `  ${row}`);
    const below = all.length - this.#from - this.#room;
    const scroll = all.length > this.#room ? [style.dim(fit(this.#scrollHint(below), width))] : [];
    const seen = request.rule === undefined || most < ROOMY ? SEEN : SEEN_WITH_RULE;
    const hint = hinted(this.#allSeen ? seen : NOT_SEEN).map((row) => style.dim(`  ${row}`));
    const asked = [title, ...shown, ...scroll];
    const rows = [...asked, ...hint, fit(`❯ ${this.#typed}`, width)];
    const column = Math.min(width - 1, 2 + widthOf(this.#typed));
    return { asked, rows, cursor: { row: rows.length - 1, column } };
  }

  #scrollHint(below: number): string {
    return below === 0 ? `  (end; ${count(this.#from, "row")} above)` : `  ↓ ${count(below, "more row")}`;
  }

  #scroll(by: number): void {
    this.#from = Math.max(0, this.#from + by);
  }

  #enter(): void {
    const word = this.#typed.trim().toLowerCase();
    const text = this.#typed;
    this.#typed = "";
    const answer = this.#answerOf(word);
    if (answer === undefined) this.#options.onText(text);
    else if (answer === "deny" || this.#allSeen) this.#options.onAnswer(answer);
    else this.#scroll(this.#room);
  }

  #answerOf(word: string): Answer | undefined {
    if (word === "" || word === "n" || word === "no") return "deny";
    if (word === "y" || word === "yes") return "allow";
    return word === "a" && this.request.rule !== undefined ? "session" : undefined;
  }
}

/** The rule is shown as it will be stored; text that would look different is not a rule. */
function ruleRows({ rule }: PermissionRequest, width: number): Rows {
  if (rule === undefined) return [];
  const any = rule.includes(":") ? "" : " (any arguments)";
  return wrap(`→ a allows for this session: ${unmistakableLine(rule)}${any}`, width);
}

/**
 * Shows the arguments as the tool will get them. A value of more than one row is drawn behind a bar, so that it cannot
 * imitate another argument or the question itself.
 */
export function argumentRows(text: string, width: number): Rows {
  const parsed = tryParseJson(text);
  if (!isObject(parsed)) return barred(text, width);
  const entries = Object.entries(parsed);
  if (entries.length === 0) return ["(no arguments)"];
  return entries.flatMap(([name, value]) => {
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    const label = `${unmistakableLine(name)}:`;
    const row = `${label} ${unmistakable(shown)}`;
    if (!row.includes("\n") && widthOf(row) <= width) return [row];
    return [...wrap(label, width), ...barred(shown, width)];
  });
}

function barred(text: string, width: number): Rows {
  return wrap(unmistakable(text), width - 2).map((row) => `│ ${row}`);
}
