/**
 * What a sub-agent's tool needs to know of its call, and no other tool does: the store of the session, the place of the
 * call in it, and where to report what the sub-agent has used. It travels with the tool's context under a symbol, so it is
 * not part of the public `ToolContext`, and survives a copy of it.
 */

import type { SessionParent, SubAgentSpent, ToolCall } from "../../base/events/index.ts";
import type { Store } from "../log/index.ts";
import type { ToolContext } from "../tools/index.ts";
import { Budget } from "./budget.ts";
import type { TurnContext } from "./context.ts";

export interface CallScope {
  readonly store: Store;
  /** What the sub-agent's `session_start` records. */
  readonly parent: SessionParent & { readonly call: string; readonly depth: number };
  /** What the sub-agent may cost at most, by the limits of its caller. */
  readonly leftUsd: number | undefined;
  /** Counts a sub-agent. `read` is called when the call's result is logged, however the call ended. */
  meter(read: () => SubAgentSpent): void;
}

/** Registered, because a tools file may load another copy of the package than the command line. */
const SCOPE = Symbol.for("throughline.call/1");

/** The scope of one call, and what its sub-agents have used so far. */
export class CallMeter {
  readonly #meters: (() => SubAgentSpent)[] = [];

  /** Undefined if the call ran no sub-agent. */
  get spent(): readonly SubAgentSpent[] | undefined {
    return this.#meters.length === 0 ? undefined : this.#meters.map((read) => read());
  }

  /** Adds the scope to a tool's context. */
  scoped(toolContext: ToolContext, context: TurnContext, call: ToolCall): ToolContext {
    const { store, live } = context;
    if (store === undefined) return toolContext;
    const scope: CallScope = {
      store,
      parent: {
        session: live.log.session,
        seq: call.seq,
        call: call.callId,
        depth: (live.facts.start?.parent?.depth ?? 0) + 1,
      },
      leftUsd: new Budget(context).left(),
      meter: (read) => void this.#meters.push(read),
    };
    return { ...toolContext, [SCOPE]: scope } as ToolContext;
  }
}

/** Returns the scope of a call. Undefined if the tool was not run by a session. */
export function scopeOf(context: ToolContext): CallScope | undefined {
  return (context as { readonly [SCOPE]?: CallScope })[SCOPE];
}
