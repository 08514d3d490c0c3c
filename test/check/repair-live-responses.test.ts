/** Live Responses requests: one repair of the refused class is enough, keeps real content and leaves the rest alone. */

import { describe, expect, test } from "vitest";

import { repairHistory } from "../../src/diagnostics/check/index.ts";
import { emulatorFor, type Json, post, user, without } from "../emulator/emulator-client.ts";
import { healedAtOnce, liveResponses } from "./live-requests.ts";

const REASONING = ["R01", "R02", "R03"];
const PAIRS = ["R06", "R07", "R08"];
const IDS = ["R04", "R05", "R09"];
const SCHEMA = ["R10", "R11", "R12", "R13", "R17", "R18"];

const kinds = (items: readonly Json[]): readonly unknown[] =>
  items.map((item) => item["type"] ?? item["role"]);
const mapped = (items: readonly Json[], change: (item: Json, index: number) => Json): readonly Json[] =>
  items.map(change);

const saying = (text: string, id = "msg_1"): Json => ({
  type: "message",
  id,
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const bareThought = (n: number): Json => ({ type: "reasoning", id: `rs_${n}`, summary: [] });
const reference = (id: string): Json => ({ type: "item_reference", id });
const call = (id: string, more: Json = {}): Json => ({
  type: "function_call",
  call_id: id,
  name: "look",
  arguments: "{}",
  ...more,
});
const output = (id: string, text = `real ${id}`): Json => ({
  type: "function_call_output",
  call_id: id,
  output: text,
});
const repaired = (input: readonly Json[], rules: readonly string[], more: Json = {}): readonly Json[] => {
  const { text } = repairHistory(JSON.stringify({ store: false, ...more, input }), {
    scope: "history",
    rules,
  });
  return (JSON.parse(text) as { readonly input: readonly Json[] }).input;
};

describe("every violation of the class is mended at once", () => {
  test.each<[string, readonly string[], (items: readonly Json[]) => readonly unknown[]]>([
    [
      "thoughts without a follower",
      REASONING,
      (items) => [...items.slice(0, 2), user("a"), items[6], user("b"), items[10], user("c")],
    ],
    [
      "thoughts without their payload",
      REASONING,
      (items) => mapped(items, (item) => without(item, "encrypted_content")),
    ],
    [
      "thoughts without their ids",
      REASONING,
      (items) => mapped(items, (item) => (item["type"] === "reasoning" ? without(item, "id") : item)),
    ],
    ["calls without outputs", PAIRS, (items) => items.filter(({ type }) => type !== "function_call_output")],
    [
      "outputs without calls",
      [...REASONING, ...PAIRS],
      (items) => items.filter(({ type }) => type !== "function_call"),
    ],
    [
      "second outputs",
      PAIRS,
      (items) => items.flatMap((item) => (item["type"] === "function_call_output" ? [item, item] : [item])),
    ],
    ["copies of everything", ["R04", "R07"], (items) => [...items, ...items]],
    [
      "ids of another form",
      IDS,
      (items) =>
        mapped(items, (item) => (item["type"] === "function_call" ? { ...item, id: item["call_id"] } : item)),
    ],
    [
      "long call ids",
      IDS,
      (items) =>
        mapped(items, (item) =>
          "call_id" in item ? { ...item, call_id: `${String(item["call_id"])}${"x".repeat(70)}` } : item,
        ),
    ],
    [
      "fields that are missing or not accepted",
      SCHEMA,
      (items) =>
        mapped(items, (item) =>
          item["type"] === "reasoning"
            ? { ...without(item, "summary"), status: "completed" }
            : item["type"] === "function_call_output"
              ? without(item, "output")
              : item["type"] === "function_call"
                ? { ...item, name: "functions.look" }
                : item,
        ),
    ],
  ])("%s", async (_, rules, make) => {
    const live = await liveResponses();
    await healedAtOnce(live, live.body(make(live.history)), { rules });
  });
});

test("a thought that a message separates from its calls leaves no ids behind that refer to it", async () => {
  const live = await liveResponses();
  const [first, ...rest] = live.history;
  const items = await healedAtOnce(live, live.body([first, rest[0], user("wait"), ...rest.slice(1)]), {
    rules: REASONING,
  });
  expect(items.slice(0, 4)).toEqual([first, user("wait"), without(rest[1], "id"), without(rest[2], "id")]);
  expect(items.slice(4)).toEqual(rest.slice(3));
});

test("a thought behind its call is left out, and the call loses its id", async () => {
  const live = await liveResponses();
  const { history } = live;
  const items = await healedAtOnce(
    live,
    live.body([history[0], history[2], history[3], history[1], ...history.slice(4)]),
    { rules: REASONING },
  );
  expect(kinds(items)).toEqual(kinds(history).toSpliced(1, 1));
});

test("of two copies of a thought the one without its follower is left out", async () => {
  const live = await liveResponses();
  const { history } = live;
  const items = await healedAtOnce(
    live,
    live.body([history[0], history[1], user("x"), ...history.slice(1)]),
    {
      rules: [...REASONING, ...IDS],
    },
  );
  expect(items).toEqual([history[0], user("x"), ...history.slice(1)]);
});

test("an item that only shares its id with another keeps its content", () => {
  const text = JSON.stringify({
    store: false,
    input: [user("a"), saying("A"), user("b"), saying("B"), user("c")],
  });
  const { text: after } = repairHistory(text, { scope: "history", rules: ["R04"] });
  expect(JSON.parse(after)).toEqual({
    store: false,
    input: [user("a"), saying("A"), user("b"), without(saying("B"), "id"), user("c")],
  });
});

test("an id that cannot be sent costs no reasoning", async () => {
  const live = await liveResponses();
  const { history } = live;
  const items = await healedAtOnce(
    live,
    live.body(mapped(history, (item, at) => (at === 2 ? { ...item, id: item["call_id"] } : item))),
    { rules: IDS },
  );
  expect(items).toEqual(mapped(history, (item, at) => (at === 2 ? without(item, "id") : item)));
});

describe("a real output is moved to its call", () => {
  test("from before the call", async () => {
    const live = await liveResponses();
    const { history } = live;
    const items = await healedAtOnce(
      live,
      live.body([history[0], history[9], ...history.slice(1, 9), ...history.slice(10)]),
      {
        rules: PAIRS,
      },
    );
    expect(items).toEqual(history);
  });

  const said = { role: "assistant", content: "Well." };

  test("from behind a message of the user, although an answer is in between", () => {
    expect(repaired([user("a"), call("1"), said, user("b"), output("1")], PAIRS)).toEqual([
      user("a"),
      call("1"),
      output("1"),
      said,
      user("b"),
    ]);
  });

  test("and never to an earlier call with the same id", () => {
    const items = repaired([user("a"), call("1"), user("b"), call("1"), output("1")], PAIRS);
    expect(items).toEqual([
      user("a"),
      call("1"),
      { ...output("1"), output: expect.stringContaining("outcome unknown") as unknown },
      user("b"),
      call("1"),
      output("1"),
    ]);
  });

  test("an empty call id is matched within its batch, not across a lost output", () => {
    const items = repaired(
      [user("a"), call(""), call(""), output("", "one"), user("b"), call(""), output("", "three")],
      [...PAIRS, "R09"],
    );
    const outputs = items.filter(({ type }) => type === "function_call_output");
    expect(outputs.map((item) => item["output"])).toEqual([
      "one",
      expect.stringContaining("outcome unknown"),
      "three",
    ]);
    expect(items.at(-1)?.["call_id"]).toBe(items.at(-2)?.["call_id"]);
  });

  test("the id of an output stays if its call is sent by reference", () => {
    const input = [user("a"), { type: "item_reference", id: "fc_1" }, output("c".repeat(70))];
    expect(repaired(input, ["R09"], { store: true })).toEqual(input);
  });

  test("a shell call without its output field gets a list", () => {
    const shell = { type: "shell_call", call_id: "1", action: { commands: ["ls"] } };
    const items = repaired([user("a"), shell, { type: "shell_call_output", call_id: "1" }], SCHEMA);
    expect(items.at(-1)).toEqual({ type: "shell_call_output", call_id: "1", output: [] });
  });

  test("a local shell call that is answered by its id is left alone", () => {
    const shell = { type: "local_shell_call", id: "lsh_1", call_id: "1", action: {}, status: "completed" };
    const input = [user("a"), shell, { type: "local_shell_call_output", id: "lsh_1", output: "x" }];
    expect(repaired(input, [...PAIRS, "R09"])).toEqual(input);
  });

  test("an output without its call costs no thought that a message follows", () => {
    const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" };
    const input = [user("a"), thought, { ...said, type: "message", id: "msg_1" }, output("1"), user("b")];
    expect(repaired(input, PAIRS)).toEqual(input.toSpliced(3, 1));
  });

  test("a compaction stays where a thought is left out", () => {
    const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "gAAA" };
    const bare = { type: "reasoning", id: "rs_1", summary: [] };
    const input = [compaction, bare, call("1", { id: "fc_1" }), output("1"), user("b")];
    expect(repaired(input, REASONING)).toEqual([compaction, call("1"), output("1"), user("b")]);
  });

  test("a screenshot goes with its computer call", () => {
    const screen = { type: "computer_call", id: "cu_1", call_id: "9", action: {}, status: "completed" };
    const shot = { type: "computer_call_output", call_id: "9", output: {} };
    const bare = { type: "reasoning", id: "rs_1", summary: [] };
    expect(repaired([user("a"), bare, screen, shot, user("b")], REASONING)).toEqual([user("a"), user("b")]);
  });

  test("a stored message needs its id, so without it its thought goes too (P06)", () => {
    const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" };
    const message = { ...said, type: "message", id: "x" };
    const input = [user("a"), thought, message, user("b")];
    expect(repaired(input, IDS, { store: true })).toEqual([user("a"), without(message, "id"), user("b")]);
    expect(repaired(input, IDS)).toEqual([user("a"), thought, without(message, "id"), user("b")]);
  });

  test("a screenshot ends a response: a computer call before it stays", () => {
    const screen = { type: "computer_call", id: "cu_1", call_id: "9", action: {}, status: "completed" };
    const shot = { type: "computer_call_output", call_id: "9", output: {} };
    const bare = { type: "reasoning", id: "rs_1", summary: [] };
    const input = [user("a"), screen, shot, bare, call("1"), output("1"), user("b")];
    expect(repaired(input, REASONING)).toEqual(input.toSpliced(3, 1));
  });
});

describe("the error of the API", () => {
  test("about reasoning that a client left out mends every response that lacks it", async () => {
    const live = await liveResponses();
    const items = await healedAtOnce(
      live,
      live.body(live.history.filter(({ type }) => type !== "reasoning")),
      { byError: true, rules: [] },
    );
    expect(items.filter((item) => "id" in item)).toEqual([]);
  });

  test("about one such response leaves the thoughts around it", async () => {
    const live = await liveResponses();
    const { history } = live;
    const named = { ...history[9], id: "fco_1" };
    const items = await healedAtOnce(live, live.body([...history.slice(0, 9), named, ...history.slice(11)]), {
      byError: true,
      rules: [],
    });
    expect(items).toEqual([...history.slice(0, 9), named, without(history[11], "id"), history[12]]);
  });

  test("about an item that the server does not have mends all that it would have to know", async () => {
    const emulator = await emulatorFor();
    const input = [
      user("a"),
      bareThought(1),
      saying("1", "msg_1"),
      user("b"),
      bareThought(2),
      saying("2", "msg_2"),
      user("c"),
      saying("3", "msg_3"),
      user("d"),
    ];
    const text = JSON.stringify({ model: "emu-reasoner", input });
    const reply = await post(emulator, text);
    expect(reply.status).toBe(404);
    const { text: after } = repairHistory(text, { scope: "history", rules: [], error: reply.text });
    expect((await post(emulator, after)).status).toBe(200);
    expect(kinds((JSON.parse(after) as { input: Json[] }).input)).toEqual(
      kinds(input).filter((kind) => kind !== "reasoning"),
    );
  });

  test("about a thought that carries its payload mends all that do: the server looks them up", async () => {
    const live = await liveResponses();
    const error = `Item with id '${String(live.history[1]?.["id"])}' not found. Items are not persisted when \`store\` is set to false.`;
    const { text } = repairHistory(live.body(live.history), { scope: "history", rules: [], error });
    expect(text).not.toContain('"reasoning","id"');
    expect(text).not.toContain('encrypted_content":');
    expect(await live.refusalOf(text)).toBeUndefined();
  });

  test("that nothing is stored costs a history without a request its references", () => {
    const text = JSON.stringify([user("a"), { type: "item_reference", id: "msg_1" }, user("b")]);
    const error = "Item with id 'msg_1' not found. Items are not persisted when `store` is set to false.";
    expect(JSON.parse(repairHistory(text, { error }).text)).toEqual([user("a"), user("b")]);
    expect(repairHistory(text, { error, scope: "history" }).text).toBe(text);
  });

  test.each([
    "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    "Previous response cannot be used for this organization due to Zero Data Retention.",
    "Rate limit reached for reasoning models.",
  ])("about something else changes nothing: %s", async (error) => {
    const live = await liveResponses();
    const text = live.body(live.history);
    expect(repairHistory(text, { error })).toMatchObject({ text, changes: [] });
  });

  test("that a model does not reason costs all thoughts, but no compaction", async () => {
    const live = await liveResponses();
    const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "gAAA" };
    const error = "Reasoning input items can only be provided to a reasoning or computer use model.";
    const { text } = repairHistory(live.body([compaction, ...live.history]), {
      scope: "history",
      rules: [],
      error,
    });
    const { input } = JSON.parse(text) as { readonly input: readonly Json[] };
    expect(kinds(input)).toEqual([
      "compaction",
      ...kinds(live.history).filter((kind) => kind !== "reasoning"),
    ]);
  });

  test("names one reference of many: all stay, and so does the output behind them", () => {
    for (const store of [undefined, false]) {
      const text = JSON.stringify({
        model: "gpt-5",
        store,
        input: [user("a"), reference("rs_1"), reference("fc_1"), output("call_1")],
      });
      const error =
        "Item with id 'fc_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";
      expect(repairHistory(text, { scope: "history", error })).toMatchObject({ text, changes: [] });
      if (store === undefined) expect(repairHistory(text, { error })).toMatchObject({ text, changes: [] });
    }
  });
});
