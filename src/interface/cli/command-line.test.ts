import { expect, test } from "vitest";

import { asFlags, distance, flagsBehind, type KnownFlag, meantCommand, scanLine } from "./command-line.ts";
import { COMMAND_NAMES, COMMANDS, HELP_LINES } from "./command-table.ts";
import { topHelp } from "./top-help.ts";

const FLAGS: readonly KnownFlag[] = [
  { short: "-p", long: "--print", takesValue: false },
  { short: "-c", long: "--continue", takesValue: false },
  { short: "-m", long: "--model", takesValue: true },
  { long: "--json", takesValue: false },
];
const NAMES = { run: [], sessions: ["show", "export"], inspect: [], fork: [], emulator: [] };

test.for([
  [["sessions", "list"], { first: "sessions", at: 0, words: ["sessions", "list"], print: false }],
  [["-p", "emulator"], { first: "emulator", at: 1, words: ["emulator"], print: true }],
  [["--print", "a b"], { first: "a b", at: 1, words: ["a b"], print: true }],
  [["-m", "openai/x", "run"], { first: "run", at: 2, words: ["run"], print: false }],
  [["-mopenai/x", "run"], { first: "run", at: 1, words: ["run"], print: false }],
  [["--model=openai/x", "run"], { first: "run", at: 1, words: ["run"], print: false }],
  [["--model", "-p", "run"], { first: "run", at: 2, words: ["run"], print: false }],
  [["-pc", "run", "--json", "x"], { first: "run", at: 1, words: ["run"], print: true }],
  [["-cm", "openai/x", "run"], { first: "run", at: 2, words: ["run"], print: false }],
  [["--", "run"], { first: undefined, at: 2, words: [], print: false }],
  [["-"], { first: "-", at: 0, words: ["-"], print: false }],
  [["--json"], { first: undefined, at: 1, words: [], print: false }],
  [[], { first: undefined, at: 0, words: [], print: false }],
] as const)("%j is scanned", ([args, expected]) => {
  expect(scanLine(args, FLAGS)).toEqual(expected);
});

test.for([
  [["sesions", "list"], "sessions"],
  [["Sessions"], "sessions"],
  [["inspct", "--last"], "inspect"],
  [["emulater"], "emulator"],
  [["frok", "s_1"], "fork"],
  [["rnu"], "run"],
  [["fork", "s_1"], undefined],
  [["form", "a", "team"], undefined], // reads like a sentence
  [["-p", "sesions", "list"], undefined],
  [["hello"], undefined],
  [["ru"], undefined], // too short to judge
  [["sesions list"], undefined], // quoted: a prompt
  [["why?"], undefined],
  [["exprot"], "sessions export"],
  [["export"], "sessions export"],
  [["export", "--last"], "sessions export"],
  [["show", "s_1m7g"], "sessions show"],
  [["show", "me"], undefined], // everyday words, and not alone
  [["hlep"], "help"],
  [["verison"], "version"],
  [["help", "sesions"], "help sessions"],
  [["help", "me"], undefined],
  [["version", "please"], undefined],
] as const)("%j was meant to be %s", ([args, expected]) => {
  expect(meantCommand(scanLine(args, FLAGS), NAMES)?.meant).toBe(expected);
});

test.for([
  "hello",
  "hi",
  "hey",
  "thanks",
  "continue",
  "why",
  "yes",
  "stop",
  "test",
  "explain",
  "summarise",
  "weiter",
])("%s alone is a prompt", (word) => {
  expect(meantCommand(scanLine([word], FLAGS), COMMAND_NAMES)).toBeUndefined();
});

test.for([
  [["help"], ["--help"]],
  [["-m", "openai/x", "help"], ["--help"]],
  [
    ["help", "sessions"],
    ["sessions", "--help"],
  ],
  [
    ["help", "sessions", "export"],
    ["sessions", "export", "--help"],
  ],
  [["version"], ["--version"]],
  [["help", "me"], undefined],
  [["help", "constructor"], undefined],
  [["help", "fork", "this"], undefined],
  [["help", "sessions", "export", "it"], undefined],
  [["version", "control"], undefined],
  [["-p", "help"], undefined],
  [["--", "help"], undefined],
  [["run"], undefined],
] as const)("%j are the flags %j", ([args, expected]) => {
  expect(asFlags(scanLine(args, FLAGS), NAMES)).toEqual(expected);
});

test.for([
  ["", "", 0],
  ["abc", "abc", 0],
  ["abc", "acb", 1],
  ["abc", "ab", 1],
  ["sesions", "sessions", 1],
  ["kitten", "sitting", 3],
] as const)("%s and %s are %d edits apart", ([a, b, expected]) => {
  expect(distance(a, b)).toBe(expected);
  expect(distance(b, a)).toBe(expected);
});

test("the top-level help names every command once, in fewer than 40 lines of at most 110 columns", () => {
  const named = HELP_LINES.flatMap(({ names }) => names);
  expect(named.toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
  const lines = topHelp("x").split("\n");
  expect(lines.length).toBeLessThan(40);
  expect(lines.filter((line) => line.length > 110)).toEqual([]);
});

test.for([
  [
    ["sessions", "list"],
    ["sessions", "list"],
  ],
  [
    ["--json", "sessions", "list"],
    ["sessions", "list", "--json"],
  ],
  [
    ["-m", "openai/x", "run", "say", "--", "-x"],
    ["run", "say", "-m", "openai/x", "--", "-x"],
  ],
  [
    ["-m", "run", "run", "say"], // the value of a flag is not a command
    ["run", "say", "-m", "run"],
  ],
] as const)("%j: flags before the command are moved after it", ([args, expected]) => {
  expect(flagsBehind(args, scanLine(args, FLAGS))).toEqual(expected);
});

test("a mistyped command after help is recognised too", () => {
  expect(meantCommand(scanLine(["help", "sesions"], FLAGS), NAMES)).toEqual({
    typed: "sesions",
    meant: "help sessions",
  });
});
