/** Code as rows of pieces, each with a tone that the page and the terminal paint in their own colours. */

export type CodeTone = "plain" | "keyword" | "string" | "comment" | "number" | "name" | "added" | "removed";

export interface CodePiece {
  readonly text: string;
  readonly tone: CodeTone;
}

export type CodeRows = readonly (readonly CodePiece[])[];

/** Returns rows of pieces; the text of the pieces, joined with line feeds between rows, is exactly the code. Never throws. */
export type Highlight = (code: string, language: string) => CodeRows;

/** Returns code without colours. */
export function plainRows(code: string): CodeRows {
  return code.split("\n").map((text) => (text === "" ? [] : [{ text, tone: "plain" }]));
}
