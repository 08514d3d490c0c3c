/**
 * The truth: append-only logs and where they are kept.
 *
 * @module
 */

export type { FileIo } from "./file-io.ts";
export { systemFileIo } from "./file-io.ts";
export { fileStore, type FileStoreOptions } from "./file-store.ts";
export type { AppendDraft, Log, OpenOptions, Scratch, Store, StoredSession } from "./log.ts";
export { memoryStore } from "./memory-store.ts";
export { SESSION_ID } from "./stamp.ts";
