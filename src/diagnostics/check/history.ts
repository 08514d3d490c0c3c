/**
 * A history of any format, seen as the request it would become: pieces in the words of a dialect, each knowing where in the
 * file it stands, and the way back from a change of a piece to a change of the file.
 */

import type { DialectFacts, PieceContext } from "../../runtime/rules/index.ts";
import type { FormatName } from "./formats/names.ts";

export type HistoryDialect = keyof DialectFacts;

export interface Piece {
  /** As it would be sent: an input item, a message. */
  readonly text: string;
  readonly context?: PieceContext | undefined;
  /** Taken for one response with the pieces of the same run. */
  readonly run?: string;
  /** Where a person finds it in the file. */
  readonly where: string;
  /** The same for its parts, where they stand apart. */
  readonly parts?: readonly string[];
}

/** A line or an element that cannot be read. */
export interface Damage {
  readonly where: string;
  readonly problem: string;
}

/** Where in the request: a piece, or a part of it (a block, a call). */
export interface Spot {
  readonly index: number;
  readonly part?: number;
}

/** One change, in the words of the request. */
export type Edit =
  | { readonly do: "drop"; readonly at: Spot }
  | { readonly do: "strip"; readonly at: Spot; readonly field: string }
  /** `value` is JSON text. */
  | { readonly do: "set"; readonly at: Spot; readonly field: string; readonly value: string }
  /** A constant result for the call that stands there. */
  | { readonly do: "close"; readonly at: Spot }
  /** Another call id, for a call or a result. */
  | { readonly do: "rename"; readonly at: Spot; readonly callId: string }
  /** Another name of the tool, for a call or a result that has the old one. */
  | { readonly do: "name"; readonly at: Spot; readonly from: string; readonly to: string }
  /** A result goes where it belongs: behind the calls, before everything else its message says. */
  | { readonly do: "move"; readonly at: Spot; readonly behind: number }
  | {
      readonly do: "add";
      readonly before: number;
      readonly role: "user" | "assistant";
      readonly text: string;
    }
  | { readonly do: "head"; readonly field: string; readonly value: string | undefined }
  /** All lines that cannot be read. */
  | { readonly do: "clean" };

export interface History {
  readonly format: FormatName;
  /** What the file says of its own version. */
  readonly version?: string | undefined;
  readonly dialect: HistoryDialect;
  readonly pieces: readonly Piece[];
  readonly damage: readonly Damage[];
  /** The request without its pieces, as JSON text, where the file is a whole request. */
  readonly head?: string | undefined;
  /** Where there is no request to say so: the tool that wrote it has the server keep items unless told otherwise. */
  readonly stored?: true | undefined;
  /** The file with the edits made. An edit this format cannot make is left out. */
  apply(edits: readonly Edit[]): string;
}

/** What the model reads in place of a result that was lost. */
export const LOST_RESULT =
  "outcome unknown: the result of this call is not in the history. It may or may not have taken effect; check before running it again";
