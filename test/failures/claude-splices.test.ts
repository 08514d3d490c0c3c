import { expect, test } from "vitest";

import { anthropic } from "../../src/index.ts";
import {
  claudeBench,
  claudeSays,
  messageEvents,
  messagesOf,
  serverUse,
  text,
  thinking,
  toolUse,
} from "./claude-harness.ts";
import { bench, echoTool, type Json, KEY, ofType } from "./harness.ts";

const dead = messageEvents(
  [thinking("dead thought"), serverUse("srvtoolu_1", "web_search"), toolUse("toolu_dead", "dead")],
  { id: "msg_dead", stop: "tool_use" },
);
const live = messageEvents([thinking("live thought"), text("I am alive.")], { id: "msg_live" });

/** Cut after each of its events except the last: a message that stopped was whole. */
const cuts = dead.slice(1, -1).map((_, index) => index + 1);

test.each(cuts)(
  "R13 another message begins after %i events: it is the answer, and one request was sent",
  async (count) => {
    const { session, server, ask, log } = await claudeBench((_, request) =>
      request === 1 ? { events: [...dead.slice(0, count), ...live] } : claudeSays([text("Good.")]),
    );
    expect(await ask("Are you there?")).toBe("I am alive.");
    expect(await ask("And now?")).toBe("Good.");
    expect(server.bodies).toHaveLength(2);
    expect(messagesOf(server.bodies[1])).toEqual(["user: text", "assistant: thinking text", "user: text"]);
    expect(JSON.stringify(server.bodies[1])).not.toContain("dead");
    const ends = ofType(await log(), "response_end");
    expect(ends.map(({ status }) => status).filter((status) => status === "completed")).toHaveLength(2);
    expect(ends.filter(({ status }) => status === "cut").map(({ error }) => error?.code)).toEqual(
      count === 1 ? [] : ["stream_spliced"],
    );
    await session.close();
  },
);

test("a call of the abandoned message never runs, and the live message's call runs once", async () => {
  const look = echoTool();
  const { server, ask, log } = await claudeBench(
    (_, request) =>
      request === 1
        ? {
            events: [
              ...dead.slice(0, -1),
              ...messageEvents([toolUse("toolu_live", "live")], { id: "msg_live", stop: "tool_use" }),
            ],
          }
        : claudeSays([text("Found.")], { id: "msg_3" }),
    { tools: [look] },
  );
  expect(await ask("Look it up.")).toBe("Found.");
  expect(look.runs).toEqual(["live"]);
  expect(messagesOf(server.bodies[1])).toEqual(["user: text", "assistant: tool_use", "user: tool_result"]);
  const starts = ofType(await log(), "response_start");
  expect(starts.map(({ step, attempt }) => [step, attempt])).toEqual([
    [1, 1],
    [1, 2],
    [2, 1],
  ]);
  expect(starts[1]?.bodyHash).toBe(starts[0]?.bodyHash);
});

test("the same message_start again changes nothing", async () => {
  const [start, ...rest] = live as readonly [Json, ...Json[]];
  const { ask, log } = await claudeBench(() => ({
    events: [start, ...rest.slice(0, 2), start, ...rest.slice(2)],
  }));
  expect(await ask("Are you there?")).toBe("I am alive.");
  const [end, ...others] = ofType(await log(), "response_end");
  expect(others).toEqual([]);
  expect(end).toMatchObject({ status: "completed", unknown: { "repeated message_start": 1 } });
});

test("an endpoint whose every answer is spliced needs one request each, and keeps every thought", async () => {
  const faults = Array.from({ length: 8 }, () => "spliced-start=6");
  const spliced = await bench({ faults });
  const { emulator, session } = spliced;
  await session.setModel(anthropic("emu-claude", { apiKey: KEY, baseUrl: emulator.url }));
  for (const words of ["think of a number", "hello", "which number was it?"]) await spliced.ask(words);
  expect(emulator.report().totals).toMatchObject({ requests: 3, refused: 0, recall: 1 });
});
