import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { fileStore } from "../../src/index.ts";
import { factsOf } from "../../src/runtime/facts/index.ts";
import {
  emulatorOf,
  expectNoTrace,
  expectProblem,
  newPlace,
  onlyLog,
  type Place,
  type Ran,
  run as runWith,
} from "./harness.ts";

// Not the model `emulator/…`, which answers at a reader's pace.
const emulated = await emulatorOf();

function run(
  place: Place,
  args: readonly string[],
  more: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ran> {
  return runWith(place, args, { env: { ...emulated.env, ...more.env } });
}

/** Everything a page consists of: nothing that runs, loads or leads away. */
const TAGS =
  "body dd details div dl dt h1 h2 head header html main meta p section style summary time title".split(" ");

const SECRET = "hunter2-canary-value";

async function session(place: Place, prompt = "Think of a number."): Promise<string> {
  const ran = await run(place, ["-p", prompt]);
  expect(ran.code, ran.err).toBe(0);
  return (await onlyLog(place)).id;
}

test("an exported page has rendered Markdown and the cost of the session", async () => {
  const place = newPlace();
  const message = "# Plan\n\n- **one**\n- `two`\n\n<script>alert(1)</script>";
  const { emulator, env } = await emulatorOf({ steps: [{ output: [{ message }] }] });
  const prices = { m: { input: 10, output: 20 } };
  const mine = { dialect: "openai-responses", baseUrl: emulator.baseUrl, models: ["m"], prices };
  mkdirSync(place.home);
  writeFileSync(join(place.home, "config.json"), JSON.stringify({ providers: { mine } }));
  expect((await runWith(place, ["-p", "-m", "mine/m", "hi"], { env })).code).toBe(0);
  const page = (await runWith(place, ["sessions", "export", "--last", "--format", "html"], { env })).out;
  expect(page).toContain("<h3>Plan</h3>");
  expect(page).toMatch(/<li>(?:<p>)?<strong>one<\/strong>/);
  expect(page).toContain("<code>two</code>");
  expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(page).not.toContain("<script");
  expect(page).toMatch(/<dt>Cost<\/dt><dd>\$0\.\d{4}<\/dd>/);
});

describe("sessions export and import", () => {
  test("carry a session to another home byte for byte, where it can continue", async () => {
    const [here, there] = [newPlace(), newPlace()];
    const id = await session(here);
    const exported = await run(here, ["sessions", "export", id, "-o", "s.jsonl"]);
    expect(exported).toMatchObject({ code: 0, out: "" });
    expect(exported.err).toMatch(/^exported s_\w+: \d+ events, 0 blobs\n$/);
    expect(statSync(join(here.work, "s.jsonl")).mode & 0o777).toBe(0o600);
    const piped = await run(here, ["sessions", "export", "--last"]);
    expect(piped.out).toBe(here.read("s.jsonl"));

    const imported = await run(there, ["sessions", "import", join(here.work, "s.jsonl")]);
    expect(imported).toMatchObject({ code: 0, out: `${id}\n` });
    expect(readFileSync(join(there.sessions, `${id}.jsonl`))).toEqual(
      readFileSync(join(here.sessions, `${id}.jsonl`)),
    );
    const again = await run(there, ["-r", id, "-p", "Which number did you think of?"]);
    expect(again.out).toContain("came back to me");

    expectProblem(await run(there, ["sessions", "import", join(here.work, "s.jsonl")]), 2, "session_exists");
    const other = await run(there, ["sessions", "import", join(here.work, "s.jsonl"), "--id", "other"]);
    expect(other).toMatchObject({ code: 0, out: "other\n" });
  });

  test("carry a session through a pipe", async () => {
    const [here, there] = [newPlace(), newPlace()];
    const id = await session(here);
    const { out: input } = await run(here, ["sessions", "export", id]);
    const imported = await runWith(there, ["sessions", "import", "-"], { input });
    expect(imported).toMatchObject({ code: 0, out: `${id}\n` });
    expect(readFileSync(join(there.sessions, `${id}.jsonl`))).toEqual(
      readFileSync(join(here.sessions, `${id}.jsonl`)),
    );
    const chat = '[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]';
    const other = await runWith(there, ["sessions", "import", "-"], { input: chat });
    expect(other).toMatchObject({ code: 0, out: expect.stringMatching(/^imported_/) as unknown });
    expectProblem(await runWith(there, ["sessions", "import", "-"], { input: "" }), 2, "input_empty");
    const torn = await runWith(there, ["sessions", "import", "-", "--id", "torn"], {
      input: input.slice(0, -40),
    });
    expectProblem(torn, 2, "bundle_damaged");
    expect(torn.err).toContain("standard input is not a complete session");
    expectProblem(await runWith(there, ["sessions", "import", "-"], { input: "text" }), 2, "input_invalid");
  });

  test("bring no rules: whoever made the file could have allowed anything", async () => {
    const [here, there] = [newPlace(), newPlace()];
    const id = await session(here);
    const log = await fileStore(here.sessions).open(id, { mode: "write" });
    await log.append([{ type: "permission_rule", rule: "run_command", by: "person" }], { durable: true });
    await log.close();
    await run(here, ["sessions", "export", id, "-o", "s.jsonl"]);
    const imported = await run(there, ["sessions", "import", join(here.work, "s.jsonl")]);
    expect(imported).toMatchObject({ code: 0, out: `${id}\n` });
    expect(imported.err).toContain("these rules were removed: run_command.");
    const { events } = await onlyLog(there);
    expect(factsOf(events).rules.size).toBe(0);
    expect(readFileSync(join(there.sessions, `${id}.jsonl`), "utf8")).toContain(
      readFileSync(join(here.sessions, `${id}.jsonl`), "utf8"),
    );
  });

  test("overwrite a file only with --force, and name a folder that does not exist", async () => {
    const place = newPlace();
    await session(place);
    place.write("mine.md", "mine");
    const words = ["sessions", "export", "--last", "--format", "markdown", "-o"];
    expectProblem(await run(place, [...words, "mine.md"]), 2, "file_exists");
    expect(place.read("mine.md")).toBe("mine");
    expect(await run(place, [...words, "mine.md", "--force"])).toMatchObject({ code: 0 });
    expect(place.read("mine.md")).toContain("## User");
    const nowhere = await run(place, [...words, "gone/a.md"]);
    expectProblem(nowhere, 2, "file_unwritable");
    expect(nowhere.err).toContain(`the folder ${join(place.work, "gone")} does not exist`);
    expect(nowhere.err).not.toContain(".tmp");
  });

  test("refuse damage by line and byte, and write nothing", async () => {
    const place = newPlace();
    const id = await session(place);
    const bytes = Buffer.from((await run(place, ["sessions", "export", id])).out);
    await run(place, ["sessions", "rm", id, "--yes"]);
    const cases: readonly (readonly [string, Buffer, string])[] = [
      ["cut.jsonl", bytes.subarray(0, bytes.length - 20), "bundle_damaged"],
      [
        "flip.jsonl",
        Buffer.concat([bytes.subarray(0, 40), Buffer.from([(bytes[40] ?? 0) ^ 1]), bytes.subarray(41)]),
        "log_damaged",
      ],
      ["empty.jsonl", Buffer.alloc(0), "bundle_damaged"],
      ["zeros.jsonl", Buffer.alloc(3000), "bundle_damaged"],
    ];
    for (const [name, content, code] of cases) {
      writeFileSync(join(place.work, name), content);
      const ran = await run(place, ["sessions", "import", name]);
      expect(ran.err, name).toMatch(/line \d+, byte \d+/);
      expect(ran.err.trimEnd().endsWith(`[${code}]`), ran.err).toBe(true);
      expect(ran.code).not.toBe(0);
      expectNoTrace(ran);
    }
    for (const [name, text, problem] of [
      ["text.jsonl", "hello\n", "it is not JSON"],
      ["request.json", '{"model":"m","input":[]}\n', "the history has no message and no answer"],
    ] as const) {
      const ran = await run(place, ["sessions", "import", place.write(name, text)]);
      expectProblem(ran, 2, "input_invalid");
      expect(ran.err).toContain(problem);
      expect(ran.err).toContain("Nothing was written");
    }
    expectProblem(await run(place, ["sessions", "import", "nowhere.jsonl"]), 2, "file_unreadable");
    expectProblem(await run(place, ["sessions", "import", "."]), 2, "file_unreadable");
    expect(readdirSync(place.sessions)).toEqual([]);
  });

  test("as Markdown and as a page hold the conversation and nothing that runs", async () => {
    const place = newPlace();
    const hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)> ``` [x](javascript:alert(1))";
    const id = await session(place, hostile);
    const page = (await run(place, ["sessions", "export", id, "--format", "html"])).out;
    expect(page).toContain("default-src 'none'");
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    const tags = new Set(
      [...page.matchAll(/<\/?([a-z][a-z0-9]*)([^>]*)>/gi)].map(
        ([, tag = "", rest = ""]) => `${tag}${/\s(?:on\w+|href|src)=/i.test(rest) ? " !" : ""}`,
      ),
    );
    expect([...tags].toSorted()).toEqual(TAGS);
    expect(page).toContain("<dt>Model</dt><dd>openai/emu-reasoner</dd>");
    expect(page).toMatch(/<dt>Tokens<\/dt><dd>\d+ in, \d+ out \(\d+ reasoning\)<\/dd>/);
    expect(page).toContain("<dt>Cost</dt><dd>unknown</dd>");
    expect(page).toMatch(/<dt>Started<\/dt><dd><time datetime="[^"]+">\d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    expect(page).toContain("<details><summary>");
    const plain = (await run(place, ["sessions", "export", id, "--format", "html", "--no-reasoning"])).out;
    expect(plain).not.toContain("<details><summary>");
    const markdown = (await run(place, ["sessions", "export", id, "--format", "markdown"])).out;
    expect(markdown).toContain("## User");
    expect(markdown).toContain(`> ${hostile}`);
    expectProblem(
      await run(place, ["sessions", "export", id, "-o", "no/such/folder/x.html"]),
      2,
      "file_unwritable",
    );
  });

  test("without reasoning or with secrets redacted give a session that can still continue", async () => {
    const place = newPlace();
    const id = await session(place, `remember ${SECRET} and sk-proj-abcdefghijklmnop1234`);
    const env = { MY_SERVICE_TOKEN: SECRET };
    const redacted = await run(place, ["sessions", "export", id, "--redact"], { env });
    expect(redacted.out).not.toContain(SECRET);
    expect(redacted.out).not.toContain("abcdefghijklmnop1234");
    expect(redacted.err).toMatch(/^redacted \d+ places/);
    const bare = await run(place, ["sessions", "export", id, "--no-reasoning", "--redact"], { env });
    expect(bare.out).not.toContain("encrypted_content");
    for (const [name, { out }] of Object.entries({ redacted, bare })) {
      const file = place.write(`${name}.jsonl`, out);
      expect(await run(place, ["sessions", "import", file, "--id", name])).toMatchObject({ code: 0 });
      const ran = await run(place, ["-r", name, "-p", "Thanks"]);
      expect(ran.code, ran.err).toBe(0);
      expect(ran.err).not.toContain("refused");
    }
  });
});

describe("sessions erase", () => {
  test("writes a copy without the secret, then replaces the original, and the session can continue", async () => {
    const place = newPlace();
    const id = await session(place, `my password is ${SECRET}`);
    const file = place.write("secret.txt", `${SECRET}\n`);
    const ran = await run(place, ["sessions", "erase", id, "--secret-file", file]);
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toMatch(/changed \[\d+\] user_message: 1 place/);
    expect(ran.out).toMatch(/could not search \[\d+\] reasoning of emu-reasoner/);
    expect(ran.out).toContain(`written as ${id}-erased`);
    const copy = readFileSync(join(place.sessions, `${id}-erased.jsonl`), "utf8");
    expect(copy).not.toContain(SECRET);
    expect(readFileSync(join(place.sessions, `${id}.jsonl`), "utf8")).toContain(SECRET);
    const checked = await run(place, ["check", `${id}-erased`]);
    expect(checked).toMatchObject({ code: 0, err: "" });
    expect(checked.out).toMatch(
      /^note: a secret was erased from this log; request 1 cannot be rebuilt as sent\n.*no problems\n$/s,
    );

    writeFileSync(join(place.sessions, `${id}.live`), SECRET);
    await fileStore(place.sessions)
      .waiting(id)
      .add("tn_1", { kind: "send", input: `Say ${SECRET}` });
    const replaced = await run(place, [
      "sessions",
      "erase",
      id,
      "--pattern",
      "hunter2-\\S+value",
      "--replace",
      "--json",
    ]);
    expect(JSON.parse(replaced.out)).toMatchObject({
      session: id,
      copy: id,
      beside: [`${id}.live`, `${id}.summary`, `${id}.waiting`],
      waiting: 1,
    });
    for (const name of readdirSync(place.sessions))
      expect(readFileSync(join(place.sessions, name), "utf8"), name).not.toContain(SECRET);
    const on = await run(place, ["-r", id, "-p", "Thanks"]);
    expect(on.code, on.err).toBe(0);
    expect(on.err).not.toContain("refused");
  });

  test("says what is missing or too broad, and writes nothing", async () => {
    const place = newPlace();
    const id = await session(place);
    const before = readdirSync(place.sessions);
    expectProblem(await run(place, ["sessions", "erase", id]), 2, "usage");
    expectProblem(await run(place, ["sessions", "erase", id, "--pattern", "("]), 2, "pattern_invalid");
    expectProblem(await run(place, ["sessions", "erase", id, "--pattern", "x*"]), 2, "pattern_invalid");
    for (const wide of ["tn_\\w+", "e", "type", "s"])
      expectProblem(await run(place, ["sessions", "erase", id, "--pattern", wide]), 2, "pattern_too_wide");
    const short = place.write("short.txt", "abc");
    expectProblem(await run(place, ["sessions", "erase", id, "--secret-file", short]), 2, "secret_too_short");
    expectProblem(await run(place, ["sessions", "erase", id, "--secret-file", "none"]), 2, "file_unreadable");
    const absent = place.write("absent.txt", "not in this session");
    const ran = await run(place, ["sessions", "erase", id, "--secret-file", absent]);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain("not found in this session");
    expect(readdirSync(place.sessions)).toEqual(before);
  });
});
