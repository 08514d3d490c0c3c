/**
 * The benchmark itself: its arithmetic, that a wrong total fails a row, and one tiny row over the real server process.
 * Nothing here asserts a time.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { LIBRARY } from "../support/built.ts";
import { BENCH, type Expectation, load, type Result } from "./harness.ts";

const { evaluate } = await load("evaluate.mjs");
const { linesOf } = await load("lines.mjs");
const { expectationOf, problemsOf } = await load("check-totals.mjs");
const { median, orderOfGrowth } = await load("statistics.mjs");
const { ROWS, samplesOf } = await load("rows.mjs");
const { VARIANTS, variantsFor } = await load("variants.mjs");

const streamCpu = linesOf().filter(({ id }) => id === "stream-cpu");

function sampled(variant: string, ...costs: readonly number[]): readonly Result[] {
  return costs.map((cpuMs, rep) => ({ sample: "mixed-20000", variant, rep, cpuMs }));
}

function ended(variant: string, tailMs: number): Result {
  return { sample: "mixed-20000", variant, rep: 0, tailMs };
}

function began(variant: string, rep: number, medianMs: number): Result {
  return { sample: "first", variant, rep, medianMs };
}

function takingPart(hasBefore: boolean, sameNode: boolean): readonly string[] {
  return variantsFor({ adapters: new Set(["ours", "floor"]), hasBefore, sameNode }).map(({ id }) => id);
}

function bench(args: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  return spawnSync(process.execPath, [join(BENCH, "run.mjs"), ...args], { encoding: "utf8" });
}

describe("the arithmetic", () => {
  test("takes a ratio within each repetition, and only then the median", () => {
    const [line] = evaluate(streamCpu, [...sampled("floor", 10, 100, 20), ...sampled("ours", 15, 300, 40)]);
    // The medians of the costs would also give 40 / 20; two repetitions tell the two methods apart.
    expect(line?.cells["ours"]).toEqual({ median: 2, min: 1.5, max: 3, count: 3 });
    const [two] = evaluate(streamCpu, [...sampled("floor", 10, 100), ...sampled("ours", 40, 100)]);
    expect(two?.cells["ours"]?.median).toBe(2.5);
  });

  test("ignores a sample without a floor in its repetition", () => {
    const [line] = evaluate(streamCpu, [...sampled("floor", 10), ...sampled("ours", 20, 9999)]);
    expect(line?.cells["ours"]).toEqual({ median: 2, min: 2, max: 2, count: 1 });
  });

  test("compares the file store with the floor that writes as much, and each Node with its own", () => {
    const [line] = evaluate(streamCpu, [
      ...sampled("floor", 10),
      ...sampled("floor-file", 20),
      ...sampled("floor-own", 40),
      ...["ours", "ours-file", "ours-own", "openai"].flatMap((variant) => sampled(variant, 80)),
    ]);
    const medians = Object.entries(line?.cells ?? {}).map(([variant, cell]) => [variant, cell.median]);
    expect(Object.fromEntries(medians)).toMatchObject({ ours: 8, "ours-file": 4, "ours-own": 2, openai: 8 });
  });

  test("compares the file store with the plain floor too, and both builds with the same floors", () => {
    const [line] = evaluate(streamCpu, [
      ...sampled("floor", 10),
      ...sampled("ours-file", 80),
      ...sampled("before-file", 120),
      ...sampled("floor-file", 20),
    ]);
    expect(line?.cells["ours-file"]).toMatchObject({ median: 4, plain: { median: 8 } });
    expect(line?.cells["before-file"]).toMatchObject({ median: 6, plain: { median: 12 } });
    expect(line?.cells["floor-file"]?.plain?.median).toBe(2);
  });

  test("judges the file store by its own target where a line has one, and an earlier build by none", () => {
    const tail = linesOf().filter(({ id }) => id === "stream-tail");
    const rest = [ended("floor", 10), ended("floor-file", 10), ended("ours", 12), ended("before", 900)];
    expect(evaluate(tail, [...rest, ended("ours-file", 15)])[0]?.verdict.met).toBe(true);
    expect(evaluate(tail, [...rest, ended("ours-file", 16)])[0]?.verdict.missed).toEqual(["ours-file"]);
  });

  test("compares with the best library of the repetition, or of the last one that it made", () => {
    const best = linesOf().filter(({ id }) => id === "first-best");
    const [line] = evaluate(best, [
      began("openai", 0, 4),
      began("pi", 0, 2),
      began("ours-file", 0, 3),
      began("openai", 1, 1),
      began("ours-file", 1, 3),
    ]);
    expect(line?.cells["ours-file"]).toMatchObject({ min: 1.5, max: 3 });
    expect(line?.verdict).toEqual({ met: false, missed: ["ours-file"] });
  });

  test("lets an earlier build take part only if there is one, and one Node once", () => {
    expect(takingPart(false, true)).toEqual(["floor", "ours", "ours-file", "floor-file"]);
    expect(takingPart(true, true)).toEqual([
      "floor",
      "ours",
      "before",
      "ours-file",
      "before-file",
      "floor-file",
    ]);
    expect(takingPart(true, false)).toHaveLength(12);
  });

  test("meets a target only if every form of ours meets it; peers do not count", () => {
    const floors = ["floor", "floor-file", "floor-own"].flatMap((variant) => sampled(variant, 10));
    const rest = [...floors, ...sampled("ours", 20), ...sampled("ours-own", 20), ...sampled("openai", 900)];
    expect(evaluate(streamCpu, [...rest, ...sampled("ours-file", 20)])[0]?.verdict.met).toBe(true);
    expect(evaluate(streamCpu, [...rest, ...sampled("ours-file", 21)])[0]?.verdict).toEqual({
      met: false,
      missed: ["ours-file"],
    });
  });

  test("shows a failed sample as wrong, and it misses the target whatever it cost", () => {
    const problem = { sample: "mixed-20000", variant: "ours", wrong: ["saw text 1, expected 2"] };
    const [line] = evaluate(streamCpu, [...sampled("floor", 10), ...sampled("ours", 10)], [problem]);
    expect(line?.cells["ours"]).toEqual({ wrong: true });
    expect(line?.verdict).toEqual({ met: false, missed: ["ours"] });
  });

  test("puts the median of an even number between the two in the middle, and leaves that of nothing unknown", () => {
    expect([median([4, 1, 3]), median([1, 2, 3, 10]), median([])]).toEqual([3, 2.5, undefined]);
  });

  test("gives the order of growth as the power of the size", () => {
    const sizes = [50, 200, 800];
    expect(orderOfGrowth(sizes.map((size) => [size, 3 * size]))).toBeCloseTo(1);
    expect(orderOfGrowth(sizes.map((size) => [size, 0.1 * size ** 2]))).toBeCloseTo(2);
    expect(orderOfGrowth([[50, 1]])).toBeUndefined();
  });

  test("reads a measured sample on every line, at full size and at a tenth", () => {
    for (const quick of [false, true]) {
      const taken = new Set(samplesOf({ quick }).map(({ id }) => id));
      expect(linesOf({ quick }).filter(({ sample }) => !taken.has(sample))).toEqual([]);
    }
  });
});

describe("the correctness check", () => {
  const loop = { id: "loop-3", row: "loop", kind: "loop", scenario: "loop-3", reps: 1, order: { steps: 3 } };
  const expected = expectationOf(loop);
  const ciphertexts = expected.totals["ciphertexts"] as readonly string[];

  function serverSaw(changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
    return { ...expected.server, ciphertexts, ...changes };
  }

  function problems(
    adapter: string,
    totals: Readonly<Record<string, unknown>>,
    server = serverSaw(),
    wanted: Expectation = expected,
  ): readonly string[] {
    return problemsOf(adapter, wanted, { totals: { ...wanted.totals, ...totals } }, server);
  }

  test("passes totals that equal the generator's", () => {
    expect(problems("ours", {})).toEqual([]);
  });

  test.each(["text", "reasoning", "arguments", "calls", "steps"])("fails on one %s too many", (key) => {
    const right = expected.totals[key] as number;
    expect(problems("ours", { [key]: right + 1 })).toEqual([`saw ${key} ${right + 1}, expected ${right}`]);
  });

  test("fails on a missing ciphertext, on two that are exchanged, and on a request too many", () => {
    const [first, ...rest] = serverSaw()["ciphertexts"] as readonly string[];
    expect(problems("ours", {}, serverSaw({ ciphertexts: rest }))[0]).toContain("sent ciphertexts: 2, of 3");
    expect(problems("ours", {}, serverSaw({ ciphertexts: [...rest, first] }))).toHaveLength(1);
    expect(problems("ours", {}, serverSaw({ requests: 5 }))).toEqual(["sent requests 5, expected 4"]);
    expect(problems("ours", {}, serverSaw({ outputChars: 1 }))).toHaveLength(1);
  });

  test("subtracts a known difference exactly, for its adapter only", () => {
    const right = expected.totals["reasoning"] as number;
    const parts = expected.truth?.summaryParts ?? 0;
    expect(parts).toBe(3);
    expect(problems("pi", { reasoning: right + 2 * parts })).toEqual([]);
    expect(problems("pi", { reasoning: right + 2 * parts - 1 })).toHaveLength(1);
    expect(problems("openai", { reasoning: right + 2 * parts })).toHaveLength(1);
  });
});

describe("the command", () => {
  test.each([
    [["nope"], 'there is no row "nope"'],
    [["stream", "--only", "ours,nobody"], 'there is no adapter "nobody"'],
    [["--reps", "0"], "--reps takes a number from 1 to 100"],
    [["--what"], "--what"],
    [["--before", "nowhere/index.js"], "--before: there is no nowhere/index.js"],
    [["--before-label", "0.1.0"], "--before-label names the build"],
  ])("refuses %j and lists the choices, before anything is installed", (args, message) => {
    const { status, stderr } = bench(args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`rows: ${ROWS.join(", ")}`);
    expect(stderr).toContain("adapters: floor, ours, openai");
  });
});

describe("a row, over the real server process", () => {
  const house = VARIANTS.filter(({ id }) => ["floor", "ours", "ours-file", "floor-file"].includes(id));
  const node = process.execPath;

  test("makes ours and the floor do the same work, with the store off and on", async () => {
    const { measure } = await load("measure.mjs");
    const samples = [
      { id: "mixed-80", row: "stream", kind: "ask", scenario: "mixed-80", reps: 1, warm: 4, noFile: true },
      { id: "loop-3", row: "loop", kind: "loop", scenario: "loop-3", reps: 1, order: { steps: 3 } },
      {
        id: "build",
        row: "build",
        kind: "build",
        reps: 1,
        warm: 2,
        order: { items: 31 },
        begins: { make: "drafts", items: 31 },
        noFile: true,
      },
      {
        id: "open",
        row: "open",
        kind: "open",
        reps: 1,
        order: { send: true },
        begins: { make: "log", events: 200 },
        noFile: true,
      },
      {
        id: "fetch",
        row: "fetch",
        kind: "loop",
        scenario: "loop-3",
        reps: 1,
        order: { steps: 3, inject: "loop-3" },
        noFile: true,
      },
      {
        id: "list",
        row: "list",
        kind: "list",
        reps: 1,
        begins: { make: "folder", sessions: 3 },
        noFile: true,
      },
    ];
    const { results, problems } = await measure({
      samples,
      variants: house,
      nodes: { own: node, 24: node },
      libraries: { after: LIBRARY },
      reps: 1,
      say: () => undefined,
    });
    expect(problems).toEqual([]);
    expect(results.map(({ sample, variant }) => `${sample} ${variant}`)).toEqual([
      "mixed-80 floor",
      "mixed-80 ours",
      ...house.map(({ id }) => `loop-3 ${id}`),
      ...["build", "open", "fetch", "list"].flatMap((id) => [`${id} floor`, `${id} ours`]),
    ]);
    const stream = results.find(({ sample, variant }) => sample === "mixed-80" && variant === "ours");
    expect(stream?.rounds).toBe(5);
    expect(stream?.warm?.["cpuMs"]).toBeGreaterThan(0);
    expect(stream?.warm?.["tailMs"]).toBeGreaterThan(0);
    const loop = results.find(({ sample, variant }) => sample === "loop-3" && variant === "ours-file");
    // Two for each of three tool steps and for the answer: the floor then has to do the same.
    expect(loop?.syncs).toBeGreaterThanOrEqual(7);
    expect(loop?.logBytes).toBeGreaterThan(3 * 1200);
  });
});
