/** What `startServer` accepts. */

import {
  aChoice,
  aClock,
  aFunction,
  aList,
  aNumber,
  aPort,
  aText,
  isObject,
  nested,
  type OptionCheck,
  type OptionChecks,
} from "../../base/support/index.ts";
import { aStore } from "../../runtime/session/index.ts";
import { anOrigin } from "../gate/index.ts";
import type { ServerLimits } from "./limits.ts";
import type { ServerOptions } from "./start-server.ts";

const anAgent: OptionCheck = (value) =>
  typeof value === "function" || (isObject(value) && typeof value["open"] === "function")
    ? undefined
    : "an agent from createAgent(…), or a function that returns one";

const limit = aNumber(0);

export const SERVER_OPTIONS = {
  store: aStore,
  agent: anAgent,
  host: aText,
  port: aPort,
  allowHosts: aList(aText, "host names"),
  publicUrl: anOrigin,
  token: aText,
  page: aText,
  info: nested({ model: aText, models: aList(aText, "model names"), cwd: aText } satisfies OptionChecks<
    NonNullable<ServerOptions["info"]>
  >),
  exportSession: aFunction,
  costOf: aFunction,
  clock: aClock,
  releaseMs: aNumber(0),
  limits: nested({
    headMs: limit,
    requestMs: limit,
    headBytes: limit,
    connections: limit,
    pipelined: limit,
    strangerMs: limit,
    strangerBytes: limit,
    lingerBytes: limit,
    lingerMs: limit,
    wrongKeys: limit,
    stuckMs: limit,
    recheckMs: limit,
    tenantRequests: limit,
    tenantTurns: limit,
    tenantSessions: limit,
    tenantBytes: limit,
  } satisfies OptionChecks<ServerLimits>),
  onNodeLoss: aChoice("resume", "close", "leave"),
  onProblem: aFunction,
} satisfies OptionChecks<ServerOptions>;
