/** The append-only logs, which are the truth, and the stores that keep them. */

export { BlobCache } from "./blob-cache.ts";
export {
  blobsIn,
  sentBlobsOf,
  bundleText,
  isBundle,
  looseBundle,
  parseBundle,
  parsePlainLog,
  readBundle,
  type SessionBundle,
} from "./bundle.ts";
export { bundleLog } from "./bundle-log.ts";
export { changesOf, type NewRows, type Writer } from "./changes.ts";
export { damagedLog, damageOf } from "./damage.ts";
export { type EraseReport, eraseFrom, type Replace } from "./erase.ts";
export { FileBlobs } from "./file-blobs.ts";
export type { FileIo } from "./file-io.ts";
export { systemFileIo } from "./file-io.ts";
export { fileStore, type FileStoreOptions } from "./file-store.ts";
export { assertFormat, frameLine, linesFrom, scanLines } from "./line-framing.ts";
export { countSessions, isFound } from "./list-order.ts";
export { placeOf, rememberPlace } from "./store-place.ts";
export {
  type Admission,
  type AppendDraft,
  type AppendOptions,
  type Command,
  type ListOptions,
  type Log,
  type LogChange,
  type OpenOptions,
  rootOf,
  type Scratch,
  type SharedStore,
  type Store,
  type StoredSession,
  type Waiting,
  type WaitingTurn,
  type WholeSession,
} from "./log.ts";
export { assertWritable, LARGEST_WHOLE_BYTES, LOG_TOO_LARGE, LogSize, readWholeFile } from "./log-size.ts";
export {
  closed,
  locked,
  memoryStore,
  notFound,
  readOnly,
  replaced,
  sessionExists,
  storeClosed,
} from "./memory-store.ts";
export { ByteRedactor, createRedactor, secretsOf } from "./redact.ts";
export { removeSession } from "./remove-session.ts";
export { holdsWholeLine, type LostStretch, salvageLog } from "./salvage.ts";
export type { Metric, NodeFacts, StoreHealth, Unready } from "./store-facts.ts";
export { assertSessionId, createStamper, nextEpoch, SESSION_ID, type Stamper } from "./stamp.ts";
export { parseSummary, summaryLine } from "./summary-line.ts";
export {
  type Grant,
  type Right,
  RIGHTS,
  type StoredToken,
  type TokenKind,
  type TokenTable,
} from "./token-table.ts";
export { extentOf, type LogExtent, tailOf, type UnfinishedTail } from "./unfinished-tail.ts";
export { standsBeside, writeSession, type WriteSessionOptions } from "./write-session.ts";
export { acquireLock, type LockAttempt, lockHolder, lockWithin } from "./writer-lock.ts";
