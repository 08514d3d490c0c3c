/**
 * `throughline/inspect`: tools for looking into a log, proving what was sent, importing other tools' histories, and
 * writing your own store. An agent needs none of them.
 */

export { diffRequests, type RequestDiff } from "./base/api/index.ts";
export { type Action, type CanonicalEvent, parseLine, type Reason, toLine } from "./base/events/index.ts";
export {
  importHistory,
  type ImportedHistory,
  type ImportHistoryOptions,
} from "./diagnostics/import/index.ts";
export type { StoredSummary } from "./runtime/facts/index.ts";
export type {
  AppendOptions,
  ListOptions,
  Log,
  LogChange,
  StoredSession,
  Waiting,
  WaitingTurn,
} from "./runtime/log/index.ts";
export {
  buildTree,
  planRepair,
  previewFromLog,
  rebuildRequest,
  type RepairPlan,
  type RuleRepair,
  type TreeTurn,
} from "./runtime/session/index.ts";
