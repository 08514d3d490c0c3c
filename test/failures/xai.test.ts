/** What is specific to xAI's Responses endpoint: its own searches, its ids, and its long response times. */

import { expect, test } from "vitest";

import type { AgentOptions, Model } from "../../src/index.ts";
import {
  all,
  closeLater,
  completed,
  echoTool,
  inputOf,
  type Json,
  msgItem,
  ofType,
  rsItem,
  scriptedBench,
  sessionOn,
} from "./harness.ts";

const custom = (name: string, more: Json = {}): Json => ({
  call_id: "xs_call_1",
  input: '{"query":"from:xai"}',
  name,
  type: "custom_tool_call",
  id: "ctc_b7b464ea_xs_call_1",
  status: "completed",
  ...more,
});

test("a custom call to none of our tools was run by the server: it goes home unchanged, and is not answered", async () => {
  const said = [rsItem(), custom("x_keyword_search"), rsItem(), msgItem("They post a lot.")];
  const b = await scriptedBench(
    (_, request) => (request === 1 ? completed(said) : completed([msgItem("Yes.")])),
    {
      openai: { profile: "xai" },
      tools: [echoTool()],
    },
  );
  const turn = b.session.send("What do they post?");
  const shown = await all(turn);
  expect(await turn.result()).toMatchObject({ status: "completed", text: "They post a lot.", steps: 1 });
  expect(shown.filter(({ type }) => type.startsWith("tool_"))).toEqual([]);
  expect(ofType(await b.log(), "hosted_item").map(({ itemType }) => itemType)).toEqual(["custom_tool_call"]);
  await b.ask("Really?");
  expect(b.server.bodies).toHaveLength(2);
  expect(inputOf(b.server.bodies[1]).slice(1, -1)).toEqual(said);
});

test("a custom call to one of our tools is ours, and so is one on any other endpoint", async () => {
  for (const [profile, name] of [
    ["xai", "look_up"],
    ["openai", "x_keyword_search"],
  ] as const) {
    const b = await scriptedBench(
      (_, request) => (request === 1 ? completed([rsItem(), custom(name)]) : completed([msgItem("Yes.")])),
      { openai: { profile }, tools: [echoTool()] },
    );
    await b.ask("Look it up.");
    expect(inputOf(b.server.bodies[1]).at(-1)).toMatchObject({
      type: "custom_tool_call_output",
      call_id: "xs_call_1",
    });
  }
});

test("ids that repeat inside a response go back unchanged, with the reasoning", async () => {
  const id = "rs_b7b464ea";
  const said = [rsItem({ id }), custom("x_keyword_search"), rsItem({ id }), msgItem("Done.")];
  const b = await scriptedBench(() => completed(said), { openai: { profile: "xai" } });
  await b.ask("Search.");
  await b.ask("And?");
  expect(inputOf(b.server.bodies[1]).slice(1, -1)).toEqual(said);
});

test.each<[string, string, AgentOptions["limits"], Json]>([
  ["xai gets fifteen minutes", "xai", undefined, { firstByteMs: 900_000, idleMs: 900_000 }],
  ["others get five", "openai", undefined, { firstByteMs: 300_000, idleMs: 300_000 }],
  ["the user's setting wins", "xai", { idleTimeoutMs: 60_000 }, { firstByteMs: 900_000, idleMs: 60_000 }],
])("%s", async (_, profile, limits, expected) => {
  const timeouts: object[] = [];
  const b = await scriptedBench(() => completed([msgItem("Hello.")]), { openai: { profile } });
  const inner = b.model();
  const model: Model = {
    ...inner,
    send(body, options) {
      timeouts.push(options.timeouts);
      return inner.send(body, options);
    },
  };
  const { session } = await sessionOn(() => model, { agent: { limits } });
  await closeLater(session).send("Hi.").result();
  expect(timeouts).toEqual([expect.objectContaining(expected)]);
});

test("a request to xai carries one cache key per conversation", async () => {
  const b = await scriptedBench(() => completed([msgItem("Hello.")]), { openai: { profile: "xai" } });
  await b.ask("Hi.");
  await b.ask("Hi again.");
  const keys = b.server.bodies.map((body) => body["prompt_cache_key"]);
  expect(keys).toEqual([b.session.id, b.session.id]);
});
