/** Breaks that any history can have: ids (I), calls and outputs (T), content (S). */

import type { JsonObject } from "../../../base/support/index.ts";
import { ASK, ASK_ON, ASK_WEATHER, type Context } from "../context.ts";
import { outputItem, textField, without, withField } from "../item-text.ts";
import { Skip } from "../probe.ts";
import {
  type BrokenReplay,
  type BrokenReplays,
  type Expected,
  idOf,
  invalid,
  LONG,
  missing,
  notStored,
  refusedHistory,
  tooLong,
} from "./broken-replay.ts";
import { anyPair, pairOf } from "./replay.ts";
import { plainRoundTrip, RESULT } from "./tools.ts";

const CALL_ID = "call_throughline0conform";
const LONG_CALL_ID = `call_${"0".repeat(LONG - 5)}`;

export const BROKEN_HISTORIES: BrokenReplays = {
  "duplicate-id": {
    breaks: ["I04", "R04"],
    title: "one item twice",
    async build(context) {
      const { head, run, follower, tail, kind } = await anyPair(context);
      const expected = refusedHistory(
        `Duplicate item found with id ${idOf(follower)}. Remove duplicate items from your input and try again.`,
      );
      return { input: [head, ...run, follower, follower, ...tail], expected, control: kind };
    },
  },
  "item-reference": {
    breaks: ["I02", "R14"],
    title: "a reference to an item that was not stored",
    async build(context) {
      await unstored(context);
      const { follower, tail } = await pairOf(context, "message");
      const reference = JSON.stringify({ type: "item_reference", id: idOf(follower) });
      return { input: [ASK, reference, ...tail], expected: notReferable(idOf(follower)), control: "message" };
    },
  },
  "long-id": {
    breaks: ["I05", "R05"],
    title: `an item id of ${LONG} characters`,
    build: saying({ id: `msg_${"0".repeat(LONG - 4)}` }, tooLong("input[1].id")),
  },
  "wrong-prefix": {
    breaks: ["I06", "R05"],
    title: "a call id instead of the item id",
    build: calling(
      (head, call, output) => [head, withField(call, "id", CALL_ID), output],
      () =>
        invalid(
          "input[1].id",
          "invalid_id_prefix",
          `Invalid 'input[1].id': '${CALL_ID}'. Expected an ID that begins with 'fc'.`,
        ),
    ),
  },
  "empty-id": {
    breaks: ["I07", "R05"],
    title: "an empty item id",
    build: saying(
      { id: "" },
      invalid(
        "input[1].id",
        "invalid_value",
        "Invalid 'input[1].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
      ),
    ),
  },
  "missing-output": {
    breaks: ["T01", "R06"],
    title: "a call without its output",
    build: calling(
      (head, call) => [head, call, ASK_ON],
      (call) => refusedHistory(`No tool output found for function call ${textField(call, "call_id")}.`),
    ),
  },
  "missing-call": {
    breaks: ["T02", "R07"],
    title: "an output without its call",
    build: async () => ({
      input: [ASK_WEATHER, outputItem(CALL_ID, RESULT)],
      expected: refusedHistory(`No tool call found for function call output with call_id ${CALL_ID}.`),
      control: "plain call",
    }),
  },
  "long-call-id": {
    breaks: ["T05", "R09"],
    title: `a call id of ${LONG} characters`,
    build: calling(
      (head, call) => [head, withField(call, "call_id", LONG_CALL_ID), outputItem(LONG_CALL_ID, RESULT)],
      () => tooLong("input[1].call_id"),
    ),
  },
  "no-output-field": {
    breaks: ["T09", "R13"],
    title: "an output item without its output field",
    build: calling(
      (head, call, output) => [head, call, without(output, "output")],
      () => missing("input[2].output"),
    ),
  },
  "input-text": {
    breaks: ["S05", "R12"],
    title: "assistant text typed as input_text",
    build: saying(
      { content: [{ type: "input_text", text: "9.9." }] },
      {
        status: 400,
        code: "invalid_value",
        texts: ["Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."],
      },
    ),
  },
  "previous-response": {
    breaks: ["I10"],
    title: "a previous_response_id that was not stored",
    async build(context) {
      await unstored(context);
      const { response } = await context.textStream();
      const id = response?.["id"];
      if (typeof id !== "string") throw new Skip("there is no response id: see stream.terminal");
      return {
        input: [ASK_ON],
        fields: { previous_response_id: id },
        expected: {
          status: 400,
          code: "previous_response_not_found",
          texts: [`Previous response with id '${id}' not found.`],
        },
        control: "plain message",
      };
    },
  },
};

/** A plain answer with other fields. */
function saying(fields: JsonObject, expected: Expected): BrokenReplay["build"] {
  return async () => ({ input: [ASK, assistant(fields), ASK_ON], expected, control: "plain message" });
}

/** A plain call and its output with other fields. */
function calling(
  input: (head: string, call: string, output: string) => readonly string[],
  expected: (call: string) => Expected,
): BrokenReplay["build"] {
  return async (context) => {
    const [head = "", call = "", output = ""] = await plainRoundTrip(context);
    return { input: input(head, call, output), expected: expected(call), control: "plain call" };
  };
}

/** Skips unless `store: false` is accepted: only then is the server sure not to have the referenced item. */
async function unstored(context: Context): Promise<void> {
  const base = await context.base();
  if (base["store"] !== false) throw new Skip("store: false is refused: see request.store");
}

/** Organisations without data retention get a different message (I02). */
function notReferable(id: string): Expected {
  const expected = notStored(id);
  const never = `Item with id '${id}' not found. Items are not persisted for Zero Data Retention organizations.`;
  return { ...expected, texts: [...expected.texts, never] };
}

export function assistant(fields: JsonObject): string {
  const content = [{ type: "output_text", text: "9.9 is larger.", annotations: [] }];
  return JSON.stringify({ type: "message", role: "assistant", content, ...fields });
}
