/** Makes sessions of other tools' histories. */

export {
  historySession,
  type HistorySession,
  type ImportedHistory,
  importHistory,
  type ImportHistoryOptions,
} from "./import-history.ts";
