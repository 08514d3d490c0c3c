/**
 * Every command on a real terminal, over a session, files, settings and servers that are hostile in every text: the
 * terminal obeys none of it and nothing stays hidden. A pipe gets the log byte for byte.
 */

import { readFileSync } from "node:fs";

import { beforeAll, describe, expect, test } from "vitest";

import { type AppendDraft, fileStore } from "../../src/runtime/log/index.ts";
import { emulatorOf, eventsOf, logsOf, newPlace, type Place, run, serverOf } from "./harness.ts";
import { onTerminal } from "./pty.ts";

/** Without a slash, so that it can be a file name, and without NUL, so that it can be an argument. */
const ACTIVE = [
  ...Array.from(
    "\u0007\b\u000B\f\r\u000E\u001A\u007F\u0084\u0085\u008D\u0090\u009B\u009C\u009D\u009F" +
      "\u00AD\u034F\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u2028\u2029\u202A\u202E\u2060\u2066\u2069\u206F" +
      "\u2800\u3164\uFE0F\uFEFF\uFFA0\uFFF9\uE000\uFDD0\u{1D173}\u{E0041}\u{E0100}\u{10FFFF}",
  ),
  "\u001B[2J",
  "\u001B[1m",
  "\u001B[0m",
  "\u001B[8m",
  "\u001B[K",
  "\u001B]0;pwned\u0007",
  "\u001B]52;c;aGk=\u001B\\",
  "\u001BPq\u001B\\",
  "\u001Bc",
];
const EVIL = `evil ${ACTIVE.join("|")} end`;

/** Nothing that the terminal obeys, nothing that hides. The terminal itself adds the carriage returns. */
const OBEYED = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u115F\u1160\u2800\u3164\uFFA0]/u;
// oxlint-disable-next-line no-control-regex -- bold, dim, plain, and a line that is rewritten
const OUR_OWN = /\u001B\[[012]m|\r\u001B\[K/g;

function expectInert(screen: string, what: string): void {
  const shown = screen.replaceAll(/\r+\n/g, "\n").replaceAll(OUR_OWN, "");
  const found = OBEYED.exec(shown);
  const around = found === null ? "" : shown.slice(Math.max(0, found.index - 60), found.index + 20);
  expect(JSON.stringify(around), what).toBe('""');
}

/** Every text of the events is hostile, even those that only a foreign log can have. */
function poisoned(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((one) => poisoned(one, key));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, name === "item" ? one : poisoned(one, name)]),
    );
  }
  const texts =
    /^(?:text|title|model|provider|endpoint|credential|cwd|message|code|name|arguments|label|why|reason|instructions|delta|summary|version|effort)$/;
  return typeof value === "string" && (texts.test(key) || value.includes("poison"))
    ? `${value} ${EVIL}`
    : value;
}

let place: Place;
let env: Readonly<Record<string, string>>;
let evilServer: string;

beforeAll(async () => {
  place = newPlace();
  place.damaged = true; // its file names and its logs are wrong on purpose
  place.write("poison.txt", `poison ${EVIL}`);
  place.write(`${EVIL}.json`, JSON.stringify([{ role: "user", content: EVIL }, { role: EVIL }]));
  place.write("scenario.json", JSON.stringify({ name: EVIL, prompt: EVIL, expect: { text: EVIL } }));
  evilServer = await serverOf((_request, response) => {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: EVIL, code: EVIL, type: EVIL } }));
  });
  ({ env } = await emulatorOf({
    steps: [
      {
        output: [
          { reasoning: [`**poison ${EVIL}**\n\n${EVIL}`] },
          { function_call: { name: "read_file", arguments: { path: "poison.txt" } } },
        ],
      },
      { output: [{ message: `poison ${EVIL}` }] },
      { output: [], status: "failed", error: { code: "invalid_prompt", message: `poison ${EVIL}` } },
    ],
  }));
  expect(await run(place, ["-p", `poison ${EVIL}`], { env })).toMatchObject({ code: 0 });
  expect(await run(place, ["-c", "-p", "again"], { env })).toMatchObject({ code: 1 });
  const [events] = (await logsOf(place)).values();
  const [first] = eventsOf(events ?? [], "session_start");
  expect(first).toBeDefined();
  await fileStore(place.sessions).create("evil", {
    events: (events ?? []).map((event) => poisoned(event) as AppendDraft),
    blobs: new Map(),
  });
});

