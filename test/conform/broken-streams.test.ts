/** Streams broken on purpose, in every answer of a run: each break is reported where it belongs and nowhere else. */

import { describe, expect, test } from "vitest";

import { always, emulatorUrl, GROUP_BREAKS, READABLE, run, told, withResult } from "./run-conform.ts";

/** Run with every probe, to see that nothing else differs; other faults only in the long form (THROUGHLINE_RUNS). */
const NAMED = new Set([
  "no-terminal",
  "empty-output",
  "late-ciphertext",
  "drop-event=2",
  "duplicate-event=4",
]);

describe("a break in the stream is reported by one probe", () => {
  const noTerminal = ["stream.output", "stream.fields", "stream.usage", "refuses.previous-response"];
  const noFinal = ["reasoning.fresh-payload", "replay.final-payload"];
  const cases: readonly {
    readonly fault: string;
    readonly differs: readonly string[];
    readonly skipped?: readonly string[];
  }[] = [
    { fault: "no-terminal", differs: ["stream.terminal"], skipped: [...noTerminal, ...noFinal] },
    { fault: "double-terminal", differs: ["stream.terminal"] },
    { fault: "empty-output", differs: ["stream.output"], skipped: noFinal },
    { fault: "missing-output", differs: ["stream.output"], skipped: noFinal },
    {
      fault: "late-ciphertext",
      differs: ["reasoning.payload-in-done"],
      skipped: ["reasoning.fresh-payload", "refuses.early-payload"],
    },
    { fault: "drop-event=0", differs: ["stream.created"] },
    { fault: "drop-event=1", differs: ["stream.created"] },
    { fault: "drop-event=2", differs: ["stream.order"], skipped: ["refuses.early-payload"] }, // the first item's added
    { fault: "drop-event=3", differs: ["stream.order"] }, // a part's added
    { fault: "drop-event=4", differs: ["stream.text"] }, // a delta
    { fault: "drop-event=-2", differs: ["stream.all-done"] }, // the last item's done
    { fault: "duplicate-event=0", differs: ["stream.created"] },
    { fault: "duplicate-event=1", differs: ["stream.created"] },
    { fault: "duplicate-event=2", differs: ["stream.added-once"] },
    { fault: "duplicate-event=3", differs: ["stream.added-once"] },
    { fault: "duplicate-event=4", differs: ["stream.text"] },
    { fault: "duplicate-event=-2", differs: ["stream.all-done"] },
    { fault: "duplicate-event=-1", differs: ["stream.terminal"] },
    { fault: "swap-events=2", differs: ["stream.order"] },
    { fault: "unknown-event", differs: ["stream.known-types"] },
    { fault: "done-only", differs: ["stream.text", "tools.arguments"] }, // no deltas of either kind
    { fault: "bad-json=4", differs: ["stream.frames", "stream.text"] },
  ];
  test.each(cases)("$fault", async ({ fault, differs, skipped = [] }) => {
    const whole = NAMED.has(fault) || process.env["THROUGHLINE_RUNS"] !== undefined;
    const url = await emulatorUrl({ faults: always(fault) });
    const report = await run(url, whole ? {} : { only: ["stream", "tools", "reasoning", "replay"] });
    const ran = new Set(report.results.map(({ id }) => id));
    const found = told(report);
    expect({ ...found, skipped: found.skipped.toSorted() }).toEqual({
      differs,
      skipped: [...skipped.filter((id) => ran.has(id)), READABLE].toSorted(),
      error: [],
    });
  });

  test.each(["keepalive", "crlf", "bom", "split=7"])("%s is not a difference", async (fault) => {
    const report = await run(await emulatorUrl({ faults: always(fault) }), { suite: "responses" });
    expect(told(report)).toEqual({ differs: [], skipped: [], error: [] });
  });

  test("the report about a missing end says where the stream ends", async () => {
    const url = await emulatorUrl({ faults: always("no-terminal") });
    const report = await run(url, { only: ["stream.terminal"] });
    expect(report.results[0]?.seen).toMatch(/^the stream ends after \d+ events without a terminal event;/);
  });

  test("rotating ids: they cannot go back, and the profile says to omit them", async () => {
    const report = await run(await emulatorUrl({ faults: always("rotate-ids") }));
    expect(told(report)).toEqual({
      differs: ["stream.ids", "replay.message", "replay.call"],
      skipped: ["replay.final-payload", READABLE, ...GROUP_BREAKS],
      error: [],
    });
    expect(report.profile).toMatchObject({ nearest: "no-item-ids", departs: [] });
  });

  test("an unknown item type is reported, and its group is not replayed", async () => {
    const report = await run(await emulatorUrl({ faults: always("unknown-item") }));
    expect(withResult(report, "differs")).toEqual(["stream.known-types"]);
    expect(withResult(report, "skipped")).toContain("replay.message");
    expect(report.results.find(({ id }) => id === "stream.known-types")?.seen).toBe("item surprise_call");
  });

  test("a cut stream is an error of the stream, not of the parts that never arrived", async () => {
    const report = await run(await emulatorUrl({ faults: always("cut=after-event:6") }));
    const { differs, error } = told(report);
    expect(differs).toEqual(["stream.terminal", "stream.all-done"]);
    expect(error).toEqual(["answer.object", "stream.answer", "tools.call", "tools.structured-output"]);
  });
});
