/** The append-only logs, which are the truth, and the stores that keep them. */

export { BlobCache } from "./blob-cache.ts";
export {
  blobsIn,
  bundleText,
  isBundle,
  looseBundle,
  parseBundle,
  parsePlainLog,
  readBundle,
  type SessionBundle,
} from "./bundle.ts";
export { bundleLog } from "./bundle-log.ts";
export { damagedLog, damageOf } from "./damage.ts";
export { type EraseReport, eraseFrom, type Replace } from "./erase.ts";
export { FileBlobs } from "./file-blobs.ts";
export type { FileIo } from "./file-io.ts";
export { systemFileIo } from "./file-io.ts";
export { fileStore, type FileStoreOptions } from "./file-store.ts";
export { linesFrom } from "./line-framing.ts";
export { placeOf } from "./store-place.ts";
export {
  type AppendDraft,
  type AppendOptions,
  type ListOptions,
  type Log,
  type LogChange,
  rootOf,
  type Store,
  type StoredSession,
  type Waiting,
  type WaitingTurn,
} from "./log.ts";
export { LOG_TOO_LARGE, readWholeFile } from "./log-size.ts";
export { memoryStore } from "./memory-store.ts";
export { ByteRedactor, createRedactor, secretsOf } from "./redact.ts";
export { holdsWholeLine, type LostStretch, salvageLog } from "./salvage.ts";
export { SESSION_ID } from "./stamp.ts";
export { extentOf, type LogExtent, tailOf, type UnfinishedTail } from "./unfinished-tail.ts";
export { standsBeside, writeSession } from "./write-session.ts";
export { lockHolder } from "./writer-lock.ts";
