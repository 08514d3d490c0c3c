/** A proxy that puts back the reasoning that clients lose, and heals refused histories. The entry `throughline/proxy`. */

export {
  type Decision,
  eraseLedger,
  type Erasure,
  type ExchangeLine,
  type LedgerDamage,
  type LedgerLimits,
  ledgerStatus,
  type LedgerStatus,
  readExchanges,
  type Refusal,
} from "../ledger/index.ts";
export { type Route, routeFrom } from "./routes.ts";
export type { ProxyMode } from "./settings.ts";
export { type ProxyOptions, type RunningProxy, startProxy } from "./start-proxy.ts";
