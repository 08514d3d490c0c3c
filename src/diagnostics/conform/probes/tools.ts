/** Function tools and structured output, as our requests have them. */

import { arrayOf, isObject, objectOf, stringOf, tryParseJson } from "../../../base/support/index.ts";
import { describe, acceptanceOf, refusalOf } from "../acceptance.ts";
import { ASK_WEATHER, type Context, WEATHER_TOOL } from "../context.ts";
import { home, outputItem, textField, typeOf, userItem, without } from "../item-text.ts";
import { brokenOff, differs, holds, probesOf, Skip, verdict } from "../probe.ts";
import type { Reply } from "../reply.ts";
import { keptItems, outputIndexOf, type StreamView, textOfMessage, viewStream } from "../stream-view.ts";

const callsIn = (view: StreamView): readonly string[] =>
  keptItems(view).filter((item) => typeOf(item) === "function_call");

export const callIdOf = (call: string): string => textField(call, "call_id") ?? "";

export const RESULT = "18 degrees and sunny";

/** The call and its result in the plainest form: no ids, no reasoning. */
export async function plainRoundTrip(context: Context): Promise<readonly string[]> {
  const call = callsIn(await context.callStream())[0];
  if (call === undefined) throw new Skip("the model made no call: see tools.call");
  return [ASK_WEATHER, without(home(call), "id", "status"), outputItem(callIdOf(call), RESULT)];
}

export function roundTrip(context: Context): Promise<Reply> {
  return context.once("round trip", async () => {
    const input = await plainRoundTrip(context);
    return context.send(input, { ...(await context.base()), stream: true, tools: [WEATHER_TOOL] });
  });
}

const CAPITAL = {
  type: "json_schema",
  name: "capital",
  strict: true,
  schema: {
    type: "object",
    properties: { country: { type: "string" }, capital: { type: "string" } },
    required: ["country", "capital"],
    additionalProperties: false,
  },
} as const;

