/** Where the prompt comes from: arguments, standard input, or both. */

import { expect, test } from "vitest";

import {
  emulatorOf,
  eventsOf,
  expectProblem,
  newPlace,
  onlyLog,
  type Place,
  run,
  start,
  treeOf,
} from "./harness.ts";

async function sentText(place: Place): Promise<readonly string[]> {
  const { events } = await onlyLog(place);
  return eventsOf(events, "user_message").flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
}

test.concurrent.for([
  ["no prompt: standard input is the prompt", ["-p"], "from the pipe\n", "from the pipe"],
  ['"-": standard input is the prompt', ["-p", "-"], "from the pipe\n", "from the pipe"],
  ["without a terminal -p is not needed", [], "from the pipe", "from the pipe"],
  ["arguments are joined", ["-p", "two", "words"], "", "two words"],
  ["run is the same as -p", ["run", "two", "words"], "", "two words"],
  ["after -p the name of a command is a prompt", ["-p", "emulator"], "", "emulator"],
  ["after -p a mistyped command is a prompt", ["-p", "sesions", "list"], "", "sesions list"],
  ["a longer line is a prompt", ["form", "a", "team"], "", "form a team"],
  ["an argument after -- is not a flag", ["-p", "--", "--json"], "", "--json"],
  [
    "both: standard input is appended",
    ["-p", "review", "this"],
    "a\nb\n",
    "review this\n\n<stdin>\na\nb\n</stdin>",
  ],
  ["line separators inside stay", ["-p"], "a\u2028b\r\nc\u0001d", "a\u2028b\r\nc\u0001d"],
] as const)("%s", async ([, args, input, expected]) => {
  const place = newPlace();
  const { env } = await emulatorOf();
  expect(await run(place, args, { env, input })).toMatchObject({ code: 0 });
  expect(await sentText(place)).toEqual([expected]);
});

test("more than 10 MiB is refused before anything is sent or written", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  const ran = await run(place, ["-p", "sum up"], { env, input: Buffer.alloc(10 * 1024 * 1024 + 1, "a") });
  expectProblem(ran, 2, "input_too_large");
  expect(treeOf(place.home)).toEqual([]);
  expect(emulator.report().requests).toEqual([]);
});

test("a large prompt is sent whole; if it exceeds the model's context, that is a limit (exit 4)", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  const input = "word ".repeat(600_000);
  const ran = await run(place, ["-p"], { env, input });
  expect(ran).toMatchObject({ code: 4, out: "" });
  expect(ran.err).toMatch(/the turn stopped at a limit: .+ \[context_length_exceeded\]\n/);
  expect(await sentText(place)).toEqual([input.trim()]);
  expect(emulator.report().totals).toMatchObject({ requests: 1 });
});

test("standard input that does not end is waited for, with a hint how to avoid it", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const running = start(place, ["-p", "review"], { env, input: "first ", heldOpen: true });
  await running.seen(({ err }) => err.includes("waiting for standard input"), "the hint");
  expect(running.out).toBe("");
  running.child.stdin.end("second");
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(await sentText(place)).toEqual(["review\n\n<stdin>\nfirst second\n</stdin>"]);
});
