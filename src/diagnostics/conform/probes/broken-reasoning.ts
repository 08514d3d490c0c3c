/**
 * Breaks of reasoning: its pairing (P), its ciphertext (E), its fields (S).
 *
 * @module
 */

import { ASK_ON, type Context } from "../context.ts";
import { textField, without, withField } from "../item-text.ts";
import { Skip } from "../probe.ts";
import {
  type Broken,
  type BrokenReplay,
  type Expected,
  idOf,
  invalid,
  missing,
  notStored,
  refusedHistory,
  UNDECRYPTABLE,
  unreadable,
} from "./broken-replay.ts";
import { anyPair, type Pair, pairOf } from "./replay.ts";

/** Changes the first reasoning item of a pair and leaves the rest as it is. */
async function changed(
  context: Context,
  change: (item: string, pair: Pair) => string,
  expected: (item: string, pair: Pair) => Expected,
): Promise<Broken> {
  const pair = await anyPair(context);
  const [first = "", ...more] = pair.run;
  const item = change(first, pair);
  return {
    input: [pair.head, item, ...more, pair.follower, ...pair.tail],
    expected: expected(item, pair),
    control: pair.kind,
  };
}

function withPayload(item: string): string {
  const blob = textField(item, "encrypted_content");
  if (blob === undefined) throw new Skip("there is no encrypted_content: see reasoning.payload");
  return blob;
}

const withoutReasoning = ({ run, follower }: Pair, type: string): Expected =>
  refusedHistory(
    ...run.map(
      (item) =>
        `Item '${idOf(follower)}' of type '${type}' was provided without its required 'reasoning' item: '${idOf(item)}'.`,
    ),
  );

/** A character in the middle becomes another one of the same alphabet. */
function altered(text: string): string {
  const at = Math.floor(text.length / 2);
  return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
}

export const BROKEN_REASONING: readonly BrokenReplay[] = [
  {
    failure: "P01",
    name: "missing-follower",
    rule: "R01",
    title: "reasoning without what followed it",
    async build(context) {
      const { head, run, kind } = await anyPair(context);
      const expected = refusedHistory(
        ...run.map(
          (item) =>
            `Item '${idOf(item)}' of type 'reasoning' was provided without its required following item.`,
        ),
      );
      return { input: [head, ...run, ASK_ON], expected, control: kind };
    },
  },
  {
    failure: "P02",
    name: "call-without-reasoning",
    rule: "R02",
    title: "a call with its id, its reasoning left out",
    async build(context) {
      const pair = await pairOf(context, "call");
      const expected = withoutReasoning(pair, "function_call");
      return { input: [pair.head, pair.follower, ...pair.tail], expected, control: "call" };
    },
  },
  {
    failure: "P03",
    name: "message-without-reasoning",
    rule: "R02",
    title: "a message with its id, its reasoning left out",
    async build(context) {
      const pair = await pairOf(context, "message");
      const expected = withoutReasoning(pair, "message");
      return { input: [pair.head, pair.follower, ...pair.tail], expected, control: "message" };
    },
  },
  {
    failure: "P05",
    name: "id-asymmetry",
    rule: "R02",
    title: "reasoning without its id before an item that has its own",
    build: (context) =>
      changed(
        context,
        (item) => {
          withPayload(item);
          return without(item, "id");
        },
        (_item, pair) => withoutReasoning(pair, pair.kind === "message" ? "message" : "function_call"),
      ),
  },
  {
    failure: "I01",
    name: "bare-id",
    rule: "R03",
    title: "reasoning by its id alone, without its payload",
    build: (context) =>
      changed(
        context,
        (item) => {
          withPayload(item);
          return without(item, "encrypted_content");
        },
        (item) => notStored(idOf(item)),
      ),
  },
  {
    failure: "E02",
    name: "altered-payload",
    title: "reasoning with one character of its ciphertext changed",
    build: (context) =>
      changed(
        context,
        (item) => withField(item, "encrypted_content", altered(withPayload(item))),
        (item) => unreadable(item, UNDECRYPTABLE),
      ),
  },
  {
    failure: "E03",
    name: "changed-id",
    title: "the same ciphertext under another id",
    async build(context) {
      const { kind, head, run, follower, tail } = await anyPair(context);
      const [first = "", ...more] = run;
      withPayload(first);
      const id = idOf(first);
      const other = withField(first, "id", `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`);
      return {
        input: [head, other, ...more, without(follower, "id"), ...tail],
        expected: unreadable(other, "Encrypted content item_id did not match the target item id."),
        control: kind,
      };
    },
  },
  {
    failure: "E05",
    name: "other-model",
    strict: false,
    title: "the whole group sent to another model",
    async build(context) {
      const { otherModel } = context.target;
      if (otherModel === undefined) throw new Skip("needs --second-model");
      const { kind, head, run, follower, tail } = await anyPair(context);
      withPayload(run[0] ?? "");
      return {
        input: [head, ...run, follower, ...tail],
        expected: unreadable(run[0] ?? "", UNDECRYPTABLE),
        fields: { model: otherModel },
        control: kind,
      };
    },
  },
  {
    failure: "E07",
    name: "early-payload",
    strict: false,
    title: "the ciphertext of output_item.added, which is not finished",
    async build(context) {
      const view = await context.textStream();
      const pair = await pairOf(context, "message");
      const [first = "", ...more] = pair.run;
      const seen = view.items.find(({ done, final }) => idOf(done ?? final ?? "") === idOf(first));
      const early = seen?.added === undefined ? undefined : textField(seen.added, "encrypted_content");
      if (early === undefined || early === withPayload(first))
        throw new Skip("added has no ciphertext of its own");
      const item = withField(first, "encrypted_content", early);
      return {
        input: [pair.head, item, ...more, pair.follower, ...pair.tail],
        expected: unreadable(item, UNDECRYPTABLE),
        control: "message",
      };
    },
  },
  {
    failure: "S01",
    name: "missing-summary",
    rule: "R10",
    title: "reasoning without summary",
    build: (context) =>
      changed(
        context,
        (item) => without(item, "summary"),
        () => missing("input[1].summary"),
      ),
  },
  {
    failure: "S03",
    name: "status",
    rule: "R11",
    title: "reasoning with status",
    build: (context) =>
      changed(
        context,
        (item) => withField(item, "status", "completed"),
        () => invalid("input[1].status", "unknown_parameter", "Unknown parameter: 'input[1].status'."),
      ),
  },
  {
    failure: "S04",
    name: "content",
    title: "reasoning with readable content",
    build: (context) =>
      changed(
        context,
        (item) => withField(item, "content", [{ type: "reasoning_text", text: "Digit by digit." }]),
        () =>
          invalid(
            "input[1].content",
            "array_above_max_length",
            "Invalid 'input[1].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
          ),
      ),
  },
];
