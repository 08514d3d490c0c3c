/** One request of the client, with everything that is known about it afterwards. */

import type { JsonObject } from "../../../src/base/support/index.ts";
import type { RecordedExchange } from "../../../src/emulator/index.ts";
import type { Alignment } from "./align.ts";
import type { Conversation } from "./conversation.ts";
import type { Entry, LossyDialect, ModelChoice } from "./dialect.ts";
import type { Got } from "./post.ts";
import type { Failure } from "./tally.ts";
import type { Reading } from "./truth.ts";

export interface Exchange {
  readonly seed: number;
  readonly world: number;
  readonly request: number;
  readonly conversation: Conversation;
  readonly dialect: LossyDialect;
  readonly model: ModelChoice;
  readonly account: string;
  /** The key had no answer before: nobody can know its organisation. */
  readonly freshKey: boolean;
  readonly mutations: readonly string[];
  readonly thinkingOff: boolean;
  readonly fault: string | undefined;
  readonly body: JsonObject;
  readonly sentText: string;
  readonly sent: Reading;
  /** As they arrived at the emulator, in order. */
  readonly attempts: readonly RecordedExchange[];
  readonly got: Got;
  /** The true history behind the request. */
  readonly history: readonly Entry[];
}

/** One attempt, read and aligned. */
export interface Arrival {
  readonly entry: RecordedExchange;
  readonly reading: Reading;
  readonly alignment: Alignment;
}

export function failureOf(exchange: Exchange, kind: string, detail: () => string): Failure {
  const { dialect, model, mutations, seed, world, request, conversation } = exchange;
  return {
    kind,
    where: `${dialect.name} ${model.id}: ${mutations.join(" ")}`,
    at: `seed ${seed} world ${world} request ${request} (conversation ${conversation.id})`,
    detail,
  };
}
