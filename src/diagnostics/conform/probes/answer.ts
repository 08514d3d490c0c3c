/** The non-streamed answer: its object, fields, usage and headers. */

import {
  arrayOf,
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import { describeBody } from "../acceptance.ts";
import { brokenOff, differs, holds, probesOf, unlessRefused, type Verdict, verdict } from "../probe.ts";
import type { Reply } from "../reply.ts";

/** Fields that the official types declare as always present. */
export const REQUIRED_FIELDS: readonly string[] = [
  "id",
  "object",
  "created_at",
  "status",
  "error",
  "incomplete_details",
  "instructions",
  "metadata",
  "model",
  "output",
  "parallel_tool_calls",
  "temperature",
  "tool_choice",
  "tools",
  "top_p",
];

export function usageProblems(usage: unknown): readonly string[] {
  if (!isObject(usage)) return ["usage is missing"];
  const problems: string[] = [];
  const counts = ["input_tokens", "output_tokens", "total_tokens"];
  for (const name of counts)
    if (numberOf(usage[name]) === undefined) problems.push(`usage.${name} is missing`);
  const details = [
    ["input_tokens_details", "cached_tokens"],
    ["output_tokens_details", "reasoning_tokens"],
  ] as const;
  for (const [group, name] of details) {
    if (numberOf(objectOf(usage[group])[name]) === undefined)
      problems.push(`usage.${group}.${name} is missing`);
  }
  const [input, output, total] = counts.map((name) => numberOf(usage[name]) ?? 0);
  if (problems.length === 0 && (input ?? 0) + (output ?? 0) !== total) {
    problems.push(`total_tokens is ${total}, not ${input} + ${output}`);
  }
  return problems;
}

export function missingFields(response: JsonObject, but: readonly string[] = []): readonly string[] {
  return REQUIRED_FIELDS.filter((name) => !but.includes(name) && response[name] === undefined).map(
    (name) => `${name} is missing`,
  );
}

export const describeUsage = (usage: unknown): string => {
  const { input_tokens, output_tokens, total_tokens } = objectOf(usage);
  return `${String(input_tokens)} + ${String(output_tokens)} = ${String(total_tokens)} tokens`;
};

function completed(expected: string, reply: Reply): Verdict {
  const body = tryParseJson(reply.text);
  if (!isObject(body)) return differs(expected, `HTTP ${reply.status}, ${describeBody(reply)}`);
  const problems: string[] = [];
  if (body["object"] !== "response") problems.push(`object is ${JSON.stringify(body["object"])}`);
  if (body["status"] !== "completed") problems.push(`status is ${JSON.stringify(body["status"])}`);
  const types = arrayOf(body["output"]).map((item) => stringOf(objectOf(item)["type"]) ?? "no type");
  if (!types.includes("message")) problems.push(`output holds [${types.join(", ")}]`);
  return verdict(expected, problems, `HTTP ${reply.status}, completed: ${types.join(", ")}`);
}

export const ANSWER_PROBES = probesOf("responses", {
  "answer.object": {
    title: "answers a plain request with a completed response object that holds a message",
    why: "§2.5",
    async run(context) {
      const expected = "HTTP 200 and a completed response object with a message";
      const reply = await context.answer();
      return unlessRefused(expected, reply, () => brokenOff(reply) ?? completed(expected, reply));
    },
  },
  "answer.fields": {
    title: "the response object has every field of the official types",
    why: "§2.5",
    async run(context) {
      const problems = missingFields(await context.object());
      return verdict(`the fields ${REQUIRED_FIELDS.join(", ")}`, problems, `all ${REQUIRED_FIELDS.length}`);
    },
  },
  "answer.usage": {
    title: "usage counts input, output, cached and reasoning tokens, and adds up",
    why: "K05, K06",
    async run(context) {
      const { usage } = await context.object();
      return verdict("usage with details", usageProblems(usage), describeUsage(usage));
    },
  },
  "answer.request-id": {
    strict: false,
    title: "every answer names itself in x-request-id",
    why: "§2.6",
    async run(context) {
      await context.object();
      const { headers } = await context.answer();
      const id = headers["x-request-id"];
      return id === undefined
        ? differs("a header x-request-id", `headers: ${Object.keys(headers).join(", ")}`)
        : holds(id);
    },
  },
});
