/**
 * What a model sees of a request: the conversation as plain meaning, its tools, and the notes in reasoning that came
 * back readable. Nothing else: anything not replayed is gone.
 */

import type { JsonObject } from "../../base/support/index.ts";

export type Seen =
  | { readonly type: "user"; readonly text: string }
  | { readonly type: "system"; readonly text: string }
  | { readonly type: "assistant"; readonly text: string }
  | { readonly type: "call"; readonly callId: string; readonly name: string; readonly arguments: string }
  /** `failed`: the dialect says so separately from the text. */
  | {
      readonly type: "result";
      readonly callId: string;
      readonly text: string;
      readonly failed?: boolean | undefined;
    }
  /** Reasoning that came back and could be read. */
  | { readonly type: "notes"; readonly text: string }
  | { readonly type: "other"; readonly itemType: string };

export interface ModelView {
  readonly seen: readonly Seen[];
  readonly instructions: string;
  readonly tools: readonly JsonObject[];
  readonly toolChoice: unknown;
  readonly parallel: boolean;
  readonly reasons: boolean;
  readonly effort: string;
  /** `null`: no summaries were requested. */
  readonly summary: string | null;
  readonly format: JsonObject;
  /** The number of reasoning items issued in this conversation that did not come back. */
  readonly lost: number;
  readonly model: string;
}
