/** What `agentTool` may do with an agent and its users may not: open a session as a sub-agent of a call. */

import type { SessionParent } from "../../base/events/index.ts";
import type { Log, Store } from "../log/index.ts";
import type { Agent, AgentOptions, Session } from "./types.ts";

export interface AgentInside {
  readonly options: AgentOptions;
  openSub(options: {
    readonly id: string;
    readonly store: Store;
    readonly parent: SessionParent;
    /** The limit of its caller, next to its own. */
    readonly maxCostUsd: number | undefined;
  }): Promise<{ readonly session: Session; readonly log: Log }>;
}

const INSIDES = new WeakMap<object, AgentInside>();

export function rememberInside(agent: Agent, inside: AgentInside): Agent {
  INSIDES.set(agent, inside);
  return agent;
}

/** Undefined for anything that `createAgent` did not return. */
export function insideOf(agent: unknown): AgentInside | undefined {
  return typeof agent === "object" && agent !== null ? INSIDES.get(agent) : undefined;
}

/** The options of an agent as a sub-agent: no person is asked unless it says so, because its caller is a model. */
export function optionsOfSub(options: AgentOptions, maxCostUsd = Number.POSITIVE_INFINITY): AgentOptions {
  const most = Math.min(options.limits?.maxCostUsd ?? Number.POSITIVE_INFINITY, maxCostUsd);
  const limits = Number.isFinite(most) ? { ...options.limits, maxCostUsd: most } : options.limits;
  return { ...options, interactive: options.interactive ?? false, limits };
}
