/** Rules that allow calls: a rule covers what its text says and nothing else, however hostile the call. */

import { spawnSync } from "node:child_process";

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { covers, parseRule, ruleOfCall } from "./allow-rules.ts";
import { builtinTools } from "./builtin/index.ts";

const own = { name: "deploy" };
const tools = [...builtinTools({ cwd: "." }), own];
const named = (name: string): (typeof tools)[number] => {
  const found = tools.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
};
const command = named("run_command");
const write = named("write_file");
const runs = (rule: string, text: unknown): boolean =>
  covers(parseRule(rule, tools), command, { command: text });
const writes = (rule: string, path: unknown): boolean =>
  covers(parseRule(rule, tools), write, { path, content: "x" });

test("a rule without a pattern covers every call of its tool and no other tool", () => {
  expect(covers(parseRule("deploy", tools), own, { to: "production" })).toBe(true);
  expect(covers(parseRule("deploy", tools), write, { path: "deploy" })).toBe(false);
  expect(runs("run_command", "rm -rf /; $(x)")).toBe(true);
});

describe("a pattern with a star covers one simple command", () => {
  test.for([
    ["run_command:git *", "git status"],
    ["run_command:git *", "git log --format=%H -n 3"],
    ["run_command:git *", 'git commit -m "fix the thing"'],
    ["run_command:git *", "git commit -m 'it''s done'"],
    ["run_command:git status*", "git status"],
    ["run_command:npm * --silent", "npm run build --silent"],
    ["run_command:npm *un*ild*", "npm run build"],
    ["run_command:*", "ls -l"],
    ["run_command:cat *", "cat Отчёт.txt"],
  ] as const)("%s covers %s", ([rule, text]) => expect(runs(rule, text)).toBe(true));

  test.for([
    "git status; rm -rf /",
    "git status && x",
    "git status & x",
    "git status || x",
    "git status | x",
    "git status |& x",
    "git $(x)",
    "git ${x}",
    "git $x",
    "git `x`",
    'git "$(x)"',
    "git '$(x)'",
    'git "a;b"',
    "git > f",
    "git >> f",
    "git < f",
    "git 2>&1",
    "git <(x)",
    "git <<<x",
    "git status\nrm -rf /",
    "git status\r\nx",
    "git\tstatus",
    "git status\t",
    "A=1 git status",
    " A=1 git status",
    "git\u00A0status",
    "git \u2003status",
    "git status\u2028x",
    "git status\u0085x",
    "git status\0x",
    "\\git status",
    "git \\\nstatus",
    "git a\\ b",
    '"git" status',
    "'git' status",
    "g'i't status",
    "git status #",
    "git #x",
    "git *",
    "git a?",
    "git [a]",
    "git ~/x",
    "git !x",
    "! git status",
    "git {a,b}",
    "git (x)",
    "(git status)",
    "{ git status; }",
    'git "unfinished',
    "git 'unfinished",
    "GIT status",
    "gitstatus",
    "git",
    "",
    "  git status",
    `git ${"a".repeat(100_000)}`,
    `git ${"'".repeat(100_001)}`,
  ])("git * does not cover %j", (text) => expect(runs("run_command:git *", text)).toBe(false));

  test.for([
    "A=1 git",
    "A=1",
    'A="1" git',
    "x+=1 git",
    "time git",
    "coproc git",
    "if git",
    '"git" x',
    "",
    " ",
  ])("not even * covers %j", (text) => expect(runs("run_command:*", text)).toBe(false));

  test("only the text of the command counts, not other arguments", () => {
    expect(covers(parseRule("run_command:git *", tools), command, { command: 7 })).toBe(false);
    expect(covers(parseRule("run_command:git *", tools), command, { path: "git x" })).toBe(false);
    expect(covers(parseRule("run_command:git *", tools), command, "git x")).toBe(false);
    expect(covers(parseRule("run_command:git *", tools), { name: "run_command" }, { command: "git x" })).toBe(
      false, // a tool of the user's own with this name
    );
  });

  const anything = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(...Array.from(" ;|&$`'\"(){}<>\\\n\t#*?[]~!=abgit-")) }),
  );

  test("whatever bash makes of a covered command, it runs exactly that program with literal arguments", () => {
    const seen: string[] = [];
    fc.assert(
      fc.property(anything, (text) => {
        if (runs("run_command:git *", `git ${text}`)) seen.push(`git ${text}`);
      }),
      { numRuns: 3000 },
    );
    expect(seen.length).toBeGreaterThan(10);
    // `git` is a function that shows its arguments. Nothing else may run or be written.
    const script = seen.map((one) => `git() { printf '%s\\0' "$#"; }; ${one} || exit 9`).join("\n");
    const ran = spawnSync("bash", ["--norc", "-c", script], {
      cwd: "/",
      env: { SHLVL: "1" },
      encoding: "utf8",
    });
    expect([ran.status, ran.stderr]).toEqual([0, ""]);
    expect(ran.stdout.split("\0")).toHaveLength(seen.length + 1);
  });

  test("a covered command contains no character by which bash could do more", () => {
    fc.assert(
      fc.property(anything, anything, (before, after) => {
        const text = `${before}git ${after}`;
        for (const rule of ["run_command:*", "run_command:git *", "run_command:*git*"])
          if (runs(rule, text)) expect(text).not.toMatch(/[;&|<>$`\\(){}[\]*?~!#^\n\r\t\0]/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a pattern without a star covers exactly this text", () => {
  test.for(["git status", "make 2>&1 | tail -5", "A=1 git status", "rm *.o", "a\\b", 'echo "x"; y'])(
    "the rule of %j covers it and nothing else",
    (text) => {
      const rule = ruleOfCall(command, { command: text }) ?? "";
      expect(runs(rule, text)).toBe(true);
      for (const other of [`${text} `, ` ${text}`, `${text}; x`, `${text}x`, text.replace("*", "a")])
        if (other !== text) expect(runs(rule, other), other).toBe(false);
    },
  );

  test("for any two commands, the rule of one covers the other only if they are the same", () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom("a", "*", "\\", " ", ":") }));
    fc.assert(
      fc.property(text, text, (one, other) => {
        const rule = ruleOfCall(command, { command: one });
        if (rule === undefined) return;
        expect(runs(rule, one)).toBe(true);
        expect(runs(rule, other)).toBe(one === other);
      }),
      { numRuns: 2000 },
    );
  });

  test.for([
    ["a line break", "a\nb"],
    ["an escape sequence", "a\u001B[2J"],
    ["another direction", "a\u202Eb"],
    ["an unusual space", "a\u00A0b"],
    ["a letter of another script in a word", "gіt status"],
    ["more than can be shown", "a".repeat(600)],
    ["nothing", ""],
  ] as const)("a command with %s has no rule, because its text could not be shown exactly", ([, text]) =>
    expect(ruleOfCall(command, { command: text })).toBeUndefined(),
  );

  test("any other tool is allowed by its name", () => {
    expect(ruleOfCall(own, { to: "production" })).toBe("deploy");
  });
});

describe("a path", () => {
  test.for([
    ["write_file:src/*", "src/a.ts", true],
    ["write_file:src/*", "./src//b/c.ts", true],
    ["write_file:src/*", "src/../package.json", false],
    ["write_file:src/*", "../src/a", false],
    ["write_file:src/*", "/src/a", false],
    ["write_file:src/*", "C:/src/a", false],
    ["write_file:src/*", "src\\..\\a", false],
    ["write_file:src/*", "src/a\0b", false],
    ["write_file:src/*", "srcs/a", false],
    ["write_file:src/*", "src", false],
    ["write_file:*", "/etc/passwd", false],
    ["write_file:*", "a/../../b", false],
    ["write_file:*.md", "docs/a.md", true],
    ["write_file:a.txt", "./a.txt", true],
    ["write_file:a.txt", "b/../a.txt", false],
    ["write_file:a.txt", 7, false],
  ] as const)("%s and %j: %s", ([rule, path, expected]) => expect(writes(rule, path)).toBe(expected));

  test("has a rule of its own only if it stays in the working directory", () => {
    expect(ruleOfCall(write, { path: "./a/*.txt" })).toBe(String.raw`write_file:a/\*.txt`);
    expect(ruleOfCall(write, { path: "/etc/passwd" })).toBeUndefined();
    expect(ruleOfCall(write, { path: "../a" })).toBeUndefined();
    expect(ruleOfCall(write, {})).toBeUndefined();
  });
});

test.for([
  ["", "use TOOL or TOOL:PATTERN"],
  ["run_command:", "use TOOL or TOOL:PATTERN"],
  ["run_comand:git *", 'there is no tool "run_comand"; did you mean "run_command"?'],
  ["fly", 'there is no tool "fly"; available are: list_files'],
  ["deploy:production", 'only the built-in tools take a pattern; use "deploy" for all its calls'],
  ["run_command:git * > f", "covers one simple command"],
  ["run_command:git $(x) *", "covers one simple command"],
  [String.raw`run_command:git \s*`, String.raw`write \* for a star`],
  ["run_command:git\n*", "cannot be shown exactly"],
  ["run_command:git\u202E*", "cannot be shown exactly"],
  [`run_command:${"a".repeat(600)}`, "longer than 500 characters"],
  ["write_file:../x", "relative to the working directory"],
  ["write_file:/etc/*", "relative to the working directory"],
  ["write_file:./src/*", "relative to the working directory"],
  [7 as unknown as string, "use a text"],
] as const)("the rule %j is refused: %s", ([rule, why]) => {
  expect(() => parseRule(rule, tools)).toThrow(
    expect.objectContaining({
      code: "allow_rule_invalid",
      message: expect.stringContaining(why) as string,
    }),
  );
});

test("an error does not repeat a rule that is as long as a request", () => {
  expect(() => parseRule(`run_command:${"a".repeat(1_000_000)}`, tools)).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/^.{1,700}$/) as string }),
  );
});