const COMMANDS: readonly (readonly string[])[] = [
  ["sessions"],
  ["sessions", "list", "--json"],
  ["sessions", "show", "evil", "--reasoning", "full"],
  ["sessions", "show", "evil", "--json"],
  ["sessions", "search", "poison"],
  ["sessions", "search", EVIL, "--json"],
  ["sessions", "path", "evil"],
  ["sessions", "rm", EVIL],
  ["sessions", "export", "evil"],
  ["sessions", "export", "evil", "--redact"],
  ["sessions", "export", "evil", "--format", "markdown"],
  ["sessions", "export", "evil", "--format", "html"],
  ["sessions", "export", "evil", "-o", `/nowhere/${EVIL}`],
  ["sessions", "import", `${EVIL}.json`],
  ["sessions", "erase", "evil", "--pattern", EVIL],
  ["inspect", "evil"],
  ["inspect", "evil", "--json"],
  ["inspect", "evil", "--format", "yaml"],
  ["inspect", "evil", "--request", "1"],
  ["inspect", "evil", "--request", "1", "--json"],
  ["inspect", "evil", "--diff", "1", "2"],
  ["inspect", "evil", "--preview", "--format", "yaml"],
  ["tree", "evil"],
  ["tree", "evil", "--json"],
  ["stats", "--all"],
  ["stats", "--all", "--json"],
  ["check", "evil"],
  ["check", "evil", "--json"],
  ["check", `${EVIL}.json`],
  ["repair", "evil", "--dry-run"],
  ["repair", `${EVIL}.json`],
  ["config", "list"],
  ["config", "get", EVIL],
  ["config", "set", "model", EVIL],
  ["models"],
  ["models", EVIL],
  ["doctor", "--offline"],
  ["doctor", "--json", "--offline"],
  ["eval", "scenario.json", "-m", "emulator/emu-reasoner"],
  ["eval", EVIL],
  ["conform", EVIL],
  ["completion", EVIL],
  ["completion", "bash"],
  ["undo", EVIL],
  ["fork", "evil", "--at", EVIL],
  ["retry", EVIL],
  ["compact", EVIL],
  ["--help", EVIL],
  ["sessions", "show", "--help", EVIL],
  [`--${EVIL}`],
  [EVIL, "--nonsense"],
  ["-m", EVIL, "-p", "x"],
  ["--tools", EVIL, "-p", "x"],
  ["--playback", EVIL],
  ["--debug", "-r", EVIL, "-p", "x"],
];

describe("on a real terminal", () => {
  test.for(COMMANDS.map((args) => [args.join(" ").replaceAll(EVIL, "EVIL"), args] as const))(
    "%s prints nothing that the terminal obeys",
    async ([, args]) => {
      const plain = await onTerminal(place, args, env).ended;
      expectInert(plain.screen, "without colours");
      expect(plain.screen.replaceAll(/\s+|pid \d+/g, ""), "it prints something").not.toBe("");
    },
  );

  test("colours use only the styles bold, dim and plain", async () => {
    const coloured = { ...env, TERM: "xterm-256color" };
    for (const args of [
      ["sessions", "show", "evil"],
      ["sessions", "export", "evil"],
      ["inspect", "evil"],
      ["-p", "hello"],
    ]) {
      expectInert((await onTerminal(place, args, coloured).ended).screen, args.join(" "));
    }
  });

  test("hostile text from the environment, a server and a tools file is shown too", async () => {
    const cases: readonly (readonly [readonly string[], Readonly<Record<string, string>>])[] = [
      [["-p", "x"], { ...env, THROUGHLINE_MODEL: EVIL }],
      [["doctor"], { ...env, OPENAI_BASE_URL: `http://127.0.0.1:1/${EVIL}` }],
      [["-p", "x"], { ...env, OPENAI_BASE_URL: evilServer }],
      [["conform", evilServer, "--model", EVIL, "--only", "A"], env],
      [["sessions", "list", "--server", `http://127.0.0.1:1/${EVIL}`], env],
      [
        [
          "-p",
          "x",
          "--tools",
          place.write(
            "says.mjs",
            `console.log(${JSON.stringify(EVIL)}); console.error(${JSON.stringify(EVIL)}); export default [];`,
          ),
        ],
        env,
      ],
      [
        [
          "-p",
          "x",
          "--tools",
          place.write("fails.mjs", `throw new Error(${JSON.stringify(EVIL)});`),
          "--debug",
        ],
        env,
      ],
    ];
    for (const [args, given] of cases) {
      expectInert((await onTerminal(place, args, given).ended).screen, JSON.stringify(args));
    }
  });

  test("a line chat shows hostile thoughts, answers, calls, errors and its question", async () => {
    const chat = newPlace();
    const { env: other } = await emulatorOf({
      steps: [
        {
          output: [
            { reasoning: [`**t ${EVIL}**\n\n${EVIL}`] },
            { function_call: { name: "run_command", arguments: { command: `echo ${EVIL}` } } },
          ],
        },
        { output: [{ message: `Said ${EVIL}` }] },
      ],
    });
    for (const spoken of ["0", "1"]) {
      const terminal = onTerminal(chat, ["go"], { ...other, ACCESSIBLE: spoken });
      if (spoken === "1") {
        await terminal.shows("You: ");
        terminal.press("\u0004");
        await terminal.ended;
        continue;
      }
      await terminal.shows("[y/N] ");
      terminal.type("n");
      await terminal.shows("Said evil");
      await terminal.shows("› ");
      terminal.press("\u0004");
      const { screen } = await terminal.ended;
      // Node's line editor moves the cursor and clears the line it is on.
      // oxlint-disable-next-line no-control-regex -- its movements
      expectInert(screen.replaceAll(/\u001B\[\d*[ABCDGJK]|\r/g, ""), "line chat");
      for (const filler of ["\\u{3164}", "\\u{115F}", "\\u{34F}", "\\u{202E}"])
        expect(screen).toContain(filler);
    }
  });
});

test("a pipe gets the export as the log, byte for byte", async () => {
  const { out, code } = await run(place, ["sessions", "export", "evil"]);
  expect(code).toBe(0);
  const log = readFileSync(`${place.sessions}/evil.jsonl`, "utf8");
  expect(out.startsWith(log)).toBe(true);
  expect(out).toContain("\u202E");
});
