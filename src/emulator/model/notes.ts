/** Notes the model seals into its reasoning: opaque to others, memory to itself. */

import { arrayOf, isObject, numberOf, stringOf, tryParseJson } from "../../base/support/index.ts";

export interface Note {
  readonly about: string;
  readonly number: number | undefined;
  /** The ids of reasoning whose notes this one carries on (compaction). */
  readonly covers?: readonly string[];
}

export function writeNote(note: Note): string {
  return JSON.stringify(note);
}

export function readNote(text: string): Note {
  const value = tryParseJson(text);
  if (!isObject(value)) return { about: text, number: undefined };
  return {
    about: stringOf(value["about"]) ?? "",
    number: numberOf(value["number"]),
    covers: arrayOf(value["covers"]).filter((id): id is string => typeof id === "string"),
  };
}

export function coveredBy(text: string): readonly string[] {
  return readNote(text).covers ?? [];
}
