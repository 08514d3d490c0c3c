/** Runs the emulator in this process and the session in a child, kills the session, and opens what it left. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator/index.ts";
import type { EphemeralEvent, LoggedEvent, Session } from "../../src/index.ts";
import { createAgent, fileStore } from "../../src/index.ts";
import { afterTest, type Child, startChild, temporaryFolder } from "../contracts/file-fixture.ts";
import { crashFallback, crashModel, type CrashPlan, weatherTool } from "./crash-plan.ts";

export interface Crash {
  readonly emulator: Emulator;
  readonly plan: CrashPlan;
  readonly child: Child;
  /** Everything the child has reported so far: logged events and live ones. */
  readonly acknowledged: LoggedEvent[];
  readonly live: EphemeralEvent[];
  /** Waits until the child has reported an event of this type. */
  seen(type: string): Promise<void>;
  /** Sends SIGKILL; resolves once everything the child had reported has been read. */
  kill(): Promise<void>;
  /** Opens what is left, as the next writer. */
  reopen(change?: Partial<CrashPlan>): Promise<Session>;
  effects(): readonly string[];
}

export async function startCrash(change: Partial<CrashPlan>, options: EmulatorOptions = {}): Promise<Crash> {
  const emulator = await startEmulator(options);
  afterTest(() => emulator.close());
  const folder = temporaryFolder();
  const plan: CrashPlan = {
    folder,
    id: "crash",
    baseUrl: emulator.baseUrl,
    prompts: ["What is the weather in Paris?"],
    permissions: "auto",
    effects: join(folder, "effects.txt"),
    idempotent: false,
    ...change,
  };
  const child = startChild("session-child", [JSON.stringify(plan)]);
  const acknowledged: LoggedEvent[] = [];
  const live: EphemeralEvent[] = [];
  const take = (line: string): string => {
    const event = JSON.parse(line) as LoggedEvent | EphemeralEvent;
    if ("seq" in event) acknowledged.push(event);
    else live.push(event);
    return event.type;
  };
  return {
    emulator,
    plan,
    child,
    acknowledged,
    live,
    async seen(type) {
      while (take(await child.line("event")) !== type);
    },
    async kill() {
      await child.kill();
      // Reads everything the child printed before it died.
      for (;;) {
        const line = await child.line("event").catch(() => undefined);
        if (line === undefined) return;
        take(line);
      }
    },
    async reopen(other = {}) {
      // The tool that blocked in the child does not block here.
      const { block: _block, ...mine } = { ...plan, ...other };
      const agent = createAgent({
        model: crashModel(mine),
        fallback: crashFallback(mine),
        repairArguments: () => mine.repaired,
        tools: [weatherTool(mine)],
        permissions: mine.permissions,
      });
      const session = await agent.open({ id: plan.id, store: fileStore(folder) });
      afterTest(() => session.close());
      return session;
    },
    effects: () =>
      existsSync(plan.effects) ? readFileSync(plan.effects, "utf8").split("\n").slice(0, -1) : [],
  };
}

export async function historyOf(session: Session): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}

/** No acknowledged event is lost or changed. */
export async function expectKept(crash: Crash, session: Session): Promise<void> {
  const history = await historyOf(session);
  expect(crash.acknowledged.length).toBeGreaterThan(0);
  for (const event of crash.acknowledged) expect(history[event.seq]).toEqual(event);
}

export const ofType = <T extends LoggedEvent["type"]>(
  events: readonly LoggedEvent[],
  type: T,
): readonly Extract<LoggedEvent, { readonly type: T }>[] =>
  events.filter((event): event is Extract<LoggedEvent, { readonly type: T }> => event.type === type);

export function expectAllAccepted({ emulator }: Crash): void {
  const { requests, totals } = emulator.report();
  expect(requests.filter((one) => one.verdict === "refused")).toEqual([]);
  expect(totals.accepted).toBeGreaterThan(0);
}
