/** Files that are complete or absent, and durable when the call returns. */

export { fileProblem, openToAppend, readRegularFile, systemError } from "./regular-file.ts";
export { replaceFile, writeFilePieces } from "./replace-file.ts";
export { syncFolder, UnfinishedFile } from "./unfinished-file.ts";
