/** A bundle as a read-only log, without creating a session from it. */

import type { SessionBundle } from "./bundle.ts";
import type { Log } from "./log.ts";
import { readOnly } from "./memory-store.ts";

export function bundleLog({ events, lines, blobs }: SessionBundle): Log {
  const [first] = events;
  const session = first?.type === "session_start" ? first.session : "";
  const refuse = async (): Promise<never> => {
    throw readOnly(session);
  };
  return {
    session,
    mode: "read",
    location: "memory",
    events,
    lost: new AbortController().signal,
    restored: false,
    append: refuse,
    assertWriter: refuse,
    lines: async () => lines,
    putBlob: refuse,
    getBlob: async (name) => blobs.get(name),
    refresh: async () => [],
    async *changes() {
      yield { events: [], rows: [], hasWriter: false }; // and then ends: a bundle never changes
    },
    hasWriter: async () => false,
    scratch: { write: () => undefined, rows: async () => [], clear: () => undefined },
    close: async () => undefined,
  };
}
