/** One turn without a session: the real log, fold and model, with time and chance from the test. */

import type { SessionEvent, Settings } from "../../src/base/events/index.ts";
import { type Clock, createIdSource } from "../../src/base/support/index.ts";
import type { Model } from "../../src/index.ts";
import { memoryStore } from "../../src/runtime/log/index.ts";
import { DEFAULT_LIMITS, LiveLog, type TurnContext, type TurnLimits } from "../../src/runtime/turn/index.ts";

export interface TestTurn {
  readonly context: TurnContext;
  readonly live: SessionEvent[];
  /** The length of each wait, in milliseconds. */
  readonly waits: number[];
  readonly controller: AbortController;
}

export async function testTurn(options: {
  readonly setup: () => { readonly model: Model; readonly settings: Settings };
  readonly limits?: Partial<TurnLimits>;
  readonly random?: () => number;
  readonly onSleep?: (ms: number) => void;
}): Promise<TestTurn> {
  const log = await memoryStore().open("t1", { mode: "write" });
  const live: SessionEvent[] = [];
  const waits: number[] = [];
  const controller = new AbortController();
  let now = Date.UTC(2026, 0, 1);
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    async sleep(ms, signal) {
      waits.push(ms);
      options.onSleep?.(ms);
      if (signal?.aborted === true) throw signal.reason;
      now += ms;
    },
  };
  const liveLog = await LiveLog.open(log, true);
  liveLog.listener = (events) => void live.push(...events);
  const context: TurnContext = {
    turn: "tn_1",
    live: liveLog,
    clock,
    ids: createIdSource(() => now),
    signal: controller.signal,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    tools: [],
    permissions: {
      policy: "auto",
      byDefault: false,
      interactive: false,
      ruleFor: () => undefined,
      ask: () => Promise.reject(new Error("nobody")),
      elicit: () => Promise.reject(new Error("nobody")),
    },
    fetch: undefined,
    onWire: undefined,
    setup() {
      const { model, settings } = options.setup();
      return { model, settings, renderer: model.createRenderer() };
    },
    redact: (text) => text,
    costOf: () => undefined,
    fallBack: () => undefined,
    random: options.random ?? (() => 0.5),
  };
  await liveLog.append([
    { type: "user_message", turn: "tn_1", by: "person", content: [{ type: "text", text: "hi" }] },
  ]);
  return { context, live, waits, controller };
}
