/** `eval`: the shipped suite, good and bad scenarios, and a suite that is stopped. */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { parseFaults } from "../../src/emulator/index.ts";
import { SCENARIO_SCHEMA } from "../../src/interface/cli/eval/scenario-schema.ts";
import { fileStore } from "../../src/runtime/log/index.ts";
import { emulatorOf, expectProblem, newPlace, type Place, run, start, toolsFile, treeOf } from "./harness.ts";

const root = resolve(import.meta.dirname, "../..");
const QUICK = join(root, "evals/quick");

interface Outcome {
  readonly ok: boolean;
  readonly stopped: boolean;
  readonly checks: readonly {
    readonly what: string;
    readonly ok: boolean;
    readonly skipped?: true;
    readonly detail?: string;
  }[];
}
interface Report {
  readonly ok: boolean;
  readonly complete: boolean;
  readonly planned: number;
  readonly ran: number;
  readonly passed: number;
  readonly rows: readonly {
    readonly scenario: string;
    readonly model: string;
    readonly runs: number;
    readonly passed: number;
    readonly passRate: number;
    readonly ok: boolean;
    readonly outcomes: readonly Outcome[];
  }[];
}

function scenario(place: Place, value: object, name = "one.yaml"): string {
  return place.write(name, JSON.stringify(value));
}

async function evaluated(
  place: Place,
  args: readonly string[],
  env = {},
): Promise<{ readonly code: number | null; readonly report: Report }> {
  const ran = await run(place, ["eval", "--json", ...args], { env });
  return { code: ran.code, report: JSON.parse(ran.out) as Report };
}

const failures = ({ rows }: Report): readonly string[] =>
  rows.flatMap(({ outcomes }) =>
    outcomes.flatMap(({ checks }) => checks.filter(({ ok }) => !ok).map(({ what }) => what)),
  );

test("the quick suite passes on the emulator and leaves nothing behind", async () => {
  const place = newPlace();
  const temporary = join(place.work, "tmp");
  mkdirSync(temporary);
  const { code, report } = await evaluated(place, [QUICK], { TMPDIR: temporary });
  expect(failures(report)).toEqual([]);
  expect([code, report.ok, report.complete, report.passed]).toEqual([0, true, true, report.planned]);
  expect(report.planned).toBe(readdirSync(QUICK).filter((name) => name.endsWith(".yaml")).length);
  expect(readdirSync(temporary)).toEqual([]);
  expect(treeOf(place.home)).toEqual([]); // the user's own sessions are not touched
});

test("the quick suite has edits of files over several turns, a long loop of calls and model switches", () => {
  const texts = readdirSync(QUICK)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => readFileSync(join(QUICK, name), "utf8"));
  for (const part of [
    /edit_file/,
    /minSteps: 25/,
    /model: first/,
    /emu-deepseek/,
    /emu-claude/,
    /prefixStable/,
    /reasoningRecall/,
  ])
    expect(
      texts.some((text) => part.test(text)),
      String(part),
    ).toBe(true);
});

test("scenarios without a script pass in every dialect: all requests are accepted, all reasoning is sent back", async () => {
  const models = ["claude", "claude-bound", "deepseek", "kimi", "mistral", "groq", "router", "chat"];
  const names = ["answer", "edit-files"].map((name) => join(QUICK, `${name}.yaml`));
  const list = models.map((name) => `emulator/emu-${name}`).join(",");
  const { code, report } = await evaluated(newPlace(), [...names, "-m", list]);
  expect(failures(report)).toEqual([]);
  expect([code, report.passed]).toEqual([0, models.length * names.length]);
});

test("the shipped suite is found by its name from anywhere, unless a local file has that name", async () => {
  const place = newPlace();
  const ran = await run(place, ["eval", "quick", "-m", "zebra"]);
  expect(ran.err).toContain("[model_invalid]"); // models are checked after the scenarios have been read
  mkdirSync(join(place.work, "quick"));
  expectProblem(await run(place, ["eval", "quick"]), 2, "scenario_missing");
});

test("the published schema is the one that is enforced", async () => {
  expect(JSON.parse(readFileSync(join(root, "evals/scenario.schema.json"), "utf8"))).toEqual(SCENARIO_SCHEMA);
  const ran = await run(newPlace(), ["eval", "--schema"]);
  expect([ran.code, JSON.parse(ran.out)]).toEqual([0, SCENARIO_SCHEMA]);
});

const HELLO = { send: "Hello" };

