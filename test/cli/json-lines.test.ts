/** `--json`: a contract for programs. Names and fields are pinned, so that a changed one fails here first. */

import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { emulatorOf, jsonLines, newPlace, onlyLog, run, toolsFile } from "./harness.ts";

type Line = Readonly<Record<string, unknown>>;

/** The kind of every field, by line type; "?" marks a field that some lines of this type do not have. */
function shapesOf(lines: readonly Line[]): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const byType = new Map<string, Line[]>();
  for (const line of lines) {
    const type = String(line["type"]);
    byType.set(type, [...(byType.get(type) ?? []), line]);
  }
  return Object.fromEntries(
    [...byType]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([type, same]) => {
        const names = [...new Set(same.flatMap((line) => Object.keys(line)))].filter(
          (name) => name !== "type",
        );
        const fields = names.toSorted().map((name) => {
          const kinds = new Set(same.filter((line) => name in line).map((line) => kindOf(line[name])));
          const everywhere = same.every((line) => name in line);
          return [everywhere ? name : `${name}?`, [...kinds].toSorted().join(" | ")];
        });
        return [type, Object.fromEntries(fields)];
      }),
  );
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value))
    return `[${[...new Set(value.map((one) => kindOf(one)))].toSorted().join(" | ")}]`;
  if (typeof value !== "object") return typeof value;
  return `{${Object.keys(value).toSorted().join(", ")}}`;
}

const steps = [
  {
    output: [
      {
        reasoning: [
          "**Looking around**\n\nI list what is there.",
          "**Asking**\n\nAnd a tool that must be asked for.",
        ],
      },
      { message: { text: "I look.", phase: "commentary" } },
      { function_call: { name: "slow_tool", arguments: {} } },
      { function_call: { name: "write_file", arguments: { path: "x", content: "x" } } },
    ],
    faults: ["unknown-event=3"],
  },
  {
    output: [{ reasoning: ["**Answering**\n\nNow."] }],
    status: "failed",
    error: { code: "server_error", message: "Sorry." },
  },
  { output: [{ reasoning: ["**Answering**\n\nNow."] }, { message: "Done." }] },
];

test("every line is JSON of a known shape; the first is the session, the last the result", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({
    steps,
    faults: [{ type: "none" }, { type: "cut", at: { where: "after", unit: "event", index: 6 } }],
  });
  const file = toolsFile(
    place,
    `export const slow = tool({
       name: "slow_tool", description: "d", access: "read", input: { type: "object" },
       run: (_, { progress }) => { progress("half way"); return "ok"; },
     });`,
  );
  const ran = await run(place, ["-p", "--json", "--tools", file, "go"], { env });
  expect(ran).toMatchObject({ code: 3, err: "" });
  const lines = jsonLines(ran.out);
  const { id, file: logFile } = await onlyLog(place);
  expect(lines[0]).toEqual({
    v: 1,
    type: "session",
    session: id,
    model: "openai/emu-reasoner",
    location: logFile,
  });
  expect(lines.at(-1)).toEqual({
    v: 1,
    type: "result",
    status: "completed",
    text: "Done.",
    steps: 2,
    usage: lines.findLast(({ type }) => type === "turn_end")?.["usage"],
    costUsd: null,
    durationMs: expect.any(Number) as number,
  });
  expect(shapesOf(lines)).toMatchSnapshot();
});

test("canonical lines are the log's own, byte for byte except for the checksum, in the log's order", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  for (const args of [["List the files."], ["-c", "Think of a number\u2028now."]]) {
    const before = args.includes("-c") ? logLines((await onlyLog(place)).file) : [];
    const { code, out } = await run(place, ["-p", "--json", ...args], { env });
    expect(code).toBe(0);
    const canonical = out.split("\n").filter((line) => line.includes('"seq":'));
    expect([...before, ...canonical]).toEqual(logLines((await onlyLog(place)).file));
  }
});

test("the result of a turn that ends at a limit says which limit", async () => {
  const { env } = await emulatorOf();
  const ran = await run(newPlace(), ["-p", "--json", "--max-steps", "1", "List the files."], { env });
  expect(ran.code).toBe(4);
  expect(jsonLines(ran.out).at(-1)).toMatchObject({
    status: "incomplete",
    reason: "max_steps",
    text: "",
    steps: 1,
  });
});

function logLines(file: string): readonly string[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/,"sum":"[0-9a-f]{8}"\}$/, "}"));
}
