/** What conform says about the emulator: strict, lenient, and departing in one fact. */

import { describe, expect, test } from "vitest";

import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { emulatorUrl, GROUP_BREAKS, READABLE, run, told, withResult } from "./run-conform.ts";

test("the strict emulator passes every probe", async () => {
  const report = await run(await emulatorUrl());
  expect(told(report)).toEqual({ differs: [], skipped: [READABLE], error: [] });
  expect(report).toMatchObject({ conforms: true, stopped: false, suite: "all" });
  expect(report.profile).toMatchObject({ nearest: "openai", departs: [] });
});

test("a strict emulator with readable reasoning passes every probe except sending it back", async () => {
  const report = await run(await emulatorUrl({ switches: { reasoningText: true } }));
  expect(told(report)).toEqual({ differs: [READABLE], skipped: [], error: [] });
  expect(report.conforms).toBe(true); // disputed among servers: reported, but does not count
});

test("the lenient emulator accepts every broken history, and differs in nothing else", async () => {
  const report = await run(await emulatorUrl({ mode: "lenient" }));
  const refused = ["refuses.item-reference", "refuses.previous-response"]; // it cannot answer for what it does not have
  const breaks = report.results.filter(({ id }) => id.startsWith("refuses.") && !refused.includes(id));
  expect(told(report)).toEqual({ differs: breaks.map(({ id }) => id), skipped: [READABLE], error: [] });
  expect(new Set(breaks.map(({ seen }) => seen))).toEqual(new Set(["accepted: this server is lenient here"]));
  expect(report.conforms).toBe(false);
  expect(report.profile).toMatchObject({
    nearest: "openai",
    departs: ["maxItemIdLength", "maxCallIdLength", "reasoningPayload"],
  });
});

describe("a server that departs in one fact is recognised by that fact", () => {
  const cases: readonly (readonly [name: string, options: EmulatorOptions, differs: readonly string[]])[] = [
    ["bare ids", { switches: { bareReasoningId: "accept" } }, ["refuses.bare-id"]],
    ["status", { switches: { reasoningStatus: "accept" } }, ["refuses.status"]],
    ["content", { switches: { reasoningContent: "accept" } }, ["refuses.content"]],
    ["models", { switches: { modelBinding: "off" } }, ["refuses.other-model"]],
    ["the marker at the end", { switches: { doneMarker: true } }, []],
    [
      "ids are required",
      { switches: { reasoningWithoutId: "refuse" } },
      ["replay.no-ids", "refuses.id-asymmetry"], // the second one refuses too, with another text
    ],
    ["no retention", { switches: { zeroDataRetention: true } }, ["refuses.previous-response"]], // another text
  ];
  test.each(cases)("%s", async (_name, options, differs) => {
    expect(told(await run(await emulatorUrl(options)))).toEqual({ differs, skipped: [READABLE], error: [] });
  });

  test("no encrypted content: reasoning cannot go back, and the profile says so", async () => {
    const report = await run(await emulatorUrl({ models: { "emu-reasoner": { encryptedContent: false } } }));
    expect(told(report)).toEqual({
      differs: ["request.include", "reasoning.payload", "replay.message", "replay.call"],
      skipped: [
        "reasoning.payload-in-done",
        "reasoning.fresh-payload",
        "replay.final-payload",
        "replay.no-ids",
        READABLE,
        ...GROUP_BREAKS,
      ],
      error: [],
    });
    const fields = Object.fromEntries(report.profile.fields.map(({ field, value }) => [field, value]));
    expect(fields).toMatchObject({ itemIds: "keep", reasoningPayload: "required", sendInclude: false });
  });

  test("readable reasoning that is accepted without ids: the open-responses profile", async () => {
    const url = await emulatorUrl({
      mode: "lenient",
      switches: { reasoningText: true },
      models: { "emu-reasoner": { encryptedContent: false } },
    });
    const { profile } = await run(url);
    const fields = Object.fromEntries(profile.fields.map(({ field, value }) => [field, value]));
    expect(fields).toMatchObject({
      itemIds: "omit",
      reasoningContent: "verbatim",
      reasoningPayload: "optional",
      sendInclude: false,
    });
    expect(profile.nearest).toBe("open-responses");
  });

  test("a model that does not reason is not asked for reasoning", async () => {
    const report = await run(await emulatorUrl(), { model: "emu-plain" });
    expect(withResult(report, "differs")).toEqual(["request.include", "reasoning.item"]);
    expect(withResult(report, "error")).toEqual([]);
    expect(withResult(report, "skipped")).toContain("refuses.missing-follower");
    expect(withResult(report, "holds")).toContain("refuses.missing-output"); // needs none
  });
});

test("suites and --only select probes, and four at a time give the same results in the same order", async () => {
  const url = await emulatorUrl();
  const all = await run(url);
  const responses = await run(url, { suite: "responses" });
  const reasoning = await run(url, { suite: "reasoning", concurrency: 4 });
  const ids = (report: typeof all): readonly string[] => report.results.map(({ id }) => id);
  expect(ids(responses).toSorted().concat(ids(reasoning).toSorted()).toSorted()).toEqual(ids(all).toSorted());
  expect(ids(reasoning)).toEqual(ids(all).filter((id) => ids(reasoning).includes(id)));
  const some = await run(url, { only: ["tools.call", "errors"], concurrency: 4 });
  expect(ids(some)).toEqual([...ids(all).filter((id) => id.startsWith("errors.")), "tools.call"]);
  await expect(run(url, { only: ["stream.nothing"] })).rejects.toMatchObject({ code: "probe_unknown" });
});
