/** Tools that ask the person a question, as a tool server does. */

import type { Elicitation, ElicitationAnswer, ElicitationField } from "../../src/base/events/index.ts";
import type { Tool } from "../../src/index.ts";
import { elicitFrom } from "../../src/runtime/tools/index.ts";
import { anyTool } from "./session-fixture.ts";

export const NAME: ElicitationField = { name: "name", type: "string", title: "Your name", required: true };
export const COUNT: ElicitationField = {
  name: "count",
  type: "integer",
  title: "How many",
  description: "From 1 to 9",
  required: false,
  minimum: 1,
  maximum: 9,
  default: 3,
};

export function form(
  fields: readonly ElicitationField[] = [NAME, COUNT],
  message = "Who are you?",
): Elicitation {
  return { server: "people", message, mode: "form", fields };
}

export function address(url: string): Elicitation {
  return { server: "people", message: "Please sign in", mode: "url", url };
}

/** Asks once per call and keeps what it got. Its result does not repeat it. */
export function askingTool(
  request: Elicitation | ((input: Readonly<Record<string, unknown>>) => Elicitation),
  got: ElicitationAnswer[] = [],
  more: Parameters<typeof anyTool>[2] = {},
): Tool {
  return anyTool(
    "ask",
    async (input, context) => {
      const elicit = elicitFrom(context);
      if (elicit === undefined) return "nobody to ask";
      const answer = await elicit(typeof request === "function" ? request(input) : request);
      got.push(answer);
      return `the person said ${answer.action}`;
    },
    more,
  );
}
