/**
 * The words of a question that a running tool asks, for the terminal and the line chat. Everything that comes from the
 * server is shown exactly, look-alikes and control characters by their number.
 */

import {
  type Elicitation,
  type ElicitationAnswer,
  type ElicitationField,
  type ElicitationValue,
  fieldTitle,
  hostOfAddress,
  plainAddress,
} from "../../base/events/index.ts";
import { assertNever, unmistakable, unmistakableLine } from "../../base/support/index.ts";

/** Who asks, on one line. The host of an address is part of it, so that it is never out of sight. */
export function elicitationTitle(request: Elicitation): string {
  const server = unmistakableLine(request.server);
  return request.mode === "form"
    ? `${server} asks for input`
    : `${server} asks you to open a page of ${hostOfAddress(request.url)}`;
}

/** What the server says, and the address to open. */
export function elicitationLines(request: Elicitation): readonly string[] {
  const said = unmistakable(request.message)
    .split("\n")
    .map((line) => `│ ${line}`);
  if (request.mode === "form") return said;
  return [
    ...said,
    `Address: ${plainAddress(request.url)}`,
    "Nothing opens by itself. Open it only if you expected this.",
  ];
}

/** The label of a field: its title, what it takes, and whether it may be left out. */
export function fieldLabel(field: ElicitationField): string {
  return `${unmistakableLine(fieldTitle(field))} (${kindOf(field)}${field.required ? "" : ", optional"})`;
}

/** Its description and its numbered options. */
export function fieldLines(field: ElicitationField): readonly string[] {
  const { description = "" } = field;
  const said = description === "" ? [] : unmistakable(description).split("\n");
  const options =
    field.type === "choice" || field.type === "choices"
      ? field.options.map(({ title }, at) => `  ${at + 1} ${unmistakableLine(title)}`)
      : [];
  return [...said.map((line) => `│ ${line}`), ...options];
}

/** What an empty line means for a field. */
export function emptyMeans(field: ElicitationField): string {
  const shown = field.default === undefined ? "" : shownValue(field, field.default);
  const leaves = field.required ? "" : ", - leaves it out";
  // Free text may end in any character, so its quotes say where the sentence goes on.
  if (shown !== "") return `Enter takes ${field.type === "string" ? `“${shown}”` : shown}${leaves}`;
  return field.required ? "it needs a value" : "Enter leaves it out";
}

export function shownValue(field: ElicitationField, value: ElicitationValue | undefined): string {
  if (value === undefined) return "(left out)";
  if (typeof value === "boolean") return value ? "yes" : "no";
  const titleOf = (one: string): string => {
    const options = field.type === "choice" || field.type === "choices" ? field.options : [];
    return unmistakableLine(options.find((option) => option.value === one)?.title ?? one);
  };
  if (typeof value === "string" || typeof value === "number") return titleOf(String(value));
  return value.length === 0 ? "none" : value.map(titleOf).join(", ");
}

function kindOf(field: ElicitationField): string {
  switch (field.type) {
    case "string":
      return field.format === undefined ? "text" : FORMATS[field.format];
    case "number":
    case "integer":
      return `${field.type === "integer" ? "whole number" : "number"}${rangeOf(field.minimum, field.maximum)}`;
    case "boolean":
      return "yes or no";
    case "choice":
      return `number from 1 to ${field.options.length}`;
    case "choices":
      return `numbers from 1 to ${field.options.length}, with commas`;
    default:
      return assertNever(field, "field");
  }
}

const FORMATS = {
  email: "e-mail address",
  uri: "address",
  date: "date, like 2026-01-31",
  "date-time": "date and time, like 2026-01-31T14:00:00Z",
} as const;

function rangeOf(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` from ${minimum}`;
  return maximum === undefined ? "" : ` up to ${maximum}`;
}

/** The action that a typed word means. Never guessed: any other word is none. */
export function actionOf(word: string): ElicitationAnswer["action"] | undefined {
  switch (word.trim().toLowerCase()) {
    case "a":
    case "accept":
      return "accept";
    case "d":
    case "decline":
      return "decline";
    case "c":
    case "cancel":
      return "cancel";
    default:
      return undefined;
  }
}
