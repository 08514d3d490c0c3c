/**
 * Files that are complete or absent, and durable when the call returns.
 *
 * @module
 */

export { type PiecesOptions, replaceFile, type ReplaceOptions, writeFilePieces } from "./replace-file.ts";
export { syncFolder, UnfinishedFile } from "./unfinished-file.ts";
