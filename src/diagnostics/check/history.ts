/**
 * A history of any format as the request it would become: pieces in the format of a dialect. Each piece knows its place in
 * the file, and an edit of a piece becomes a change of the file.
 */

import type { DialectFacts, PieceContext } from "../../runtime/rules/index.ts";
import type { FormatName } from "./formats/names.ts";

export type HistoryDialect = keyof DialectFacts;

export interface Piece {
  /** The input item or message as it would be sent. */
  readonly text: string;
  readonly context?: PieceContext | undefined;
  /** Consecutive pieces with the same value count as one response. */
  readonly run?: string;
  /** Its place in the file, for messages. */
  readonly where: string;
  /** The places of its parts, if they are apart. */
  readonly parts?: readonly string[];
}

/** A line or an element that cannot be read. */
export interface Damage {
  readonly where: string;
  readonly problem: string;
}

/** A place in the request: a piece, or a part of it (a block, a call). */
export interface Spot {
  readonly index: number;
  readonly part?: number;
}

/** One change of the request. */
export type Edit =
  | { readonly do: "drop"; readonly at: Spot }
  | { readonly do: "strip"; readonly at: Spot; readonly field: string }
  /** `value` is JSON text. */
  | { readonly do: "set"; readonly at: Spot; readonly field: string; readonly value: string }
  /** Gives the call at this place a constant result. */
  | { readonly do: "close"; readonly at: Spot }
  /** Changes the call id of a call or a result. */
  | { readonly do: "rename"; readonly at: Spot; readonly callId: string }
  /** Renames the tool in a call or a result that has the old name. */
  | { readonly do: "name"; readonly at: Spot; readonly from: string; readonly to: string }
  /** Moves a result to its place behind the piece that has its call: after the results there, before everything else. */
  | { readonly do: "move"; readonly at: Spot; readonly behind: number }
  | {
      readonly do: "add";
      readonly before: number;
      readonly role: "user" | "assistant";
      readonly text: string;
    }
  | { readonly do: "head"; readonly field: string; readonly value: string | undefined }
  /** Removes all unreadable lines. */
  | { readonly do: "clean" };

export interface History {
  readonly format: FormatName;
  /** The version that the file states. */
  readonly version?: string | undefined;
  readonly dialect: HistoryDialect;
  readonly pieces: readonly Piece[];
  readonly damage: readonly Damage[];
  /** The request without its pieces, as JSON text, if the file is a whole request. */
  readonly head?: string | undefined;
  /** If the file is not a request: the tool that wrote it lets the server store items by default. */
  readonly stored?: true | undefined;
  /** The format can move a result to another place. */
  readonly moves: boolean;
  /** Returns the file with the edits applied. Skips edits that the format cannot express. */
  apply(edits: readonly Edit[]): string;
}

/** The model reads this instead of a lost result. */
export const LOST_RESULT =
  "outcome unknown: the result of this call is not in the history. It may or may not have taken effect; check before running it again";
