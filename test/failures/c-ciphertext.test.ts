/** Group C: whether encrypted content is valid. healing.test.ts covers healing in detail. */

import { expect, test } from "vitest";

import { startEmulator } from "../../src/emulator/index.ts";
import { openai } from "../../src/index.ts";
import {
  appendToLog,
  bench,
  bodies,
  calls,
  closeLater,
  echoTool,
  expectNoneRefused,
  expectSound,
  issued,
  type Json,
  KEY,
  lastInput,
  ofType,
  outline,
  says,
  thought,
} from "./harness.ts";

const HOME = [
  "user",
  "reasoning+",
  "function_call+",
  "function_call_output",
  "reasoning+",
  "assistant+",
  "user",
];
const ABROAD = ["user", "function_call", "function_call_output", "assistant", "user"];

const looked = (): Parameters<typeof bench>[0] => ({
  steps: [{ output: [thought(), calls("a")] }, { output: [thought(), says("Done.")] }],
  tools: [echoTool()],
});

test("E01 when the server's key has changed, the session continues without the old thoughts", async () => {
  const b = await bench(looked());
  await b.ask("Look.");
  b.emulator.rotateKey();
  await b.ask("Still there?");
  expect(outline(lastInput(b.emulator))).toEqual(ABROAD);
  await b.ask("And now?");
  // New thoughts are replayed again; the old ones cost no second refusal.
  expect(outline(lastInput(b.emulator))).toEqual([...ABROAD, "reasoning+", "assistant+", "user"]);
  expect(b.emulator.report().requests.flatMap((one) => one.rule ?? [])).toEqual(["E01"]);
});

test("E02 a payload left by another vendor or a bug is refused once and then always omitted", async () => {
  const b = await bench({ steps: [{ output: [thought(), says("Hello.")] }] });
  await b.ask("Hi.");
  await spoil(b, (item) => ({ ...item, encrypted_content: "Work it out." }));
  await b.ask("Again.");
  await b.ask("And again.");
  expect(b.emulator.report().requests.flatMap((one) => one.rule ?? [])).toEqual(["E02"]);
  expect(outline(lastInput(b.emulator)).slice(0, 3)).toEqual(["user", "assistant", "user"]);
  expect(ofType(await b.log(), "replay_override")).toMatchObject([
    { what: { kind: "group" }, action: "omit_reasoning", cause: { code: "invalid_encrypted_content" } },
  ]);
});

/** Rewrites the log with the first thought changed, as a defect or a manual edit could have left it. */
async function spoil(b: Awaited<ReturnType<typeof bench>>, change: (item: Json) => Json): Promise<void> {
  const events = await b.log();
  await b.session.close();
  await b.store.remove("bench");
  let done = false;
  await appendToLog(b, () =>
    events.map(({ v: _v, seq: _seq, epoch: _epoch, ...draft }) => {
      if (draft.type !== "reasoning" || done) return draft;
      done = true;
      return { ...draft, item: JSON.stringify(change(JSON.parse(draft.item) as Json)) };
    }),
  );
  await b.reopen();
}

const pairs = (items: readonly Json[]): readonly unknown[] =>
  items.flatMap((item) => (item["type"] === "reasoning" ? [[item["id"], item["encrypted_content"]]] : []));

test("E03 id and payload go back as the pair they arrived as", async () => {
  const b = await bench(looked());
  await b.ask("Look.");
  await b.ask("Thanks.");
  expect(pairs(lastInput(b.emulator))).toEqual(pairs(issued(b.emulator)).slice(0, 2));
  expectSound(b.emulator);
});

test("E04 another key is another account: nothing opaque crosses, and everything does on the way back", async () => {
  const b = await bench(looked());
  await b.ask("Look.");
  await b.session.setModel(b.model("emu-reasoner", { apiKey: "sk-somebody-else" }));
  await b.ask("Who am I?");
  expect(outline(lastInput(b.emulator))).toEqual(ABROAD);
  await b.session.setModel(b.model());
  await b.ask("Back again.");
  expect(outline(lastInput(b.emulator))).toEqual([...HOME, "assistant", "user"]);
  expectNoneRefused(b.emulator);
  expect(b.emulator.report().totals.recall).toBe(1);
});

test("E05 another model gets the text and not the payloads", async () => {
  const b = await bench(looked());
  await b.ask("Look.");
  await b.session.setModel(b.model("emu-reasoner-mini"));
  await b.ask("And you?");
  expect(outline(lastInput(b.emulator))).toEqual(ABROAD);
  expectNoneRefused(b.emulator);
  expect(await b.session.previewSwitch(b.model())).toMatchObject({ kept: 2, dropped: 1 });
});

test("E06 another endpoint is another origin, whatever the model's name there", async () => {
  const b = await bench(looked());
  await b.ask("Look.");
  const elsewhere = closeLater(await startEmulator({ secret: "another region" }));
  await b.session.setModel(openai("emu-reasoner", { apiKey: KEY, baseUrl: elsewhere.baseUrl }));
  await b.ask("Moved?");
  expect(outline(lastInput(elsewhere))).toEqual(ABROAD);
  expectNoneRefused(elsewhere);
});

const payload = (item: unknown): unknown => (item as Json | undefined)?.["encrypted_content"];

