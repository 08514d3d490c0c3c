/** Passes events appended to the logs of a store to a sink, after they were written. */

import type { LoggedEvent } from "../../base/events/index.ts";
import { countSessions, type Log, sentBlobsOf, type Store } from "../../runtime/log/index.ts";

export interface LogSink {
  /** The events in the log when it was opened, with the blobs that its requests contain. */
  opened(session: string, events: readonly LoggedEvent[], blobs: ReadonlyMap<string, Uint8Array>): void;
  appended(session: string, events: readonly LoggedEvent[]): void;
  blob(session: string, name: string, bytes: Uint8Array): void;
}

export function tapStore(store: Store, sink: LogSink): Store {
  return {
    shared: store.shared,
    exists: (id) => store.exists(id),
    list: (options) => store.list(options),
    count: () => countSessions(store),
    create: (id, whole) => store.create(id, whole),
    remove: (id) => store.remove(id),
    waiting: (id) => store.waiting(id),
    sessionsWithWaiting: () => store.sessionsWithWaiting(),
    close: () => store.close(),
    async open(id, options) {
      const log = await store.open(id, options);
      if (options.mode === "read") return log;
      try {
        sink.opened(id, log.events, await blobsOf(log));
      } catch (error) {
        await log.close();
        throw error;
      }
      return tapLog(log, sink);
    },
  };
}

function tapLog(log: Log, sink: LogSink): Log {
  let told = log.events.length;
  return {
    session: log.session,
    mode: log.mode,
    location: log.location,
    scratch: log.scratch,
    lost: log.lost,
    restored: log.restored,
    takeovers: log.takeovers,
    refusal: () => log.refusal?.(),
    ...(log.handOver === undefined ? {} : { handOver: () => log.handOver?.() ?? Promise.resolve() }),
    get events() {
      return log.events;
    },
    async append(drafts, options) {
      const added = await log.append(drafts, options);
      // The log may add events of its own (a repaired tail), so all new events are passed on.
      const fresh = log.events.slice(told);
      told = log.events.length;
      sink.appended(log.session, fresh);
      return added;
    },
    assertWriter: () => log.assertWriter(),
    lines: () => log.lines(),
    refresh: () => log.refresh(),
    changes: (signal) => log.changes(signal),
    hasWriter: () => log.hasWriter(),
    async putBlob(bytes) {
      const name = await log.putBlob(bytes);
      sink.blob(log.session, name, bytes);
      return name;
    },
    getBlob: (name) => log.getBlob(name),
    close: () => log.close(),
  };
}

async function blobsOf(log: Log): Promise<ReadonlyMap<string, Uint8Array>> {
  const blobs = new Map<string, Uint8Array>();
  for (const event of log.events) {
    for (const name of sentBlobsOf(event)) {
      if (blobs.has(name)) continue;
      const bytes = await log.getBlob(name);
      if (bytes !== undefined) blobs.set(name, bytes);
    }
  }
  return blobs;
}
