/** A log that a crash left unfinished, or that has no intact line: every command reports the same. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { fileStore } from "../../src/runtime/log/index.ts";
import { expectProblem, newPlace, onlyLog, type Place, run } from "./harness.ts";

async function withSession(): Promise<{
  readonly place: Place;
  readonly id: string;
  readonly bytes: Buffer;
}> {
  const place = newPlace();
  expect((await run(place, ["-p", "hello", "-m", "emulator/emu-reasoner"])).code).toBe(0);
  const { id, file } = await onlyLog(place);
  return { place, id, bytes: readFileSync(file) };
}

function put(place: Place, id: string, bytes: Uint8Array): string {
  mkdirSync(place.sessions, { recursive: true, mode: 0o700 });
  const file = join(place.sessions, `${id}.jsonl`);
  writeFileSync(file, bytes, { mode: 0o600 });
  return file;
}

const EMPTY = "the log is empty:";

test.concurrent.for([
  ["without a byte", Buffer.alloc(0), `${EMPTY} the session has no messages yet`],
  [
    "of zeros",
    Buffer.alloc(5000),
    `${EMPTY} the process ended before it had written its first event (5000 bytes of it are there)`,
  ],
] as const)(
  "a log %s is an empty session to list, show, check, repair and doctor, and none finds a problem",
  async ([, bytes, story]) => {
    const place = newPlace();
    const file = put(place, "s_none", bytes);
    for (const args of [
      ["sessions", "show", "s_none"],
      ["check", "s_none"],
      ["check", file],
      ["repair", "s_none", "--dry-run"],
      ["repair", file],
      ["doctor", "--offline"],
    ]) {
      const ran = await run(place, args);
      expect([args, ran.code, ran.err]).toEqual([args, 0, ""]);
      expect(ran.out).toContain(story);
    }
    const [row] = JSON.parse((await run(place, ["sessions", "list", "--json"])).out) as { problem: string }[];
    if (bytes.length === 0) expect(row).not.toHaveProperty("problem");
    else expect(row?.problem).toContain(story);
    expectProblem(await run(place, ["sessions", "export", "s_none"]), 2, "session_empty");
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(await run(place, ["-p", "hi", "-r", "s_none", "-m", "emulator/emu-reasoner"])).toMatchObject({
      code: 0,
    });
  },
);

test.concurrent("an unfinished end gives the same note, with the same position, in check, repair and doctor", async () => {
  const { place, id, bytes } = await withSession();
  const whole = bytes.lastIndexOf("\n", -2) + 1;
  put(place, id, bytes.subarray(0, -30));
  const line = bytes.subarray(0, whole).toString("latin1").split("\n").length;
  const story = `line ${line}, byte ${whole}: ${bytes.length - 30 - whole} bytes of an unfinished write`;
  for (const args of [
    ["check", id],
    ["repair", id, "--dry-run"],
    ["repair", id],
    ["doctor", "--offline"],
  ]) {
    const ran = await run(place, args);
    expect([args, ran.code]).toEqual([args, 0]);
    expect(ran.out).toContain(story);
  }
  const copy = join(place.work, "copy.jsonl");
  expect((await run(place, ["repair", id, "-o", copy])).code).toBe(0);
  expect(readFileSync(copy).subarray(0, whole).equals(bytes.subarray(0, whole))).toBe(true);
  expect((await run(place, ["check", copy])).code).toBe(0);
});

test.concurrent("a log that ends before its settings has no next request, which is not a problem", async () => {
  const { place, id, bytes } = await withSession();
  put(place, id, Buffer.from(bytes.toString("utf8").split("\n").slice(0, 2).join("\n").concat("\n")));
  expect(await run(place, ["check", id])).toMatchObject({
    code: 0,
    out: `${id}: 2 events, 0 requests: no problems\n`,
  });
});

test.concurrent("no command suggests repair for a log from which nothing can be salvaged", async () => {
  const place = newPlace();
  place.damaged = true;
  const file = put(place, "s_bad", Buffer.from("garbage\nmore\n"));
  for (const args of [
    ["check", "s_bad"],
    ["check", file],
    ["sessions", "show", "s_bad"],
  ]) {
    const ran = await run(place, args);
    expectProblem(ran, 2, "log_damaged");
    expect(ran.err).toContain("damaged at line 1, byte 0");
    expect(ran.err).toContain("nothing can be saved: restore the file from a copy, or remove it");
    expect(ran.err).not.toContain("throughline repair");
  }
  const doctor = await run(place, ["doctor", "--offline"]);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toContain("session s_bad is damaged at line 1, byte 0: too short to be an event\n");
  expect(doctor.out).toContain("or remove it with throughline sessions rm s_bad --yes");
  expect(doctor.out).not.toContain("throughline repair");
  expectProblem(await run(place, ["repair", "s_bad"]), 2, "log_unsalvageable");
});

test.concurrent("a log can be imported like an export, with the blobs next to it, and a note says what it cannot show", async () => {
  const from = newPlace();
  const log = await fileStore(from.sessions).open("s_far", { mode: "write" });
  const here = await log.putBlob(Buffer.from("here"));
  const gone = "0".repeat(64);
  const at = "2026-01-02T03:04:05.678Z";
  await log.append([
    { type: "session_start", session: "s_far", root: "s_far", writer: "test" },
    {
      type: "user_message",
      turn: "tn_1",
      by: "person",
      at,
      content: [here, gone].map((blob) => ({ type: "file", name: "a", mediaType: "text/plain", blob })),
    },
  ]);
  await log.close();
  const place = newPlace();
  const file = join(from.sessions, "s_far.jsonl");
  const ran = await run(place, ["sessions", "import", file]);
  expect(ran).toMatchObject({ code: 0, out: "s_far\n" });
  expect(ran.err).toBe(
    `imported 2 events and 1 blob\nnote: this is a log, not an exported file, so lines missing at its end go unnoticed; its last event is from ${at}\nnote: 1 blob was missing from the ….blobs folder next to it; requests will say that it is gone\n`,
  );
  expect(readFileSync(join(place.sessions, "s_far.jsonl")).equals(readFileSync(file))).toBe(true);
  expect(readFileSync(join(place.sessions, "s_far.blobs", here), "utf8")).toBe("here");
  expectProblem(await run(place, ["sessions", "import", file]), 2, "session_exists");
});

test.concurrent("an export is checked as an export, and a damaged one can be salvaged and imported as its own hint says", async () => {
  const { place, id } = await withSession();
  const out = join(place.work, "out.jsonl");
  expect((await run(place, ["sessions", "export", id, "-o", out])).code).toBe(0);
  for (const command of ["check", "repair"])
    expect(await run(place, [command, out])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/: no problems\n$/) as string,
    });
  const bytes = readFileSync(out);
  const damaged = Buffer.from(bytes);
  const middle = Math.floor(bytes.length / 2);
  damaged[middle] = (damaged[middle] ?? 0) ^ 1;
  for (const [name, content] of [
    ["end.jsonl", bytes.subarray(0, -20)],
    ["tail.jsonl", bytes.subarray(0, -200)],
    ["middle.jsonl", damaged],
  ] as const) {
    const file = place.write(name, "");
    writeFileSync(file, content);
    const refused = await run(place, ["sessions", "import", name, "--id", `s_${name.slice(0, -6)}`]);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/line \d+, byte \d+: .*\. Nothing was written\. /);
    expect(refused.err).toContain(`throughline repair ${name} -o NEW.jsonl and import that`);
    const saved = `saved-${name}`;
    expect((await run(place, ["repair", name, "-o", saved])).code).toBe(0);
    expect(await run(place, ["sessions", "import", saved, "--id", `s_${name.slice(0, -6)}`])).toMatchObject({
      code: 0,
    });
  }
});
