/** What a provider issued, and where: the memory of the proxy. */

export { type Alike, GroupIndex, NOTHING, UNPINNED } from "./index-of-groups.ts";
export { Ledger, LEDGER_LIMITS, type LedgerLimits } from "./ledger.ts";
export type { LedgerDamage } from "./segments.ts";
export type {
  Decision,
  ExchangeLine,
  Group,
  KnownThought,
  LedgerRecord,
  Refusal,
  Thinking,
} from "./records.ts";
export { type Erasure, eraseLedger, ledgerStatus, type LedgerStatus, readExchanges } from "./admin.ts";
