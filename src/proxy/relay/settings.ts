/** How a proxy behaves, the same for all its exchanges. */

import type { Clock } from "../../base/support/index.ts";
import type { ExchangeLine, Ledger } from "../ledger/index.ts";
import type { RequestReader } from "./reading.ts";

/** `observe`: changes nothing. `repair`: puts back and heals. `strict`: refuses a request that has lost something. */
export type ProxyMode = "repair" | "observe" | "strict";

export const PROXY_MODES: readonly ProxyMode[] = ["repair", "observe", "strict"];

export interface ProxyParts {
  readonly ledger: Ledger;
  readonly reader: RequestReader;
  readonly mode: ProxyMode;
  readonly clock: Clock;
  /** Says something to the user, at most once a minute for the same cause. */
  readonly problem: (message: string) => void;
  readonly onExchange: (line: ExchangeLine) => void;
}
