/** Sessions in PostgreSQL, shared by several machines: guarded appends, leases, live rows, and what is asked of a session. */

export { besideSession, rawSession, removeUnchanged, replaceSession } from "./admin-session.ts";
export { nodesFacts, type NodesFacts, serverFacts, type ServerFacts } from "./admin-facts.ts";
export { pruneStore } from "./admin-prune.ts";
export { markRestored, type Restored } from "./admin-restored.ts";
export { type NodeStatus, storeStatus, type StoreStatus } from "./admin-status.ts";
export { verifyStore } from "./admin-verify.ts";
export type { Engine } from "./engine.ts";
export { migrateStore } from "./migrate-store.ts";
export { createEngine, engineOf, postgresStore, type PostgresStoreOptions } from "./postgres-store.ts";
export { parseStoreUrl } from "./store-url.ts";
