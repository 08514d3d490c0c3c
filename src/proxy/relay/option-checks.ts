/** What `startProxy` accepts. */

import { anOrigin } from "../../access/gate/index.ts";
import {
  aChoice,
  aClock,
  aFlag,
  aFunction,
  aList,
  aNumber,
  anObject,
  aPort,
  aRecord,
  aText,
  nested,
  type OptionChecks,
} from "../../base/support/index.ts";
import type { LedgerLimits } from "../ledger/index.ts";
import { PROXY_MODES } from "./settings.ts";
import type { ProxyOptions } from "./start-proxy.ts";

export const PROXY_OPTIONS = {
  to: aText,
  routes: aRecord(aText, "addresses by name"),
  known: aList(anObject, "routes"),
  mode: aChoice(...PROXY_MODES),
  ledger: aText,
  limits: nested({ days: aNumber(0), maxBytes: aNumber(0) } satisfies OptionChecks<LedgerLimits>),
  host: aText,
  port: aPort,
  allowHosts: aList(aText, "host names"),
  allowOrigins: aList(anOrigin, "origins"),
  token: aText,
  tls: nested({ cert: aText, key: aText } satisfies OptionChecks<NonNullable<ProxyOptions["tls"]>>),
  headers: aFlag,
  clock: aClock,
  onExchange: aFunction,
  onProblem: aFunction,
} satisfies OptionChecks<ProxyOptions>;