const FAILING: readonly (readonly [name: string, value: object])[] = [
  ["text contains", { turns: [{ ...HELLO, expect: { text: { contains: ["zebra"] } } }] }],
  ["text matches", { turns: [{ ...HELLO, expect: { text: { matches: "^zebra$" } } }] }],
  ["text equals", { turns: [{ ...HELLO, expect: { text: { equals: "zebra" } } }] }],
  ["text lacks", { turns: [{ ...HELLO, expect: { text: { lacks: ["emulator"] } } }] }],
  ["json", { turns: [{ ...HELLO, expect: { json: { type: "object" } } }] }],
  ["status", { turns: [{ ...HELLO, expect: { status: "failed" } }] }],
  ["a call", { turns: [{ ...HELLO, expect: { calls: [{ tool: "read_file" }] } }] }],
  [
    "its arguments",
    {
      turns: [
        { send: "List the files.", expect: { calls: [{ tool: "list_files", with: { path: "zebra" } }] } },
      ],
    },
  ],
  [
    "how often",
    { turns: [{ send: "List the files.", expect: { calls: [{ tool: "list_files", times: 2 }] } }] },
  ],
  [
    "its result",
    { turns: [{ send: "List the files.", expect: { calls: [{ tool: "list_files", result: "error" }] } }] },
  ],
  ["no calls", { turns: [{ send: "List the files.", expect: { noCalls: true } }] }],
  ["steps of a turn", { turns: [{ send: "List the files.", expect: { maxSteps: 1 } }] }],
  ["a minimum count", { turns: [{ ...HELLO, expect: { minSteps: 2 } }] }],
  ["steps of a run", { turns: [HELLO, HELLO], expect: { maxSteps: 1 } }],
  ["a file", { turns: [HELLO], expect: { files: [{ path: "a.txt" }] } }],
  [
    "no file",
    { files: { "a.txt": "x" }, turns: [HELLO], expect: { files: [{ path: "a.txt", exists: false }] } },
  ],
  [
    "its content",
    { files: { "b/a.txt": "x" }, turns: [HELLO], expect: { files: [{ path: "b/a.txt", equals: "y" }] } },
  ],
  ["a command", { turns: [HELLO], expect: { commands: [{ run: "exit 3" }] } }],
  ["its output", { turns: [HELLO], expect: { commands: [{ run: "echo one", output: { equals: "two" } }] } }],
  [
    "a refused request",
    {
      emulator: { faults: ["none", "invalid-encrypted-content"] },
      turns: [{ send: "List the files." }],
      expect: { noRefusedRequest: true },
    },
  ],
  [
    "recall",
    {
      emulator: { faults: ["none", "invalid-encrypted-content"] },
      turns: [{ send: "List the files." }, HELLO],
      expect: { reasoningRecall: 1 },
    },
  ],
  ["time", { limits: { seconds: 0.2 }, emulator: { faults: ["stall=after-item:0"] }, turns: [HELLO] }],
  ["a failed turn", { emulator: { faults: ["401"] }, turns: [HELLO] }],
  ["a limit of steps", { limits: { steps: 1 }, turns: [{ send: "List the files." }] }],
];

test("each expectation can fail, and says what it found instead", async () => {
  const place = newPlace();
  for (const [name, value] of FAILING) {
    const file = name.replaceAll(" ", "-");
    scenario(place, { name: file, ...value }, `${file}.json`);
  }
  const { code, report } = await evaluated(place, [place.work]);
  expect([code, report.ok, report.ran]).toEqual([1, false, FAILING.length]);
  expect(report.rows.filter(({ ok }) => ok).map(({ scenario: name }) => name)).toEqual([]);
  for (const { scenario: name, outcomes } of report.rows) {
    const failed = outcomes[0]?.checks.filter(({ ok }) => !ok) ?? [];
    expect([name, failed.length > 0, failed.filter(({ detail }) => (detail ?? "") === "")]).toEqual([
      name,
      true,
      [],
    ]);
  }
});

test("tools of a module are called, and their effects are seen", async () => {
  const place = newPlace();
  toolsFile(
    place,
    `export const weather = tool({ name: "get_weather", description: "weather", access: "read",
      input: { type: "object", properties: { city: { type: "string" } } }, run: ({ city }) => "Sunny in " + city });`,
  );
  const file = scenario(place, {
    tools: "tools.mjs",
    turns: [
      {
        send: "What is the weather in Paris?",
        expect: {
          text: { contains: ["Sunny in Paris"] },
          calls: [{ tool: "get_weather", with: { city: "Paris" }, result: "ok" }],
        },
      },
    ],
  });
  expect((await evaluated(place, [file])).report).toMatchObject({ ok: true, passed: 1 });
});

test("another endpoint is judged from the log: no refusals, all reasoning sent back, a stable prefix", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const file = scenario(place, {
    turns: [{ send: "List the files." }, HELLO],
    expect: { noRefusedRequest: true, reasoningRecall: 1, prefixStable: true, maxCostUsd: 1 },
  });
  const { report } = await evaluated(place, [file, "-m", "openai/emu-reasoner"], env);
  expect(report).toMatchObject({ ok: true, passed: 1 });
  const skipped = report.rows[0]?.outcomes[0]?.checks.filter((check) => check.skipped === true);
  expect(skipped).toEqual([
    { what: "costs at most $1", ok: true, skipped: true, detail: "the price of the model is unknown" },
  ]);
});

