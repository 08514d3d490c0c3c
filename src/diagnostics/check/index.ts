/** Checks and repairs histories, our own and those of other tools. */

export { checkHistory, type CheckedHistory, type HistoryOptions } from "./check-history.ts";
export { type Finding, findingsOf } from "./findings.ts";
export { type FormatName, FORMATS, isFormatName } from "./formats/names.ts";
export { MAX_HISTORY_BYTES } from "./formats/read-text.ts";
export type { AnswerEntry, CutEntry, HistoryEntry, ResultEntry, UserEntry } from "./reading/entry.ts";
export { readHistory, type ReadHistory } from "./reading/index.ts";
export { type Change, type RepairedHistory, repairHistory, type RepairOptions } from "./repair-history.ts";
