/** Breaks of reasoning: its pairing (P), its ciphertext (E), its fields (S). */

import { ASK_ON } from "../context.ts";
import { payloadOf, typeOf, without, withField } from "../item-text.ts";
import { Skip } from "../probe.ts";
import {
  type BrokenReplay,
  type BrokenReplays,
  type Expected,
  idOf,
  invalid,
  missing,
  notStored,
  refusedHistory,
  UNDECRYPTABLE,
  unreadable,
} from "./broken-replay.ts";
import { anyPair, type Kind, type Pair, pairOf } from "./replay.ts";

/** Changes the first reasoning item of a pair and nothing else. */
function changed(
  change: (item: string) => string,
  expected: (item: string, pair: Pair) => Expected,
): BrokenReplay["build"] {
  return async (context) => {
    const pair = await anyPair(context);
    const [first = "", ...more] = pair.run;
    const item = change(first);
    return {
      input: [pair.head, item, ...more, pair.follower, ...pair.tail],
      expected: expected(item, pair),
      control: pair.kind,
    };
  };
}

/** The pair without its reasoning. */
function leftOut(kind: Kind): BrokenReplay["build"] {
  return async (context) => {
    const pair = await pairOf(context, kind);
    const { head, follower, tail } = pair;
    return { input: [head, follower, ...tail], expected: withoutReasoning(pair), control: kind };
  };
}

function withPayload(item: string): string {
  const blob = payloadOf(item);
  if (blob === undefined) throw new Skip("there is no encrypted_content: see reasoning.payload");
  return blob;
}

const withoutReasoning = ({ run, follower }: Pair): Expected =>
  refusedHistory(
    ...run.map(
      (item) =>
        `Item '${idOf(follower)}' of type '${typeOf(follower)}' was provided without its required 'reasoning' item: '${idOf(item)}'.`,
    ),
  );

/** Replaces a character in the middle with another one of the same alphabet. */
function altered(text: string): string {
  const at = Math.floor(text.length / 2);
  return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
}

export const BROKEN_REASONING: BrokenReplays = {
  "missing-follower": {
    breaks: ["P01", "R01"],
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
  "call-without-reasoning": {
    breaks: ["P02", "R02"],
    title: "a call with its id, its reasoning left out",
    build: leftOut("call"),
  },
  "message-without-reasoning": {
    breaks: ["P03", "R02"],
    title: "a message with its id, its reasoning left out",
    build: leftOut("message"),
  },
  "id-asymmetry": {
    breaks: ["P05", "R02"],
    title: "reasoning without its id before an item that has its own",
    build: changed(
      (item) => {
        withPayload(item);
        return without(item, "id");
      },
      (_item, pair) => withoutReasoning(pair),
    ),
  },
  "bare-id": {
    breaks: ["I01", "R03"],
    title: "reasoning by its id alone, without its payload",
    build: changed(
      (item) => {
        withPayload(item);
        return without(item, "encrypted_content");
      },
      (item) => notStored(idOf(item)),
    ),
  },
  "altered-payload": {
    breaks: ["E02"],
    title: "reasoning with one character of its ciphertext changed",
    build: changed(
      (item) => withField(item, "encrypted_content", altered(withPayload(item))),
      (item) => unreadable(item, UNDECRYPTABLE),
    ),
  },
  "changed-id": {
    breaks: ["E03"],
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
  "other-model": {
    breaks: ["E05"],
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
  "early-payload": {
    breaks: ["E07"],
    strict: false,
    title: "the ciphertext of output_item.added, which is not finished",
    async build(context) {
      const view = await context.textStream();
      const pair = await pairOf(context, "message");
      const [first = "", ...more] = pair.run;
      const seen = view.items.find(({ done, final }) => idOf(done ?? final ?? "") === idOf(first));
      const early = payloadOf(seen?.added);
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
  "missing-summary": {
    breaks: ["S01", "R10"],
    title: "reasoning without summary",
    build: changed(
      (item) => without(item, "summary"),
      () => missing("input[1].summary"),
    ),
  },
  status: {
    breaks: ["S03", "R11"],
    title: "reasoning with status",
    build: changed(
      (item) => withField(item, "status", "completed"),
      () => invalid("input[1].status", "unknown_parameter", "Unknown parameter: 'input[1].status'."),
    ),
  },
  content: {
    breaks: ["S04"],
    title: "reasoning with readable content",
    build: changed(
      (item) => withField(item, "content", [{ type: "reasoning_text", text: "Digit by digit." }]),
      () =>
        invalid(
          "input[1].content",
          "array_above_max_length",
          "Invalid 'input[1].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
        ),
    ),
  },
};
