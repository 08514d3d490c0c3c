/**
 * A history with one deliberate break, and the text with which OpenAI refuses it (failures.md). A server that answers with
 * another text, or accepts the history anyway, differs. That is a fact about the server, not a failure of the run.
 */

import type { Context } from "../context.ts";
import { payloadOf, textField } from "../item-text.ts";
import type { Kind } from "./replay.ts";

export interface Expected {
  readonly status: number;
  readonly code: string | null;
  /** If absent, it is unknown and not compared. */
  readonly param?: string | null;
  /** The refusal matches any of these. */
  readonly texts: readonly string[];
}

export interface Broken {
  readonly input: readonly string[];
  readonly expected: Expected;
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The unbroken history. The `plain` ones have no ids and no reasoning. */
  readonly control: Kind | "plain message" | "plain call";
}

export interface BrokenReplay {
  /** The entry of the catalogue, and the number of our own rule if the history alone shows the break. */
  readonly breaks: readonly [failure: string, rule?: string];
  readonly strict?: false;
  readonly title: string;
  readonly build: (context: Context) => Promise<Broken>;
}

/** By their names. */
export type BrokenReplays = Readonly<Record<string, BrokenReplay>>;

/** The length of ids seen in real histories (I05). */
export const LONG = 416;
export const idOf = (item: string): string => textField(item, "id") ?? "";
export const invalid = (param: string, code: string, text: string): Expected => ({
  status: 400,
  code,
  param,
  texts: [text],
});
export const refusedHistory = (...texts: readonly string[]): Expected => ({
  status: 400,
  code: null,
  param: "input",
  texts,
});
export const missing = (param: string): Expected =>
  invalid(param, "missing_required_parameter", `Missing required parameter: '${param}'.`);
export const tooLong = (param: string): Expected =>
  invalid(
    param,
    "string_above_max_length",
    `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${LONG} instead.`,
  );
export const notStored = (id: string): Expected => ({
  status: 404,
  code: null,
  param: "input",
  texts: [
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
  ],
});
/** Named by its item, or quoted by its ends. */
export const unreadable = (item: string, reason: string): Expected => {
  const blob = payloadOf(item) ?? "";
  const quoted = `${blob.slice(0, 4)}...${blob.slice(-4)}`;
  return {
    status: 400,
    code: "invalid_encrypted_content",
    param: null,
    texts: [`for item ${idOf(item)}`, quoted].map(
      (what) => `The encrypted content ${what} could not be verified. Reason: ${reason}`,
    ),
  };
};
export const UNDECRYPTABLE = "Encrypted content could not be decrypted or parsed.";
