import { mkdirSync } from "node:fs";

import { describe, expect, test } from "vitest";

import type { EventDraft } from "../../src/base/events/index.ts";
import { fileStore } from "../../src/runtime/log/index.ts";
import {
  emulatorOf,
  eventsOf,
  expectProblem,
  newPlace,
  onlyLog,
  type Place,
  type Ran,
  run as runWith,
} from "./harness.ts";

// Not the model `emulator/…`, which answers at a reader's pace.
const { env } = await emulatorOf();

function run(place: Place, args: readonly string[]): Promise<Ran> {
  return runWith(place, args, { env });
}

async function two(place: Place): Promise<string> {
  expect(await run(place, ["-p", "one"])).toMatchObject({ code: 0 });
  expect(await run(place, ["-c", "-p", "two"])).toMatchObject({ code: 0 });
  return (await onlyLog(place)).id;
}

describe("tree", () => {
  test("shows branches, marks the active path and switches to another", async () => {
    const place = newPlace();
    const id = await two(place);
    const messages = eventsOf((await onlyLog(place)).events, "user_message");
    const second = messages[1]?.seq ?? -1;
    expect(await run(place, ["edit", id, String(second), "zwei"])).toMatchObject({ code: 0 });
    const shown = await run(place, ["tree", id]);
    expect(shown).toMatchObject({ code: 0, err: "" });
    const lines = shown.out.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^\* \[\d+–\d+\] one$/);
    expect(lines[1]).toMatch(/^├ {3}\[\d+–\d+\] two$/);
    expect(lines[2]).toMatch(/^└ \* \[\d+–\d+\] zwei \(edit\)$/);

    const gone = await run(place, ["tree", "--last", "--to", String(second), "--json"]);
    expect(gone.code, gone.err).toBe(0);
    expect(JSON.parse(gone.out)).toMatchObject([
      {
        text: "one",
        active: true,
        children: [
          { text: "two", active: true },
          { text: "zwei", active: false },
        ],
      },
    ]);
    expect((await onlyLog(place)).events.at(-1)).toMatchObject({ type: "branch", why: "checkout" });
  });

  test("goes back to the state before an edit on undo", async () => {
    const place = newPlace();
    const id = await two(place);
    const [first] = eventsOf((await onlyLog(place)).events, "user_message");
    expect(await run(place, ["edit", id, String(first?.seq), "uno"])).toMatchObject({ code: 0 });
    expect(await run(place, ["undo", id])).toMatchObject({ code: 0, err: "undone: uno\n" });
    const shown = await run(place, ["tree", id, "--json"]);
    expect(JSON.parse(shown.out)).toMatchObject([
      { text: "one", active: true, children: [{ text: "two", active: true }] },
      { text: "uno", active: false },
    ]);
  });

  test("refuses a target it cannot find", async () => {
    const place = newPlace();
    const id = await two(place);
    expectProblem(await run(place, ["tree", id, "--to", "x"]), 2, "number_invalid");
    expectProblem(await run(place, ["tree", id, "--to", "99999"]), 2, "seq_unknown");
    expectProblem(await run(place, ["tree", "nobody"]), 2, "session_not_found");
    expectProblem(await run(place, ["tree"]), 2, "usage");
  });
});

describe("compact", () => {
  test("prints the summary, keeps the log and lets the session continue", async () => {
    const place = newPlace();
    const id = await two(place);
    const before = (await onlyLog(place)).events;
    const ran = await run(place, ["compact", id, "--keep-turns", "0"]);
    expect(ran.code, ran.err).toBe(0);
    expect(ran.out.trim()).not.toBe("");
    const { events } = await onlyLog(place);
    expect(events.slice(0, before.length)).toEqual(before);
    const [made] = eventsOf(events, "compaction");
    expect(ran.out.trim()).toBe(made?.summary.trim());
    const twice = await run(place, ["compact", id]);
    expectProblem(twice, 2, "nothing_to_compact");
    expect(twice.err).toContain("every message is already in a summary");
    expect(await run(place, ["-r", id, "-p", "Thanks"])).toMatchObject({ code: 0 });
    const json = await run(place, ["compact", "--last", "--json", "--instructions", "briefly"]);
    expect(JSON.parse(json.out)).toMatchObject({ type: "compaction" });
  });

  test("refuses invalid values, and says when there is nothing to do", async () => {
    const place = newPlace();
    const id = await two(place);
    expectProblem(await run(place, ["compact", id, "--keep-turns", "many"]), 2, "number_invalid");
    expectProblem(await run(place, ["compact", id, "--keep-turns", "9"]), 2, "nothing_to_compact");
  });
});

test("the tree of a session of many thousand turns is printed, as text and as JSON", async () => {
  const place = newPlace();
  mkdirSync(place.sessions, { recursive: true, mode: 0o700 });
  const TURNS = 12_000;
  const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0 };
  const turns = Array.from({ length: TURNS }, (_, index): readonly EventDraft[] => {
    const turn = `tn_${index}`;
    return [
      { type: "user_message", turn, by: "person", content: [{ type: "text", text: "hello" }] },
      { type: "turn_end", turn, status: "completed", steps: 1, usage, durationMs: 1 },
    ];
  });
  const start = { type: "session_start", session: "long", root: "long", writer: "test" } as const;
  await fileStore(place.sessions).create("long", { events: [start, ...turns.flat()], blobs: new Map() });
  const text = await run(place, ["tree", "long"]);
  expect([text.code, text.out.split("\n").length]).toEqual([0, TURNS + 1]);
  const json = await run(place, ["tree", "long", "--json"]);
  let depth = 0;
  type Turns = readonly { readonly children: Turns }[];
  for (let level = JSON.parse(json.out) as Turns; level[0] !== undefined; level = level[0].children)
    depth += 1;
  expect([json.code, depth]).toEqual([0, TURNS]);
});
