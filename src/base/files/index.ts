/** Files that are complete or absent, and durable when the call returns. */

export {
  checkedLine,
  frameOpen,
  isWhole,
  LF,
  type RawLine,
  splitLines,
  SUM_BYTES,
  textOfLine,
} from "./checked-lines.ts";
export { isThere } from "./is-there.ts";
export { readText } from "./read-text.ts";
export { fileProblem, openToAppend, readRegularFile, systemError } from "./regular-file.ts";
export { assertFileCanBeMade, replaceFile, writeFilePieces } from "./replace-file.ts";
export { syncFolder, UnfinishedFile } from "./unfinished-file.ts";
export { writeProblem } from "./write-problem.ts";
