/**
 * What a ledger holds: one record a line. Texts of people, answers, arguments and results are not among it, only their
 * marks. Reasoning is, byte for byte, because it is what goes back.
 */

import type { Dialect } from "../../base/events/index.ts";
import type { IssuedThought, Keys, Member } from "../marks/index.ts";

/** Whether a request let the model think. `unset`: it said nothing about it. */
export type Thinking = "on" | "off" | "unset";

/** A thought without its text, as the index keeps it. */
export type KnownThought = Omit<IssuedThought, "raw">;

/** A group was seen in a request: retention counts from here. Written at most once a day. */
export interface Used {
  readonly type: "used";
  readonly id: string;
  readonly at: number;
}

/** An answer that a provider issued, at its place. */
export interface Group {
  readonly type: "group";
  /** The exchange that it answered. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The mark of the account, the route and the dialect. Nothing is found in another scope. */
  readonly scope: string;
  /** Fingerprint of whom it was issued to. */
  readonly account: string;
  readonly dialect: Dialect;
  /** As the request named it. */
  readonly model: string;
  readonly keys: Keys;
  /** The answer before it in the same history. */
  readonly parent?: string | undefined;
  readonly members: readonly Member[];
  readonly openings: readonly string[];
  readonly thoughts: readonly KnownThought[];
  /** Hashes of ids that no other answer can have, as far as their form shows. */
  readonly ids: readonly string[];
  readonly thinking: Thinking;
  /** The provider stores the answer, so its items can be named by their ids. */
  readonly stored: boolean;
  /** The mark of the system prompt, and of what the client calls its conversation: for choosing among twins. */
  readonly hints: readonly string[];
  /** On models that bind reasoning to its prefix: the hash of the bytes sent. */
  readonly sent?: string | undefined;
  /** The mark of the id of a response, if the provider keeps it and a request may go on from there. */
  readonly response?: string | undefined;
}

/** An answer that is under way, or was when the process died: what it said is not known. */
export interface Asked {
  readonly type: "asked";
  readonly id: string;
  readonly at: number;
  readonly scope: string;
  readonly keys: Keys;
  readonly parent?: string | undefined;
}

/** The answer to this exchange cannot be known again: the client saw nothing of it. */
export interface Withdrawn {
  readonly type: "withdrawn";
  readonly id: string;
}

/** The decision for a stretch at its place: this answer, or none. */
export interface Pin {
  readonly type: "pin";
  readonly at: number;
  readonly scope: string;
  readonly key: string;
  readonly group: string;
}

/** What a provider refused in a history, so that later requests go right at once. */
export interface Override {
  readonly type: "override";
  readonly at: number;
  readonly scope: string;
  /** The mark of what was refused: an element of the history, or the payload of a thought. */
  readonly key: string;
  /** The class of the error, whose repair was accepted; or that a thought is kept out. */
  readonly what: string;
}

/** A credential that belongs to an organisation, both as fingerprints. */
export interface Account {
  readonly type: "account";
  readonly credential: string;
  readonly organisation: string;
}

/** One client request, all its attempts and its answer, for people. No text. */
export interface ExchangeLine {
  readonly type: "exchange";
  readonly id: string;
  readonly at: number;
  readonly account: string;
  readonly route: string;
  readonly path: string;
  readonly dialect?: Dialect | undefined;
  readonly model?: string | undefined;
  readonly client?: string | undefined;
  readonly mode: "repair" | "observe" | "strict";
  readonly status: number;
  readonly outcome:
    | "passed"
    | "restored"
    | "healed"
    | "observed"
    | "refused"
    | "unread"
    | "failed-open"
    | "failed";
  /** Why the request was not read, or what went wrong. */
  readonly note?: string | undefined;
  readonly stream?: boolean | undefined;
  readonly attempts: number;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly sentBytes: number;
  /** Thoughts that could go back: as they came, and as they were sent. */
  readonly restorable: number;
  readonly carried: number;
  readonly restored: number;
  /** Every decision that is not "as issued", with its reason. */
  readonly decisions: readonly Decision[];
  readonly refusals: readonly Refusal[];
  readonly recorded: boolean;
}

/** What became of the thoughts of one answer in a request. */
export interface Decision {
  /** Where its stretch begins. */
  readonly where: string;
  readonly group?: string | undefined;
  readonly tier?: string | undefined;
  readonly what: "put back" | "replaced" | "as issued" | "left out";
  readonly why?: string | undefined;
  readonly thoughts: number;
}

/** A refusal of the provider, and what was changed because of it. */
export interface Refusal {
  readonly status: number;
  readonly class: string;
  readonly message: string;
  readonly repair?: string | undefined;
}

export type LedgerRecord = Group | Asked | Withdrawn | Pin | Override | Account | Used | ExchangeLine;
