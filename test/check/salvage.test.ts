/** Damaged logs: the intact part is saved, the copy can continue, the original is not touched. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { expect, test } from "vitest";

import { frameOpen, LF, splitLines } from "../../src/base/files/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { createAgent, fileStore, openai } from "../../src/index.ts";
import { salvageLog, writeSession } from "../../src/runtime/log/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { scripted } from "../emulator/emulator-client.ts";
import { calls, echoTool, impatientClock, KEY, says, thought } from "../failures/harness.ts";
import { runs, timeoutFor } from "../support/runs.ts";

const STEPS = [
  { output: [thought(), calls("a"), calls("b")] },
  { output: [thought(), says("Half way."), calls("c")] },
  { output: [thought(), says("Done.")] },
];

/** A session of two turns with tools, as its file holds it. */
async function story(): Promise<{ readonly emulator: Emulator; readonly bytes: Buffer }> {
  const emulator = await scripted(JSON.stringify({ steps: STEPS, afterwards: "repeat" }));
  const folder = temporaryFolder();
  const session = await agentOn(emulator).open({ id: "story", store: fileStore(folder) });
  await session.send("Look.").result();
  await session.send("Again.").result();
  await session.close();
  return { emulator, bytes: readFileSync(join(folder, "story.jsonl")) };
}

function agentOn(emulator: Emulator): ReturnType<typeof createAgent> {
  return createAgent({
    model: openai("emu-reasoner", { baseUrl: emulator.baseUrl, apiKey: KEY }),
    tools: [echoTool()],
    permissions: "auto",
    clock: impatientClock(),
  });
}

/** Opens the copy; the next turn is answered without a refusal. */
async function goesOn(emulator: Emulator, lines: Uint8Array): Promise<void> {
  const folder = temporaryFolder();
  await writeSession(folder, { lines: Buffer.from(lines), blobs: new Map() }, { id: "copy" });
  const session = await agentOn(emulator).open({ id: "copy", store: fileStore(folder) });
  const before = emulator.report().requests.length;
  const { status, error } = await session.send("And now?").result();
  await session.close();
  expect([status, error]).toEqual(["completed", undefined]);
  const verdicts = emulator
    .report()
    .requests.slice(before)
    .map(({ verdict }) => verdict);
  expect([verdicts.length > 0, verdicts.filter((verdict) => verdict === "refused")]).toEqual([true, []]);
}

test("the reason for a lost line with a right checksum names the wrong field", async () => {
  const { bytes } = await story();
  const [first = Buffer.alloc(0)] = [...splitLines(bytes)].map(({ line }) => line);
  const envelope = '"v":1,"seq":1,"id":"ev_1","at":"2026-01-01T00:00:00.000Z","epoch":1';
  const broken = frameOpen(`{${envelope},"type":"title","title":7`);
  const { lost } = salvageLog(Buffer.concat([first, LF, broken]), { session: "story" });
  expect(JSON.stringify(lost)).toContain("title: title is not a string");
});

const linesIn = (bytes: Uint8Array): readonly string[] =>
  Buffer.from(bytes).toString("utf8").split("\n").slice(0, -1);

test("an intact log is its own copy, byte for byte", async () => {
  const { bytes } = await story();
  expect(salvageLog(bytes, { session: "story" })).toMatchObject({ lines: bytes, lost: [], loosened: [] });
});

test("if any one line is damaged, all others are saved unchanged, and the session can continue", async () => {
  const { emulator, bytes } = await story();
  const all = linesIn(bytes);
  let start = 0;
  for (const [index, line] of all.entries()) {
    const damaged = Buffer.from(bytes);
    const at = start + Math.floor(Buffer.byteLength(line) / 2);
    damaged[at] = (damaged[at] ?? 0) ^ 0x04;
    start += Buffer.byteLength(line) + 1;
    const { lines, lost, events } = salvageLog(damaged, { session: "story" });
    expect(lost).toMatchObject([{ line: index + 1, seqs: index === all.length - 1 ? [] : [index] }]);
    const copy = linesIn(lines);
    expect(copy.filter((one) => all.includes(one))).toHaveLength(all.length - 1);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, seq) => seq));
    await goesOn(emulator, lines);
  }
});

test("a lost line break costs nothing: both lines are found", async () => {
  const { bytes } = await story();
  const damaged = Buffer.from(bytes);
  const end = damaged.indexOf(0x0a);
  damaged[end] = 0x20;
  const { lost, lines } = salvageLog(damaged, { session: "story" });
  expect(lost).toMatchObject([{ line: 1, seqs: [] }]);
  expect(linesIn(lines).slice(0, linesIn(bytes).length)).toEqual(linesIn(bytes));
});

test("lines of another session that got into the file are omitted", async () => {
  const { bytes } = await story();
  const all = linesIn(bytes);
  const mixed = [...all.slice(0, 6), ...all.slice(1, 3), ...all.slice(6)].map((line) => `${line}\n`).join("");
  const { lost, lines } = salvageLog(Buffer.from(mixed), { session: "story" });
  expect(lost).toMatchObject([{ line: 7, seqs: [] }]);
  expect(linesIn(lines).slice(0, all.length)).toEqual(all);
});

test(
  "whatever happens to the middle or the end of the file, the copy can continue",
  async () => {
    const { emulator, bytes } = await story();
    const wound = fc.record({
      kind: fc.constantFrom("flip", "zero", "cut", "remove"),
      at: fc.nat(bytes.length - 1),
      length: fc.integer({ min: 1, max: 4000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(wound, { minLength: 1, maxLength: 3 }), async (wounds) => {
        let damaged = Buffer.from(bytes);
        for (const { kind, at, length } of wounds) {
          const from = at % Math.max(damaged.length, 1);
          if (kind === "flip") damaged[from] = (damaged[from] ?? 0) ^ 0x10;
          else if (kind === "zero") damaged.fill(0, from, Math.min(from + length, damaged.length));
          else if (kind === "cut") damaged = damaged.subarray(0, Math.max(from, 2000));
          else damaged = Buffer.concat([damaged.subarray(0, from), damaged.subarray(from + length)]);
        }
        // If not one line is left, there is nothing to save, and the error says so.
        if (!linesIn(bytes).some((line) => damaged.includes(line))) {
          expect(() => salvageLog(damaged, { session: "story" })).toThrow(
            expect.objectContaining({ code: "log_unsalvageable" }),
          );
          return;
        }
        const before = Buffer.from(damaged);
        const { lines } = salvageLog(damaged, { session: "story" });
        expect(damaged.equals(before)).toBe(true);
        const again = salvageLog(Buffer.from(lines), { session: "story" });
        expect(again.lost).toEqual([]);
        await goesOn(emulator, lines);
      }),
      runs(25),
    );
  },
  timeoutFor(25),
);

test("a file without one intact line is an error with a code", () => {
  expect(() => salvageLog(Buffer.from("nothing\n"), { session: "x" })).toThrow(
    expect.objectContaining({ code: "log_unsalvageable" }),
  );
});