export const TOOL_PROBES = probesOf("responses", {
  "tools.call": {
    title: "a tool given at the top level is called, with arguments that fit its schema",
    why: "S13",
    async run(context) {
      const expected = 'a function_call of get_weather with {"city": …} and a call_id';
      const reply = await context.callReply();
      const refusal = refusalOf(reply);
      if (refusal !== undefined) return differs(expected, describe(refusal));
      const [call] = callsIn(viewStream(reply));
      if (call === undefined) {
        return (
          brokenOff(reply) ?? differs(expected, "the model made no call, even with tool_choice required")
        );
      }
      const problems: string[] = [];
      const args = tryParseJson(textField(call, "arguments") ?? "");
      if (textField(call, "name") !== "get_weather") problems.push(`name is ${textField(call, "name")}`);
      if (callIdOf(call) === "") problems.push("call_id is missing");
      if (!isObject(args) || typeof args["city"] !== "string") {
        problems.push(`arguments are ${textField(call, "arguments") ?? "missing"}`);
      }
      return verdict(expected, problems, `get_weather(${textField(call, "arguments")}), ${callIdOf(call)}`);
    },
  },
  "tools.arguments": {
    title: "argument deltas add up to the arguments in done",
    why: "R05, T11",
    async run(context) {
      const view = await context.callStream();
      if (callsIn(view).length === 0) throw new Skip("the model made no call: see tools.call");
      return verdict("deltas = done = item", argumentProblems(view), `${callsIn(view).length} calls`);
    },
  },
  "tools.parallel": {
    title: "two calls in one response have different output indexes and call ids",
    why: "T04, T07",
    async run(context) {
      const reply = await context.parallelReply();
      const refusal = refusalOf(reply);
      if (refusal !== undefined) return differs("two calls in one response", describe(refusal));
      const calls = callsIn(await context.parallelStream());
      if (calls.length < 2) throw new Skip(`the model made ${calls.length} calls, which is its choice`);
      const ids = calls.map(callIdOf);
      return new Set(ids).size === ids.length
        ? holds(ids.join(", "))
        : differs("a different call_id for each call", `the call ids are ${ids.join(", ")}`);
    },
  },
  "tools.call-ids": {
    title: "call ids of different responses differ",
    why: "T07",
    async run(context) {
      const first = callsIn(await context.callStream()).map(callIdOf);
      const later = callsIn(await context.parallelStream()).map(callIdOf);
      if (first.length === 0 || later.length === 0) throw new Skip("there are not two responses with calls");
      const again = later.filter((id) => first.includes(id));
      return again.length === 0
        ? holds([...first, ...later].join(", "), { repeat: false })
        : differs("no call id twice", `${again.join(", ")} occurs in two responses`, { repeat: true });
    },
  },
  "tools.round-trip": {
    title: "a plain history of a call and its output gets an answer",
    why: "T01, T02",
    async run(context) {
      const reply = await roundTrip(context);
      const expected = "accepted, and output after it";
      const acceptance = acceptanceOf(reply);
      if (!acceptance.accepted) return differs(expected, describe(acceptance.refusal));
      const items = keptItems(viewStream(reply));
      const text = items.map(textOfMessage).join(" ").trim();
      return holds(text === "" ? items.map(typeOf).join(", ") : `“${text.slice(0, 80)}”`);
    },
  },
  "tools.nested-schema": {
    title: "a tool in the chat-completions shape is refused",
    why: "S13",
    async run(context) {
      const { type, ...inner } = WEATHER_TOOL;
      const acceptance = await context.offer([ASK_WEATHER], { tools: [{ type, function: inner }] });
      const expected =
        "HTTP 400, code missing_required_parameter, param tools[0].name: Missing required parameter: 'tools[0].name'.";
      if (acceptance.accepted) return differs(expected, "accepted", { accepted: true });
      const { refusal } = acceptance;
      const same = refusal.status === 400 && refusal.param === "tools[0].name";
      return same ? holds(describe(refusal)) : differs(expected, describe(refusal));
    },
  },
  "tools.structured-output": {
    title: "text.format json_schema gives JSON of that schema",
    why: "§2.1",
    async run(context) {
      const expected = '{"country": …, "capital": …} and nothing else';
      const fields = { ...(await context.base()), text: { format: CAPITAL } };
      const reply = await context.send([userItem("Name a country and its capital.")], fields);
      const refusal = refusalOf(reply);
      if (refusal !== undefined) return differs(expected, describe(refusal));
      const broken = brokenOff(reply);
      if (broken !== undefined) return broken;
      const text = arrayOf(objectOf(tryParseJson(reply.text))["output"])
        .map((item) => JSON.stringify(item))
        .filter((item) => typeOf(item) === "message")
        .map(textOfMessage)
        .join("");
      const value = tryParseJson(text);
      const keys = isObject(value) ? Object.keys(value).toSorted().join() : "";
      return keys === "capital,country" ? holds(text.slice(0, 120)) : differs(expected, text.slice(0, 200));
    },
  },
});

function argumentProblems(view: StreamView): readonly string[] {
  return view.items.flatMap(({ index, done, final }) => {
    const call = done ?? final ?? "";
    if (typeOf(call) !== "function_call") return [];
    const whole = textField(call, "arguments");
    const own = view.frames.filter((frame) => outputIndexOf(frame) === index);
    const deltas = own.filter(({ type }) => type === "response.function_call_arguments.delta");
    const ends = own.filter(({ type }) => type === "response.function_call_arguments.done");
    const joined = deltas.map((frame) => stringOf(frame.body?.["delta"]) ?? "").join("");
    const problems: string[] = [];
    if (deltas.length === 0) problems.push(`the call at ${index} has no argument deltas`);
    else if (joined !== whole)
      problems.push(`the deltas of ${index} add up to ${joined}, the item has ${whole}`);
    if (ends.length !== 1) problems.push(`the arguments of ${index} are done ${ends.length} times`);
    const said = ends[0]?.body?.["arguments"];
    if (ends.length === 1 && said !== whole) problems.push(`done of ${index} says ${JSON.stringify(said)}`);
    return problems;
  });
}