test("at another endpoint, refused reasoning shows in refusals, recall and prefix", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({ faults: [...parseFaults("none"), ...parseFaults("rotate-key")] });
  const expected = { noRefusedRequest: true, reasoningRecall: 1, prefixStable: true };
  const file = scenario(place, { turns: [{ send: "List the files." }, HELLO], expect: expected });
  const { code, report } = await evaluated(place, [file, "-m", "openai/emu-reasoner"], env);
  expect([code, failures(report)]).toEqual([
    1,
    [
      "no request is rejected",
      "reasoning recall is at least 1",
      "every request starts like the previous one",
    ],
  ]);
});

test("models from -m and from a file, repeats and a pass rate make rows", async () => {
  const place = newPlace();
  place.write("models.txt", "# ours\nemulator/emu-plain\n\nemulator/emu-reasoner:low # twice\n");
  const file = scenario(place, { turns: [{ ...HELLO, expect: { text: { contains: ["emulator"] } } }] });
  const args = [
    file,
    "-m",
    "emulator/emu-reasoner,emulator/emu-plain",
    "--models",
    "models.txt",
    "--repeat",
    "3",
    "--jobs",
    "2",
  ];
  const { code, report } = await evaluated(place, args);
  expect([code, report.planned, report.passed]).toEqual([0, 9, 9]);
  expect(report.rows.map(({ model, runs, passRate }) => [model, runs, passRate])).toEqual([
    ["emulator/emu-reasoner", 3, 1],
    ["emulator/emu-plain", 3, 1],
    ["emulator/emu-reasoner:low", 3, 1],
  ]);
});

test("a pass rate below 1 allows failures", async () => {
  const place = newPlace();
  const file = scenario(place, { turns: [{ ...HELLO, expect: { text: { contains: ["zebra"] } } }] });
  expect((await evaluated(place, [file, "--min-pass-rate", "0"])).code).toBe(0);
  const ran = await run(place, ["eval", file, "--min-pass-rate", "0.5"]);
  expect(ran.code).toBe(1);
  expect(ran.out).toMatch(/^✗ one {2}emulator\/emu-reasoner {2}0\/1 passed/);
  expect(ran.out).toContain('run 1: turn 1 text contains "zebra": "I am');
  expect(ran.out).toContain("1 run: 0 passed, 1 failed");
  expect(ran.err).toContain("1/1 FAILED one · emulator/emu-reasoner · run 1");
});

test("--out gets a log, a transcript and a result for each run, readable by their owner only, and reports", async () => {
  const place = newPlace();
  const file = scenario(place, { turns: [{ send: "List the files." }] });
  const ran = await run(place, ["eval", file, "--out", "results", "--repeat", "2"]);
  expect(ran.code).toBe(0);
  const folder = join(place.work, "results/one/emulator_emu-reasoner/2");
  expect(readdirSync(folder).toSorted()).toEqual([
    "result.json",
    "session.jsonl",
    "session.summary",
    "transcript.txt",
  ]);
  expect(readFileSync(join(folder, "transcript.txt"), "utf8")).toContain("list_files");
  const log = await fileStore(folder).open("session", { mode: "read" });
  expect(log.events.at(-1)).toMatchObject({ type: "turn_end", status: "completed" });
  await log.close();
  for (const path of treeOf(join(place.work, "results"))) {
    const stat = statSync(path);
    expect([path, stat.mode & 0o077]).toEqual([path, 0]);
  }
  expect(JSON.parse(place.read("results/report.json"))).toMatchObject({
    v: 1,
    type: "eval",
    ok: true,
    passed: 2,
  });
  expect(place.read("results/report.txt")).toBe(ran.out);
  expectProblem(await run(place, ["eval", file, "--out", "results"]), 2, "file_exists");
});

test("keys from the environment are in no report, transcript or log", async () => {
  const place = newPlace();
  const canary = "sk-canary-eval-0123456789";
  toolsFile(
    place,
    `export const weather = tool({ name: "get_weather", description: "weather", access: "read",
      input: { type: "object", properties: { city: { type: "string" } } }, run: () => Object.values(process.env).join(" ") });`,
  );
  const file = scenario(place, {
    tools: "tools.mjs",
    turns: [
      {
        send: "What is the weather in Paris?",
        expect: { text: { contains: ["zebra"] }, calls: [{ tool: "get_weather", result: "ok" }] },
      },
    ],
    expect: { commands: [{ run: "env", output: { equals: "zebra" } }] },
  });
  const ran = await run(place, ["eval", file, "--out", "results"], {
    env: { OPENAI_API_KEY: canary, SOME_TOKEN: `${canary}-2` },
  });
  expect(ran.code).toBe(1);
  const texts = [
    ran.out,
    ran.err,
    ...treeOf(join(place.work, "results"))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, "utf8")),
  ];
  expect(texts.some((text) => text.includes("[redacted]"))).toBe(true);
  expect(texts.filter((text) => text.includes(canary))).toEqual([]);
});

