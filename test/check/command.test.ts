/** `throughline check` and `throughline repair` as a user runs them. */

import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { emulatorOf, newPlace, onlyLog, run } from "../cli/harness.ts";

const BROKEN = JSON.stringify([
  { role: "user", content: "Hi." },
  { type: "reasoning", id: "rs_1", summary: [] },
  { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "{}" },
]);
const SOUND = JSON.stringify([
  { role: "user", content: "Hi." },
  { type: "message", role: "assistant", content: "Hello." },
]);

test("check says what a file is and what is wrong, and exits with 5", async () => {
  const place = newPlace();
  place.write("broken.json", BROKEN);
  place.write("sound.json", SOUND);
  const found = await run(place, ["check", "broken.json"]);
  expect(found.code).toBe(5);
  expect(found.out).toContain("input[1]: R03 ");
  expect(found.out).toContain("input[2]: R06 ");
  expect(found.out).toContain("broken.json: responses, 3 items: 2 problems\n");
  expect(await run(place, ["check", "sound.json"])).toMatchObject({
    code: 0,
    out: "sound.json: responses, 2 items: no problems\n",
  });
  const json = await run(place, ["check", "broken.json", "--json"]);
  expect(JSON.parse(json.out)).toMatchObject({
    format: "responses",
    findings: [{ rule: "R03" }, { rule: "R06" }],
  });
});

test("repair writes a copy that check finds sound, once, and never overwrites a file", async () => {
  const place = newPlace();
  place.write("broken.json", BROKEN);
  const dry = await run(place, ["repair", "broken.json", "--dry-run"]);
  expect([dry.code, readdirSync(place.work)]).toEqual([5, ["broken.json"]]);
  const first = await run(place, ["repair", "broken.json"]);
  expect([first.code, first.out]).toEqual([0, expect.stringContaining("written to broken.repaired.json")]);
  expect(place.read("broken.json")).toBe(BROKEN);
  expect(await run(place, ["check", "broken.repaired.json"])).toMatchObject({ code: 0 });
  expect(await run(place, ["repair", "broken.repaired.json"])).toMatchObject({
    code: 0,
    out: "broken.repaired.json: responses: no problems\n",
  });
  const again = await run(place, ["repair", "broken.json"]);
  expect([again.code, again.err]).toEqual([2, expect.stringContaining("already exists")]);
  const piped = await run(place, ["repair", "broken.json", "-o", "-"]);
  expect(piped.out).toBe(place.read("broken.repaired.json"));
  expect(readdirSync(place.work).toSorted()).toEqual(["broken.json", "broken.repaired.json"]);
});

test("a request that relies on server state is left alone, and a note says what was not checked", async () => {
  const place = newPlace();
  const output = { type: "function_call_output", call_id: "call_1", output: "sunny" };
  place.write("chain.json", JSON.stringify({ model: "m", previous_response_id: "resp_1", input: [output] }));
  const note =
    "note: the earlier conversation is on the server (previous_response_id); not checked: whether every call in it has its result here (R06, R07)\n";
  expect(await run(place, ["check", "chain.json"])).toMatchObject({
    code: 0,
    out: `${note}chain.json: responses, 1 item: no problems\n`,
  });
  expect(await run(place, ["repair", "chain.json"])).toMatchObject({
    code: 0,
    out: `${note}chain.json: responses: no problems\n`,
  });
  expect(readdirSync(place.work)).toEqual(["chain.json"]);
});

test("repair accepts the API's error text", async () => {
  const place = newPlace();
  const message = {
    type: "message",
    role: "assistant",
    id: "msg_1",
    content: [{ type: "output_text", text: "x" }],
  };
  place.write("lost.json", JSON.stringify([{ role: "user", content: "Hi." }, message]));
  const error = "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.";
  expect(await run(place, ["repair", "lost.json", "--error", error])).toMatchObject({ code: 0 });
  expect(place.read("lost.repaired.json")).not.toContain("msg_1");
});

test("a damaged session is salvaged into a new one, which can continue; the original stays unchanged", async () => {
  const place = newPlace();
  place.damaged = true;
  const { env } = await emulatorOf();
  await run(place, ["-p", "hello"], { env });
  const { file, id } = await onlyLog(place);
  const bytes = readFileSync(file);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const named = await run(place, ["check", id]);
  expect([named.code === 0, named.err]).toEqual([false, expect.stringContaining(`throughline repair ${id}`)]);
  const repaired = await run(place, ["repair", id, "--json"]);
  expect(repaired.code).toBe(0);
  expect(JSON.parse(repaired.out)).toMatchObject({
    format: "throughline",
    written: join(place.sessions, `${id}-repaired.jsonl`),
    changes: [{ rule: "file" }],
  });
  expect(readFileSync(file).equals(bytes)).toBe(true);
  expect(await run(place, ["-r", `${id}-repaired`, "-p", "go on"], { env })).toMatchObject({ code: 0 });
});

test("an intact session has nothing to repair, by id and by path", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  await run(place, ["-p", "hello"], { env });
  const { file, id } = await onlyLog(place);
  for (const name of [id, file])
    expect(await run(place, ["repair", name])).toMatchObject({
      code: 0,
      out: expect.stringContaining("throughline: no problems") as string,
    });
  expect(await run(place, ["check", file])).toMatchObject({ code: 0 });
});

test.each([
  ["nothing", "", "the file is empty"],
  ["not a history", '{"a":1}', "not a history of a known format"],
  [
    "JSON that was cut off",
    '{"input":\n[{"type":"reasoning"\n',
    "it ends at line 2, column 21, in the middle of a value",
  ],
  ["broken JSON", '{"input":\n[{"type";1}]}', "it is not JSON (line 2, column 9)"],
  ["not JSON", "hello there", "it is not JSON: "],
  ["deep brackets", "[".repeat(5000) + "]".repeat(5000), "nested deeper"],
])("%s: both commands print one sentence and exit with 2", async (_, text, words) => {
  const place = newPlace();
  place.write("bad.json", text);
  for (const command of ["check", "repair"]) {
    const { code, err, out } = await run(place, [command, "bad.json"]);
    expect([code, out, err]).toEqual([2, "", expect.stringContaining(words)]);
    expect(err).not.toContain("    at ");
  }
});

test("200 MB, a folder and a missing file are reported at once", async () => {
  const place = newPlace();
  truncateSync(place.write("huge.json", ""), 200 * 1024 * 1024);
  for (const [name, words] of [
    ["huge.json", "has 209715200 bytes"],
    ["./", "not a regular file"],
    ["gone.json", "cannot read"],
    ["README.md", 'no file or session "README.md"'],
  ] as const) {
    const { code, err } = await run(place, ["check", name]);
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  }
  expect(await run(place, ["check", "gone.json", "--format", "acme"])).toMatchObject({ code: 2 });
});