test("E07 the shorter payload of `added` is never kept: without its `done` the thought is lost", async () => {
  const b = await bench({
    steps: [{ output: [thought(), says("never heard")], faults: ["cut=after-event:4"] }],
    agent: { limits: { maxRetries: 0 } },
  });
  expect((await b.say("Think.")).status).toBe("failed");
  const [first] = b.emulator.exchanges;
  const added = first?.events.find((event) => event["type"] === "response.output_item.added");
  const partial = payload(added?.["item"]);
  expect(partial).toEqual(expect.any(String));
  await b.ask("Again.");
  expect(JSON.stringify(await b.log())).not.toContain(partial);
  expect(outline(lastInput(b.emulator))).toEqual(["user", "user"]);
  expectSound(b.emulator);
});

test("E08 of the three ciphertexts of one item, the one of `done` goes back", async () => {
  const b = await bench({ steps: [{ output: [thought(), says("Hello.")] }] });
  await b.ask("Hi.");
  await b.ask("Again.");
  const events = b.emulator.exchanges[0]?.events ?? [];
  const [added, done, terminal] = [
    payload(events.find((event) => event["type"] === "response.output_item.added")?.["item"]),
    payload(events.find((event) => event["type"] === "response.output_item.done")?.["item"]),
    payload((events.at(-1) as { response?: { output: readonly Json[] } }).response?.output[0]),
  ];
  expect(new Set([added, done, terminal]).size).toBe(3);
  expect(payload(lastInput(b.emulator)[1])).toBe(done);
  expectSound(b.emulator);
});

test("E08 an item whose `done` was lost is taken from the terminal event", async () => {
  // created, in_progress, added, done (the thought has no summary): the fourth event is dropped.
  const b = await bench({
    steps: [{ output: [{ reasoning: [] }, says("Hello.")], faults: ["drop-event=3"] }],
  });
  await b.ask("Hi.");
  await b.ask("Again.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "reasoning+", "assistant+", "user"]);
  expectSound(b.emulator);
});

test("E08 a payload that only the terminal event carries is merged into the finished item", async () => {
  const b = await bench({ ...looked(), faults: ["late-ciphertext", "late-ciphertext"] });
  await b.ask("Look.");
  await b.ask("Thanks.");
  expect(outline(lastInput(b.emulator))).toEqual(HOME);
  expect(ofType(await b.log(), "response_end")[0]?.late).toMatchObject([{ outputIndex: 0 }]);
  expectSound(b.emulator);
});

test("E09 a thought of several parts is one item with one payload", async () => {
  const parts = ["**One**\n\na", "**Two**\n\nb", "**Three**\n\nc"];
  const b = await bench({ steps: [{ output: [{ reasoning: parts }, says("Hello.")] }] });
  await b.ask("Hi.");
  await b.ask("Again.");
  const input = lastInput(b.emulator);
  expect(outline(input)).toEqual(["user", "reasoning+", "assistant+", "user"]);
  expect(input[1]?.["summary"]).toEqual(parts.map((text) => ({ type: "summary_text", text })));
  expectSound(b.emulator);
});

test("E10 every field that goes back has its exact original text", async () => {
  const b = await bench(looked());
  await b.ask("Look.");
  await b.ask("Thanks.");
  const sent = b.emulator.exchanges.at(-1)?.requestText ?? "";
  for (const item of issued(b.emulator).slice(0, 4)) {
    for (const [key, value] of Object.entries(item)) {
      if (item["type"] === "reasoning" && key === "status") continue;
      expect(sent).toContain(`"${key}":${JSON.stringify(value)}`);
    }
  }
  expectSound(b.emulator);
});

test("E11 a model that does not know encrypted content is not asked for it a second time", async () => {
  // A model whose name does not reveal it; a known one is not asked even once.
  const b = await bench({
    model: "some-plain",
    emulator: { models: { "some-plain": { reasoning: false, encryptedContent: false, sampling: true } } },
    openai: { summary: "none" },
  });
  await b.ask("Hello.");
  await b.ask("Hello again.");
  expect(bodies(b.emulator).map((body) => "include" in body)).toEqual([true, false, false]);
  expect(b.emulator.report().requests.flatMap((one) => one.rule ?? [])).toEqual(["E11"]);
});

test("E12 a refusal inside the stream is healed like one in the head", async () => {
  const b = await bench({ ...looked(), faults: ["none", "none", "invalid-encrypted-content"] });
  await b.ask("Look.");
  await b.ask("Thanks.");
  // The error named the first thought, and only its group goes without.
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "function_call",
    "function_call_output",
    "reasoning+",
    "assistant+",
    "user",
  ]);
  expect(ofType(await b.log(), "replay_override")).toMatchObject([
    { action: "omit_reasoning", cause: { class: "CRYPT", code: "invalid_encrypted_content" } },
  ]);
});

test("E13 a refused payload is not an outage: no waiting, no retry event, one more request", async () => {
  const b = await bench(looked());
  await b.ask("Look.");
  b.emulator.rotateKey();
  const turn = b.session.send("Again.");
  const kinds: string[] = [];
  for await (const event of turn) kinds.push(event.type);
  expect((await turn.result()).status).toBe("completed");
  expect(kinds).not.toContain("retry");
  expect(b.clock.slept).toEqual([]);
  expect(bodies(b.emulator)).toHaveLength(4);
});
