/**
 * The truth: append-only logs and where they are kept.
 *
 * @module
 */

export { BlobCache } from "./blob-cache.ts";
export {
  blobsIn,
  bundleText,
  isBundle,
  linesFrom,
  looseBundle,
  parseBundle,
  parsePlainLog,
  readBundle,
  type SessionBundle,
} from "./bundle.ts";
export { bundleLog } from "./bundle-log.ts";
export { damagedLog, damageOf, type LogDamage } from "./damage.ts";
export { type Erased, type EraseReport, eraseFrom, type Replace } from "./erase.ts";
export type { FileIo } from "./file-io.ts";
export { systemFileIo } from "./file-io.ts";
export { fileStore, type FileStoreOptions } from "./file-store.ts";
export {
  type AppendDraft,
  type Log,
  type OpenOptions,
  rootOf,
  type Scratch,
  type Store,
  type StoredSession,
  type WholeSession,
} from "./log.ts";
export { memoryStore } from "./memory-store.ts";
export { ByteRedactor, createRedactor, secretsOf } from "./redact.ts";
export { holdsWholeLine, type LostStretch, type SalvagedLog, salvageLog } from "./salvage.ts";
export { SESSION_ID } from "./stamp.ts";
export { extentOf, type LogExtent, tailOf, type UnfinishedTail } from "./unfinished-tail.ts";
export { writeSession, type WriteSessionOptions } from "./write-session.ts";
export { lockHolder } from "./writer-lock.ts";