test("Ctrl-C stops the running scenario, starts nothing more and reports what ran", async () => {
  const place = newPlace();
  scenario(place, { name: "a", turns: [HELLO] }, "a.yaml");
  toolsFile(
    place,
    `process.stderr.write("b begins\\n"); export const none = tool({ name: "none", description: "none", input: { type: "object" }, run: () => "" });`,
  );
  const stalls = {
    name: "b",
    tools: "tools.mjs",
    emulator: { faults: ["stall=after-item:0"] },
    turns: [HELLO],
  };
  scenario(place, stalls, "b.yaml");
  scenario(place, { name: "c", turns: [HELLO] }, "c.yaml");
  const running = start(place, [
    "eval",
    "a.yaml",
    "b.yaml",
    "c.yaml",
    "--jobs",
    "1",
    "--json",
    "--out",
    "results",
  ]);
  await running.seen(({ err }) => err.includes("b begins"), "the second run");
  running.kill("SIGINT");
  const ran = await running.ended;
  expect(ran.code).toBe(130);
  const report = JSON.parse(ran.out) as Report;
  expect([report.ok, report.complete, report.planned, report.ran, report.passed]).toEqual([
    false,
    false,
    3,
    1,
    1,
  ]);
  expect(report.rows.map(({ scenario: name }) => name).includes("c")).toBe(false);
});

describe("a suite that cannot run is reported before anything runs", () => {
  test.for([
    ["not YAML", "turns: [", "scenario_invalid"],
    ["not an object", "- 1\n", "scenario_invalid"],
    ["no turns", "about: nothing\n", "scenario_invalid"],
    [
      "a misspelt expectation",
      "turns: [{ send: hi, expect: { txt: { contains: [x] } } }]\n",
      "scenario_invalid",
    ],
    ["an invalid pattern", 'turns: [{ send: hi, expect: { text: { matches: "(" } } }]\n', "scenario_invalid"],
    [
      "an invalid schema",
      "turns: [{ send: hi, expect: { json: { $ref: '#/nowhere' } } }]\n",
      "scenario_invalid",
    ],
    ["no such fixture", "fixture: nowhere\nturns: [{ send: hi }]\n", "scenario_invalid"],
    ["a file that leaves the folder", "files: { ../x: y }\nturns: [{ send: hi }]\n", "scenario_invalid"],
    [
      "a path that leaves the folder",
      "turns: [{ send: hi }]\nexpect: { files: [{ path: /etc/passwd }] }\n",
      "scenario_invalid",
    ],
    ["an unknown fault", "emulator: { faults: [zebra] }\nturns: [{ send: hi }]\n", "scenario_invalid"],
    [
      "an invalid script",
      "emulator: { steps: [{ output: 1 }] }\nturns: [{ send: hi }]\n",
      "scenario_invalid",
    ],
    ["an unknown model", "models: [zebra]\nturns: [{ send: hi }]\n", "scenario_invalid"],
    [
      "a document that expands without end",
      `a: &a [x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\nturns: [{ send: hi }]\n`,
      "scenario_invalid",
    ],
  ] as const)("%s", async ([, text, code]) => {
    const place = newPlace();
    const ran = await run(place, ["eval", place.write("bad.yaml", text), "--out", "results"]);
    expectProblem(ran, 2, code);
    expect(ran.err).toContain("bad.yaml");
    expect(existsSync(join(place.work, "results"))).toBe(false);
  });

  test.for([
    [["nowhere.yaml"], "file_unreadable"],
    [["."], "scenario_missing"],
    [[], "usage"],
    [["good.yaml", "-m", "zebra"], "model_invalid"],
    [["good.yaml", "-m", ","], "model_invalid"],
    [["good.yaml", "--models", "nowhere"], "file_unreadable"],
    [["good.yaml", "--jobs", "0"], "number_invalid"],
    [["good.yaml", "--repeat", "x"], "number_invalid"],
    [["good.yaml", "--min-pass-rate", "2"], "number_invalid"],
    [["good.yaml", "also.yaml"], "scenario_invalid"],
  ] as const)("%j", async ([args, code]) => {
    const place = newPlace();
    if (!args.some((arg) => arg === ".")) {
      place.write("good.yaml", "name: one\nturns: [{ send: hi }]\n");
      place.write("also.yaml", "name: one\nturns: [{ send: hi }]\n");
    }
    expectProblem(await run(place, ["eval", ...args]), 2, code);
  });
});
