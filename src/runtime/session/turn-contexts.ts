/** Builds the contexts of a session's turns and of the compactions around them. The only place that does. */

import type { EventDraft, Settings } from "../../base/events/index.ts";
import { type IdSource, systemClock, withDefaults } from "../../base/support/index.ts";
import type { CompactingOptions } from "../compaction/index.ts";
import type { CostOf } from "../facts/index.ts";
import type { Store } from "../log/index.ts";
import type { Model } from "../providers/index.ts";
import {
  COMPACT_AT,
  DEFAULT_LIMITS,
  type LiveLog,
  type SettledTools,
  type TurnContext,
  TurnDeadline,
  type TurnLimits,
} from "../turn/index.ts";
import { Fallback } from "./fallback.ts";
import { PendingElicitations } from "./pending-elicitations.ts";
import { PendingPermissions } from "./pending-permissions.ts";
import { SafeTrace } from "./safe-trace.ts";
import { SessionRules } from "./session-rules.ts";
import type { SessionTools } from "./session-tools.ts";
import { SetupCache, type TurnOverrides } from "./turn-setup.ts";
import type { AgentOptions } from "./types.ts";

export interface TurnContextParts {
  readonly live: LiveLog;
  readonly store: Store;
  readonly options: AgentOptions;
  readonly ids: IdSource;
  /** The session's model at the time a step begins. */
  readonly model: () => Model;
  readonly redact: (text: string) => string;
  readonly costOf: CostOf;
  readonly join: (turn: string) => Promise<readonly EventDraft[]>;
  readonly tools: SessionTools;
}

export class TurnContexts {
  readonly permissions: PendingPermissions;
  readonly elicitations = new PendingElicitations();
  readonly rules: SessionRules;
  readonly #parts: TurnContextParts;
  readonly #setup: SetupCache;
  readonly #trace: SafeTrace;
  /** The limits the user set. */
  readonly #limits: AgentOptions["limits"];
  readonly #compactAt: number | undefined;

  constructor(parts: TurnContextParts) {
    const { limits, compaction } = parts.options;
    this.#parts = parts;
    this.permissions = new PendingPermissions(() => parts.live.facts);
    this.rules = new SessionRules(parts);
    this.#setup = new SetupCache(parts.options, () => parts.tools.current);
    this.#trace = new SafeTrace(parts);
    this.#limits = limits;
    this.#compactAt = compaction?.automatic === false ? undefined : (compaction?.at ?? COMPACT_AT);
  }

  /** What the next step of a turn is sent with. */
  settings(overrides: TurnOverrides): Settings {
    const model = this.#fallback(overrides).modelFor(this.#own(overrides));
    return this.#setup.get(model, overrides.output).settings;
  }

  /** The options for everything one call of the user starts, until `signal` stops it. */
  around(signal: AbortSignal, overrides: TurnOverrides): CompactingOptions {
    const { ids } = this.#parts;
    const fallback = this.#fallback(overrides);
    const { capabilities, profile } = this.#setup.get(this.#own(overrides), overrides.output).settings;
    const { patienceMs } = profile;
    const patience = { firstByteTimeoutMs: patienceMs, idleTimeoutMs: patienceMs };
    const usual = withDefaults(DEFAULT_LIMITS, patience, this.#limits);
    return {
      contextFor: (turn, kind, limits = usual) =>
        kind === "turn"
          ? this.#conversation(
              this.#base(turn, signal, overrides, fallback),
              limits,
              overrides.keepTools === true,
            )
          : // A summary is prose, whatever output the turn requires.
            {
              ...this.#base(turn, signal, { model: overrides.model }, fallback),
              limits,
              purpose: "compaction",
            },
      signal,
      newTurn: () => ids.next("tn"),
      limits: usual,
      compactAt: this.#compactAt,
      contextTokens: capabilities.contextTokens,
    };
  }

  #conversation(base: Omit<TurnContext, "limits">, limits: TurnLimits, keepTools: boolean): TurnContext {
    const deadline = new TurnDeadline(limits.turnTimeoutMs, base.signal);
    const { join, tools } = this.#parts;
    const { signal } = deadline;
    const settle = tools.sources.length === 0 ? undefined : () => this.#settle(signal, keepTools);
    return { ...base, limits, deadline, signal, compactAt: this.#compactAt, join, settle };
  }

  async #settle(signal: AbortSignal, keep: boolean): Promise<SettledTools> {
    const { tools } = this.#parts;
    const notices = await tools.refresh(signal, keep);
    return { tools: tools.current.tools, notices };
  }

  #fallback(overrides: TurnOverrides): Fallback {
    const fallback = new Fallback(this.#parts.options.fallback);
    fallback.continueOn(overrides.fellBackTo, this.#own(overrides));
    return fallback;
  }

  /** The model of the turn, unless a fallback stands in for it. */
  #own({ model }: TurnOverrides): Model {
    return model ?? this.#parts.model();
  }

  #base(
    turn: string,
    signal: AbortSignal,
    overrides: TurnOverrides,
    fallback: Fallback,
  ): Omit<TurnContext, "limits"> {
    const { live, store, options, ids, redact, costOf } = this.#parts;
    return {
      turn,
      live,
      store,
      clock: options.clock ?? systemClock,
      ids,
      signal,
      tools: this.#parts.tools.current.tools,
      repairArguments: options.repairArguments,
      permissions: {
        policy: options.permissions ?? "read-only",
        byDefault: options.permissions === undefined,
        interactive: options.interactive ?? true,
        ruleFor: (tool, input) => this.rules.covering(tool, input),
        hasChanged: (tool) => this.rules.hasChanged(tool),
        elicit: (requestId, request, over) => this.elicitations.ask(requestId, request, over),
        ask: (question, earlier) => this.permissions.ask(question, earlier, signal),
      },
      fetch: options.fetch,
      onWire: this.#trace.forTurn(turn),
      setup: () => this.#setup.get(fallback.modelFor(this.#own(overrides)), overrides.output),
      fallBack: () => fallback.change(this.#own(overrides)),
      redact,
      costOf,
      random: () => Math.random(),
    };
  }
}
