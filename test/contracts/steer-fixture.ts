/** A session whose first turn waits in its tool `wait`, so that messages can be sent while it runs. */

import type { LoggedEvent, Tool, Turn } from "../../src/index.ts";
import { anyTool, call, gate, say, type Scripted, scriptedSession, think } from "./session-fixture.ts";

export interface Steered extends Scripted {
  readonly turn: Turn;
  /** Lets the tool end; every later call of it ends at once. */
  readonly finish: () => void;
}

/** Ends when it is released, or with the turn. */
export function waitingTool(): {
  readonly tool: Tool;
  readonly started: Promise<void>;
  readonly finish: () => void;
} {
  const [started, finish] = [gate(), gate()];
  const tool = anyTool("wait", async (_input, { signal }) => {
    started.open();
    await Promise.race([
      finish.promise,
      new Promise((_done, fail) => signal.addEventListener("abort", () => fail(signal.reason as Error))),
    ]);
    return "waited";
  });
  return { tool, started: started.promise, finish: () => finish.open() };
}

const SCRIPT = [{ output: [think("T"), call("wait")] }, { output: [think("U"), say("first")] }] as const;

export async function steeredSession(
  more: Parameters<typeof scriptedSession>[1] = {},
  script: Parameters<typeof scriptedSession>[0] = SCRIPT,
): Promise<Steered> {
  const wait = waitingTool();
  const scripted = await scriptedSession(script, { ...more, tools: [wait.tool, ...(more.tools ?? [])] });
  const turn = scripted.session.send("one", { turn: "first" });
  await wait.started;
  return { ...scripted, turn, finish: wait.finish };
}

/** The messages of a log: who sent them, in which turn, and as what. */
export function saidIn(events: readonly LoggedEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== "user_message") return [];
    const text = event.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
    return [`${event.turn ?? "-"}${event.steer === undefined ? "" : `<${event.steer}`}: ${text}`];
  });
}
