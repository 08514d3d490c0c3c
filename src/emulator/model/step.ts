/**
 * What the model does in one step: think, say, call. `toDrafts` turns it into output items, with the notes sealed into
 * every thought of the step.
 */

import { type JsonObject, stringOf } from "../../base/support/index.ts";
import type { Draft } from "../output/draft.ts";
import { argumentsFor } from "./arguments.ts";
import { type Note, writeNote } from "./notes.ts";
import type { Turn } from "./turn.ts";

export type Part =
  /** Summary parts as [title, body]. */
  | {
      readonly think: readonly (readonly [title: string, body: string])[];
      readonly silent?: true;
      readonly redacted?: true;
    }
  | { readonly call: string; readonly with: JsonObject }
  | { readonly custom: string; readonly input: string }
  | { readonly search: string }
  | { readonly comment: string }
  | { readonly say: string; readonly annotations?: readonly JsonObject[] }
  | { readonly refuse: string }
  /** Text that must not change: structured output. */
  | { readonly exactly: string };

export interface Step {
  readonly parts: readonly Part[];
  readonly number?: number | undefined;
}

export const stepOf = (...parts: readonly Part[]): Step => ({ parts });

export const think = (...thoughts: readonly (readonly [title: string, body: string])[]): Part => ({
  think: thoughts,
});

export const introduction =
  "I am the Throughline emulator: a stand-in that follows fixed rules, with no real model behind it. ";

export function toDrafts(turn: Turn, step: Step): readonly Draft[] {
  const note: Note = { about: turn.text.slice(0, 80), number: step.number };
  return step.parts.flatMap((part) => toDraft(turn, part, note));
}

function toDraft(turn: Turn, part: Part, note: Note): readonly Draft[] {
  const { view } = turn;
  if ("think" in part) {
    if (!view.reasons) return [];
    const brief = view.effort === "minimal" || view.effort === "low";
    const thoughts = brief ? part.think.slice(0, 1) : part.think;
    const hidden = view.summary === null || part.silent === true;
    return [
      {
        type: "reasoning",
        summary: hidden ? [] : thoughts.map(([title, body]) => `**${title}**\n\n${body}`),
        text: thoughts.map(([, body]) => body).join("\n\n"),
        notes: writeNote(note),
        hidden: part.silent,
        redacted: part.redacted,
      },
    ];
  }
  if ("call" in part) {
    const value = argumentsFor(turn, part.call, part.with);
    const namespace = namespaceOf(turn, part.call);
    return [{ type: "function_call", name: part.call, arguments: JSON.stringify(value), namespace }];
  }
  if ("custom" in part) {
    const namespace = namespaceOf(turn, part.custom);
    return [{ type: "custom_tool_call", name: part.custom, input: part.input, namespace }];
  }
  if ("search" in part) return [{ type: "web_search_call", action: { type: "search", query: part.search } }];
  if ("comment" in part) return [{ type: "message", text: part.comment, phase: "commentary" }];
  if ("refuse" in part) return [{ type: "message", text: part.refuse, refusal: true, phase: "final_answer" }];
  if ("exactly" in part) return [{ type: "message", text: part.exactly, phase: "final_answer" }];
  const text = (turn.first ? introduction : "") + part.say + lossOf(turn);
  return [{ type: "message", text, phase: "final_answer", annotations: part.annotations }];
}

function namespaceOf({ view }: Turn, name: string): string | undefined {
  return stringOf(view.tools.find((tool) => tool["name"] === name)?.["namespace"]);
}

/** Makes a loss visible: notes that the model wrote and did not get back. */
function lossOf({ view }: Turn): string {
  if (view.lost === 0) return "";
  const what = view.lost === 1 ? "one earlier thought" : `${view.lost} earlier thoughts`;
  return `\n\n(I no longer have my notes from ${what}: that reasoning was not sent back to me.)`;
}
