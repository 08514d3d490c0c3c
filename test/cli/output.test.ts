/** What goes where: the answer to stdout, everything else to stderr, and nothing that moves the cursor. */

import { expect, test } from "vitest";

import { emulatorOf, environment, newPlace, run } from "./harness.ts";
import { onTerminal } from "./pty.ts";

const ESC = "\u001B";
/** What a model may try: colours, a window title, a clipboard write, C1 forms, reordering and invisible text. */
const HOSTILE = `red ${ESC}[31m title ${ESC}]0;pwned\u0007 csi \u009B2J del \u007F back \b cr \rover bidi \u202Eevil tag \u{E0041}`;

const hostileSteps = [
  {
    output: [
      { reasoning: { summary: [`**Title ${ESC}[2J**\n\nbody`] } },
      { function_call: { name: "read_file", arguments: `{${ESC}[2J` } },
    ],
  },
  { output: [{ message: HOSTILE }] },
];

/** Control characters other than line feed and tab, and characters that reorder or hide. */
const ACTIVE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u200B\u2060\uFEFF\u{E0000}-\u{E007F}]/u;

test("stdout has the answer alone, with one line break at its end; progress is on stderr", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({
    steps: [
      {
        output: [
          { reasoning: ["**Looking**\n\nAt the files."] },
          { function_call: { name: "list_files", arguments: { path: "." } } },
        ],
      },
      { output: [{ reasoning: { summary: [] } }, { message: "Two\nlines." }] },
    ],
  });
  place.write("a.txt", "a");
  const { code, out, err } = await run(place, ["-p", "look"], { env });
  expect({ code, out }).toEqual({ code: 0, out: "Two\nlines.\n" });
  expect(err.replaceAll(/\b\d+(?:\.\d+)?(?:s| ms)\b/g, "0s").replaceAll(/s_\w+/g, "s_0")).toBe(
    [
      "openai/emu-reasoner · session s_0",
      "· Looking",
      "· Thought for 0s",
      '→ list_files({"path":"."})',
      "✓ list_files: a.txt",
      "· Thought for 0s · no summary from the provider",
      "",
    ].join("\n"),
  );
});

test("without a terminal there are no escape sequences, not even a model's on stderr", async () => {
  const { env } = await emulatorOf({ steps: hostileSteps });
  const { code, out, err } = await run(newPlace(), ["-p", "hi"], { env });
  expect(code).toBe(0);
  expect(err).not.toMatch(ACTIVE);
  expect(err).toContain("\u241B[2J");
  expect(out).toBe(`${HOSTILE}\n`); // a file or a program gets the text unchanged
});

test.for([
  [{ FORCE_COLOR: "1" }, true],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, true],
  [{ FORCE_COLOR: "0" }, false],
  [{ NO_COLOR: "1" }, false],
  [{}, false],
] as const)(
  "without a terminal, %j colours stderr: %j; stdout is never coloured",
  async ([colours, expected]) => {
    const { env } = await emulatorOf();
    const { out, err } = await run(newPlace(), ["-p", "hi"], { env: { ...env, ...colours } });
    expect(err.includes(`${ESC}[2m`)).toBe(expected);
    expect(out).not.toContain(ESC);
  },
);

test.for([
  [{}, true],
  [{ NO_COLOR: "1" }, false],
  [{ TERM: "dumb" }, false],
  [{ TERM: "dumb", FORCE_COLOR: "1" }, true],
] as const)("on a terminal, %j colours stderr: %j", async ([colours, expected]) => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const terminal = onTerminal(place, ["-p", "hi"], { TERM: "xterm", ...env, ...colours });
  const { code, screen } = await terminal.ended;
  expect(code).toBe(0);
  expect(screen.includes(`${ESC}[2m`)).toBe(expected);
});

test.for([["-p"], ["-p", "--json"]])(
  "on a terminal, with %j, hostile text is shown, not obeyed",
  async (flags) => {
    const place = newPlace();
    const { env } = await emulatorOf({ steps: hostileSteps });
    const { code, screen } = await onTerminal(place, [...flags, "hi"], { NO_COLOR: "1", ...env }).ended;
    expect(code).toBe(0);
    expect(screen.replaceAll("\r\n", "\n")).not.toMatch(ACTIVE);
    expect(screen).toContain(
      flags.includes("--json") ? String.raw`title \u001b]0;pwned\u0007` : "title \u241B]0;pwned\u2407",
    );
  },
);

test("the environment of the tests carries nothing of the user's own", () => {
  expect(Object.keys(environment(newPlace())).toSorted()).toEqual(["HOME", "PATH", "THROUGHLINE_HOME"]);
});
