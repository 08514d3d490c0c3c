/**
 * A model's decision on what to say, before it has ids and ciphertext. The built-in model and scenario files both write
 * drafts; everything after this point is the same for both.
 */

import type { JsonObject } from "../../base/support/index.ts";

export type Draft =
  | {
      readonly type: "reasoning";
      readonly summary: readonly string[];
      /** Sealed into the ciphertext; the model reads it again only if the item comes back. */
      readonly notes?: string | undefined;
      /** The reasoning itself, for `reasoning_text`; reasoning tokens are counted from it too. */
      readonly text?: string | undefined;
      /** `null`: the key with null, as Copilot sends it; `false`: no key at all. */
      readonly ciphertext?: null | false | undefined;
      /** The text is never shown: Claude sends such a block with an empty text and a signature (C12). */
      readonly hidden?: true | undefined;
      /** Claude: the whole block is opaque (C11). */
      readonly redacted?: true | undefined;
    }
  | {
      readonly type: "message";
      readonly text: string;
      readonly phase?: "commentary" | "final_answer" | undefined;
      readonly annotations?: readonly JsonObject[] | undefined;
      readonly refusal?: boolean | undefined;
    }
  | {
      readonly type: "function_call";
      readonly name: string;
      readonly arguments: string;
      readonly callId?: string | undefined;
      /** Responses: the tool group it was declared in. */
      readonly namespace?: string | undefined;
    }
  | {
      readonly type: "custom_tool_call";
      readonly name: string;
      readonly input: string;
      readonly callId?: string | undefined;
      readonly namespace?: string | undefined;
    }
  | { readonly type: "web_search_call"; readonly action: JsonObject }
  /** Any other item, sent as written: `added` and `done`; it gets an id only if it has none. */
  | { readonly type: "raw"; readonly item: JsonObject };

export interface Reply {
  readonly output: readonly Draft[];
  readonly status?: "completed" | "incomplete" | "failed" | undefined;
  readonly incompleteReason?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string };
  /** Claude: where code runs; a turn that waits for it must name it (C17). */
  readonly container?: JsonObject | undefined;
}

/** Keeps the first `count` items whole and half of a message after them. */
export function halved(drafts: readonly Draft[], count: number): readonly Draft[] {
  const kept = drafts.slice(0, count);
  const next = drafts[count];
  if (next?.type !== "message") return kept;
  return [...kept, { ...next, text: next.text.slice(0, Math.ceil(next.text.length / 2)) }];
}
