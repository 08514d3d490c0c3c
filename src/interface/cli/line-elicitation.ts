/**
 * The question of a running tool in the line chat: one line per field, options by number, and a last line that accepts,
 * declines or cancels. Nothing goes to the server before that line, and an empty one is no answer.
 */

import {
  type ElicitationAnswer,
  type ElicitationField,
  elicitationOf,
  type ElicitationRequest,
  type ElicitationValue,
  fieldTitle,
  typedElicitationValue,
} from "../../base/events/index.ts";
import { unmistakableLine } from "../../base/support/index.ts";
import {
  actionOf,
  elicitationLines,
  elicitationTitle,
  emptyMeans,
  fieldLabel,
  fieldLines,
  shownValue,
} from "../tui/index.ts";

export interface LineElicitationOptions {
  readonly spoken: boolean;
  readonly say: (text: string) => void;
  /** Undefined at the end of the input, or if the question is withdrawn. */
  readonly ask: (prompt: string) => Promise<string | undefined>;
}

/** Undefined at the end of the input, or if the question is withdrawn: nobody decided. */
export async function lineElicitation(
  request: ElicitationRequest,
  options: LineElicitationOptions,
): Promise<ElicitationAnswer | undefined> {
  const asked = elicitationOf(request);
  const { say, spoken } = options;
  const mark = spoken ? (line: string): string => line.replace(/^│ /, "The server says: ") : same;
  say(`${spoken ? "Question: " : "? "}${elicitationTitle(asked)}${spoken ? "." : ""}`);
  for (const line of elicitationLines(asked)) say(mark(line));
  const fields = asked.mode === "form" ? asked.fields : [];
  if (fields.length > 0) say("A line with /decline declines, at any field.");
  const content: [string, ElicitationValue][] = [];
  for (const [at, field] of fields.entries()) {
    const value = await valueOf(field, `${at + 1} of ${fields.length}: `, options, mark);
    if (value === undefined) return undefined;
    if (value === DECLINED) return { action: "decline" };
    // A field that was left out is an empty text: an absent one would get its default.
    content.push([field.name, value.value ?? ""]);
    say(`${unmistakableLine(fieldTitle(field))}: ${shownValue(field, value.value)}`);
  }
  const action = await actionFrom(
    asked.mode === "form" ? `send this to ${unmistakableLine(asked.server)}` : "say that you are done",
    options,
  );
  if (action === undefined) return undefined;
  return action === "accept" ? { action, content: Object.fromEntries(content) } : { action };
}

function same(line: string): string {
  return line;
}

const DECLINED = "declined";

/** Asks again until the value fits. */
async function valueOf(
  field: ElicitationField,
  place: string,
  { say, ask }: LineElicitationOptions,
  mark: (line: string) => string,
): Promise<{ readonly value: ElicitationValue | undefined } | typeof DECLINED | undefined> {
  for (const line of fieldLines(field)) say(mark(line));
  for (;;) {
    const line = await ask(`${place}${fieldLabel(field)}, ${emptyMeans(field)}: `);
    if (line === undefined) return undefined;
    if (line === "/decline") return DECLINED;
    const read = typedElicitationValue(field, line);
    if (read.ok) return { value: read.value };
    say(`${unmistakableLine(fieldTitle(field))} ${read.problem}.`);
  }
}

/** Asks until a word means an action. */
async function actionFrom(
  accepting: string,
  { ask, spoken }: LineElicitationOptions,
): Promise<ElicitationAnswer["action"] | undefined> {
  const prompt = spoken
    ? `Type 1 to ${accepting}, 2 to decline, 3 to cancel: `
    : `Type accept to ${accepting}, decline or cancel [a/d/c]: `;
  for (;;) {
    const line = await ask(prompt);
    if (line === undefined) return undefined;
    if (line === "/decline") return "decline";
    const action = (spoken ? NUMBERED[line] : undefined) ?? actionOf(line);
    if (action !== undefined) return action;
  }
}

const NUMBERED: Readonly<Record<string, ElicitationAnswer["action"]>> = {
  1: "accept",
  2: "decline",
  3: "cancel",
};
