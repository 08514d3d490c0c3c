import { describe, expect, test } from "vitest";

import {
  anyTool,
  call,
  eventsOf,
  gate,
  history,
  ofType,
  say,
  scriptedSession,
} from "../../../test/contracts/session-fixture.ts";
import type { Session, Tool } from "../../index.ts";

const script = (...calls: readonly object[]) => [{ output: calls }, { output: [say("done")] }];
const nth = (tool: string, n: number): object => call(tool, { n });

/** Records when a call of the tool begins and ends; each call lets others run before it ends. */
function recorded(name: string, seen: string[], more: Parameters<typeof anyTool>[2] = {}): Tool {
  return anyTool(
    name,
    async ({ n }) => {
      seen.push(`${name} ${String(n)} begins`);
      for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((done) => void setImmediate(done));
      seen.push(`${name} ${String(n)} ends`);
      return String(n);
    },
    more,
  );
}

const starts = async (session: Session): Promise<readonly string[]> =>
  (await history(session)).flatMap((event) =>
    event.type === "tool_start" || event.type === "tool_result" ? [`${event.type} ${event.callId}`] : [],
  );

describe("calls of tools with parallel: false", () => {
  test("run one at a time, in call order; each is logged as started right before it runs", async () => {
    const seen: string[] = [];
    const { session } = await scriptedSession(script(nth("a", 1), nth("a", 2), nth("b", 3)), {
      tools: [recorded("a", seen, { parallel: false }), recorded("b", seen, { parallel: false })],
    });
    await session.send("go").result();
    const order = ["a 1", "a 2", "b 3"];
    expect(seen).toEqual(order.flatMap((one) => [`${one} begins`, `${one} ends`]));
    const ids = ofType(await history(session), "tool_call").map(({ callId }) => callId);
    expect(await starts(session)).toEqual(ids.flatMap((id) => [`tool_start ${id}`, `tool_result ${id}`]));
  });

  test("run next to the calls of other tools, which stay parallel", async () => {
    const seen: string[] = [];
    const waiting = gate();
    const { session } = await scriptedSession(script(nth("slow", 1), nth("a", 2), nth("a", 3)), {
      tools: [
        anyTool("slow", async () => {
          await waiting.promise;
          return "slow";
        }),
        recorded("a", seen, { parallel: false }),
      ],
    });
    const turn = session.send("go");
    for await (const event of turn) if (event.type === "tool_result" && seen.length === 4) waiting.open();
    expect(await turn.result()).toMatchObject({ status: "completed" });
    expect(seen).toEqual(["a 2 begins", "a 2 ends", "a 3 begins", "a 3 ends"]);
  });

  test("run in parallel by default", async () => {
    const seen: string[] = [];
    const { session } = await scriptedSession(script(nth("a", 1), nth("a", 2)), {
      tools: [recorded("a", seen)],
    });
    await session.send("go").result();
    expect(seen.slice(0, 2)).toEqual(["a 1 begins", "a 2 begins"]);
  });

  test("go on after one that fails", async () => {
    let ran = 0;
    const a = anyTool(
      "a",
      () => {
        ran += 1;
        if (ran === 1) throw new Error("no");
        return "yes";
      },
      { parallel: false },
    );
    const { session } = await scriptedSession(script(nth("a", 1), nth("a", 2)), { tools: [a] });
    await session.send("go").result();
    const results = ofType(await history(session), "tool_result").map(({ status }) => status);
    expect(results).toEqual(["error", "ok"]);
  });

  test("do not start once the turn is cancelled", async () => {
    let ran = 0;
    const a = anyTool(
      "a",
      (_input, { signal, progress }) => {
        ran += 1;
        progress("running");
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")));
        });
      },
      { parallel: false },
    );
    const { session } = await scriptedSession(script(nth("a", 1), nth("a", 2), nth("a", 3)), { tools: [a] });
    const turn = session.send("go");
    for await (const event of turn) if (event.type === "tool_progress") turn.cancel();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    expect(ran).toBe(1);
    const events = await history(session);
    expect(ofType(events, "tool_start")).toHaveLength(1);
    expect(ofType(events, "tool_result").map(({ text }) => text)).toEqual([
      expect.stringContaining("while this tool was running"),
      "not executed: the user stopped the turn",
      "not executed: the user stopped the turn",
    ]);
  });

  test("run one at a time inside one call that wraps several", async () => {
    const seen: string[] = [];
    const inner = [1, 2].map((n) => ({ recipient_name: "functions.a", parameters: { n } }));
    const { session } = await scriptedSession(
      script(call("multi_tool_use.parallel", { tool_uses: inner }), nth("a", 3)),
      { tools: [recorded("a", seen, { parallel: false })] },
    );
    const events = await eventsOf(session.send("go"));
    expect(ofType(events, "tool_result").map(({ status }) => status)).toEqual(["ok", "ok"]);
    const order = ["a 1", "a 2", "a 3"];
    expect(seen).toEqual(order.flatMap((one) => [`${one} begins`, `${one} ends`]));
  });
});
