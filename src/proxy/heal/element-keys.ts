/** What an override is about: an element of a history, a payload, or an answer, each by its mark. */

import { type Mark, type Piece, readPieces, thoughtMarks } from "../marks/index.ts";
import type { Body } from "../restore/index.ts";

/** A short element alone would stand for many conversations. */
const NEIGHBOURS = 3;

/**
 * The marks of elements: what is visible of each and of its neighbours before, and its thoughts. Ids and cache marks change
 * from turn to turn.
 */
export function elementKeys({ dialect, values }: Body, mark: Mark): readonly string[] {
  const texts = values.map((value, index) => textOf(readPieces(dialect, value, index)));
  return texts.map((text, index) =>
    text === ""
      ? ""
      : mark(`element\n${texts.slice(Math.max(0, index - NEIGHBOURS), index + 1).join("\n\n")}`),
  );
}

function textOf(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) =>
      piece.kind === "thought" ? `thought ${piece.identity}${piece.words}` : `${piece.kind} ${piece.text}`,
    )
    .join("\n");
}

/** The marks of all payloads in each element. */
export function payloadKeys({ dialect, values }: Body, mark: Mark): readonly (readonly string[])[] {
  return values.map((value, index) =>
    readPieces(dialect, value, index).flatMap((piece) => {
      const { identity } = piece.kind === "thought" ? thoughtMarks(piece, mark) : { identity: "" };
      return identity === "" ? [] : [identity];
    }),
  );
}

export function answerKey(group: string, mark: Mark): string {
  return mark(`group\n${group}`);
}

/** What is done about it. A class of refusals stands for the repairs of its rules. */
export const KEPT_OUT = "kept out";
export const LEFT_OUT = "left out";
export const WITHOUT = "without ";
