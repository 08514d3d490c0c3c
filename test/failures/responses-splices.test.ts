import { describe, expect, test } from "vitest";

import {
  bench,
  completed,
  echoTool,
  expectNoneRefused,
  fcItem,
  inputOf,
  type Json,
  msgItem,
  ofType,
  outline,
  rsItem,
  scriptedBench,
} from "./harness.ts";

const eventsOf = (items: readonly Json[], id: string): readonly Json[] =>
  completed(items, { id }).events ?? [];

describe("R13 when another response begins in the middle of the first", () => {
  const dead = eventsOf([rsItem({ id: "rs_dead" }), fcItem("dead", { call_id: "call_dead" })], "resp_dead");

  /** Cut after each of its events except the last: a response that ended was whole. */
  test.each(dead.slice(0, -1).map((_, index) => index + 1))(
    "after %i events, it is the answer, one request was sent, and thoughts stay with what they led to",
    async (count) => {
      const look = echoTool();
      const live = [rsItem({ id: "rs_live" }), fcItem("live", { call_id: "call_live" })];
      const { ask, log, server } = await scriptedBench(
        (_, request) =>
          request === 1
            ? { events: [...dead.slice(0, count), ...eventsOf(live, "resp_live")] }
            : completed([msgItem("Found.")], { id: `resp_${request}` }),
        { tools: [look] },
      );
      expect(await ask("Look it up.")).toBe("Found.");
      expect(look.runs).toEqual(["live"]);
      expect(server.bodies).toHaveLength(2);
      expect(inputOf(server.bodies[1]).slice(1, 3)).toEqual(live);
      expect(JSON.stringify(server.bodies[1])).not.toContain("dead");
      const ends = ofType(await log(), "response_end");
      expect(ends.filter(({ status }) => status === "cut").map(({ error }) => error?.code)).toEqual(
        count === 1 ? [] : ["stream_spliced"],
      );
      const live1 = ends.find(({ providerResponseId }) => providerResponseId === "resp_live");
      expect(live1).toMatchObject({ status: "completed", unknown: { "spliced response.created": 1 } });
    },
  );

  test("the same response again changes nothing", async () => {
    const [start, ...rest] = eventsOf([rsItem(), msgItem("I am alive.")], "resp_1") as readonly [
      Json,
      ...Json[],
    ];
    const { ask, log, server } = await scriptedBench(() => ({
      events: [start, ...rest.slice(0, 2), start, ...rest.slice(2)],
    }));
    expect(await ask("Are you there?")).toBe("I am alive.");
    await ask("And now?");
    expect(outline(inputOf(server.bodies[1]))).toEqual(["user", "reasoning+", "assistant+", "user"]);
    expect(ofType(await log(), "response_end")[0]).toMatchObject({
      status: "completed",
      unknown: { "repeated response.created": 1 },
    });
  });

  test.each([2, 3, 6, 9])("an endpoint that splices every answer after %i events works", async (count) => {
    const faults = Array.from({ length: 8 }, () => `spliced-start=${count}`);
    const spliced = await bench({ faults });
    for (const words of ["think of a number", "hello", "which number was it?"]) await spliced.ask(words);
    expectNoneRefused(spliced.emulator);
    expect(spliced.emulator.report().totals).toMatchObject({ requests: 3, recall: 1 });
  });
});
