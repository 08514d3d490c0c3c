/** `sessions import` of other tools' histories, as a person uses it: import, continue, inspect; and what is refused. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import { claudeCode, codexRollout } from "../check/foreign-formats.ts";
import { told } from "../check/foreign-samples.ts";
import {
  asOrdinaryUser,
  eventsOf,
  expectProblem,
  newPlace,
  onlyLog,
  type Place,
  type Ran,
  run,
  start,
  treeOf,
} from "./harness.ts";

const importing = (place: Place, args: readonly string[], env = {}): Promise<Ran> =>
  run(place, ["sessions", "import", ...args], { env });

function atEmulator({ baseUrl }: Emulator, model: string): Readonly<Record<string, string>> {
  return {
    OPENAI_BASE_URL: baseUrl,
    OPENAI_API_KEY: "sk-test",
    ANTHROPIC_BASE_URL: baseUrl.replace(/\/v1$/, ""),
    ANTHROPIC_API_KEY: "sk-test",
    THROUGHLINE_MODEL: model,
  };
}

describe("another tool's history", () => {
  test("becomes a session whose reasoning goes back to the account that --from names", async () => {
    const { emulator, told: story } = await told("responses");
    const place = newPlace();
    const env = atEmulator(emulator, "openai/emu-reasoner");
    const file = place.write("rollout.jsonl", codexRollout(story));
    const ran = await importing(place, [file, "--from", "openai/emu-reasoner"], env);
    expect(ran.code, ran.err).toBe(0);
    const { id, events } = await onlyLog(place);
    expect(ran.out).toBe(`${id}\n`);
    expect(ran.err.split("\n")).toEqual([
      "imported 1 message and 2 answers by openai/emu-reasoner from codex-rollout 0.166.0",
      "reasoning: 2 of 2 thoughts go back to openai/emu-reasoner",
      `continue with: throughline -r ${id} "…"`,
      "",
    ]);
    expect(
      eventsOf(events, "notice").map(({ code, message }) => [code, message.split(", sha256")[0]]),
    ).toEqual([["imported", "imported from codex-rollout 0.166.0 (Codex rollout), file rollout.jsonl"]]);
    expect(eventsOf(events, "reasoning").map(({ item }) => item)).toEqual(
      [story.items?.first, story.items?.second].map((item) => JSON.stringify(item)),
    );
    const before = emulator.report().requests.length;
    const more = await run(place, ["-r", id, "-p", "Go on.", "--max-steps", "1"], { env });
    expect(more.err).not.toContain("failed");
    const [request] = emulator.report().requests.slice(before);
    expect(request).toMatchObject({ verdict: "accepted", recall: 1, foreign: [] });
    expect(request?.sent).toHaveLength(2);
  });

  test("is translated without --from, and the command says what to do", async () => {
    const { emulator, told: story } = await told("messages");
    const place = newPlace();
    const ran = await importing(place, [place.write("t.jsonl", claudeCode(story))]);
    expect(ran.code, ran.err).toBe(0);
    const { id, events } = await onlyLog(place);
    expect(ran.err).toContain("reasoning: 2 thoughts go back only to the account that made them");
    expect(ran.err).toContain(
      `throughline sessions rm ${id} --yes, then import with --from anthropic/emu-claude`,
    );
    expect(eventsOf(events, "response_start").map(({ origin }) => origin)).toEqual(
      Array.from({ length: 2 }, () => ({
        provider: "anthropic",
        dialect: "anthropic-messages",
        model: "emu-claude",
        endpoint: "unknown",
        credential: "imported",
      })),
    );
    const env = atEmulator(emulator, "anthropic/emu-claude");
    const before = emulator.report().requests.length;
    await run(place, ["-r", id, "-p", "Go on.", "--max-steps", "1"], { env });
    expect(emulator.report().requests[before]).toMatchObject({ verdict: "accepted", sent: [], foreign: [] });
  });

  test("is shown as imported by inspect, check and show, and has nothing to rebuild", async () => {
    const { told: story } = await told("responses");
    const place = newPlace();
    const ran = await importing(place, [place.write("rollout.jsonl", codexRollout(story))]);
    const id = ran.out.trim();
    const seen = await run(place, ["inspect", id]);
    expect(seen.out).toContain(
      "request 1 · step 1 · openai/emu-reasoner · completed · imported, nothing to rebuild",
    );
    expectProblem(await run(place, ["inspect", id, "--request", "1"]), 2, "request_imported");
    const checked = await run(place, ["check", id, "-m", "emulator/emu-claude"]);
    expect(checked).toMatchObject({ code: 0 });
    expect(checked.out).toContain("note: 2 answers were imported; there is no request to rebuild");
    expect((await run(place, ["inspect", id, "--preview", "-m", "emulator/emu-chat"])).out).toContain(
      "all hold",
    );
    const shown = await run(place, ["sessions", "show", id]);
    expect(shown.out).toContain("Weather?");
    expect(shown.out).toContain("It is sunny.");
    expect((await run(place, ["sessions", "list"])).out).toContain("Weather?");
  });

  test("is refused the second time, with the id of its session; another id makes a copy", async () => {
    const { told: story } = await told("responses");
    const place = newPlace();
    const file = place.write("rollout.jsonl", codexRollout(story));
    const { out } = await importing(place, [file]);
    const again = await importing(place, [place.write("same.jsonl", codexRollout(story))]);
    expectProblem(again, 2, "session_exists");
    expect(again.err).toContain(out.trim());
    expect(await importing(place, [file, "--id", "copy"])).toMatchObject({ code: 0, out: "copy\n" });
  });
});

test.each([
  ["with a zero byte", "/a\0b"],
  ["that is too long", `/${"x".repeat(5000)}`],
  ["that is relative", "sub"],
])("a directory %s is not taken from the file", async (_, cwd) => {
  const { told: story } = await told("responses");
  const place = newPlace();
  mkdirSync(join(place.work, "sub"));
  const text = codexRollout(story).replaceAll('"cwd":"/w"', `"cwd":${JSON.stringify(cwd)}`);
  const ran = await importing(place, [place.write("f.jsonl", text)]);
  expect(ran).toMatchObject({ code: 0 });
  expect((await onlyLog(place)).events[0]).toMatchObject({ type: "session_start", cwd: place.work });
});

test("the example of the document prints what it says", async () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/cli.md"), "utf8");
  const [, history = "", shown = ""] =
    /\$ echo '(.*)' > chat\.json\n\$ throughline sessions import chat\.json\n([^`]*)```/.exec(text) ?? [];
  const place = newPlace();
  const ran = await importing(place, [place.write("chat.json", `${history}\n`)]);
  expect(`${ran.err}${ran.out}`).toBe(shown);
});

describe("nothing is written for", () => {
  const cases: Readonly<
    Record<string, readonly [code: string, make: (place: Place, whole: string) => string]>
  > = {
    "a transcript cut off in a line": [
      "history_damaged",
      (place, whole) => place.write("f", whole.slice(0, -30)),
    ],
    "JSON that is cut off": ["input_invalid", (place) => place.write("f", '[{"role":"user","content":"Hi')],
    "a pi session of a later version": [
      "history_version_unknown",
      (place) =>
        place.write(
          "f",
          '{"type":"session","version":9,"id":"s"}\n{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"Hi"}}\n',
        ),
    ],
    "messages of AI SDK 4": [
      "history_version_unknown",
      (place) =>
        place.write(
          "f",
          JSON.stringify([
            { role: "assistant", parts: [{ type: "tool-invocation", toolInvocation: { state: "call" } }] },
          ]),
        ),
    ],
    "bytes that are not text": [
      "file_not_text",
      (place) => {
        writeFileSync(join(place.work, "f"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0, 1]));
        return "f";
      },
    ],
    "a file above the limit": [
      "file_too_large",
      (place) => {
        place.write("f", '[{"role":"user","content":"Hi"}]');
        truncateSync(join(place.work, "f"), 128 * 1024 * 1024 + 1);
        return "f";
      },
    ],
    "an empty file": ["bundle_damaged", (place) => place.write("f", "")],
    "an empty list": ["input_invalid", (place) => place.write("f", "[]")],
    "a folder": ["file_unreadable", () => "."],
    "a pipe": [
      "file_unreadable",
      (place) => {
        execFileSync("mkfifo", [join(place.work, "f")]);
        return "f";
      },
    ],
    "a file that may not be read": [
      "file_unreadable",
      (place, whole) => {
        chmodSync(place.write("f", whole), 0);
        return "f";
      },
    ],
    "a file that is not there": ["file_unreadable", () => "nowhere.jsonl"],
    "text nested too deep": [
      "input_too_deep",
      (place) => place.write("f", `${"[".repeat(600)}${"]".repeat(600)}`),
    ],
    "an unknown format": ["input_invalid", (place) => place.write("f", '[{"a":1}]')],
  };

  test.each(Object.entries(cases))("%s", async (_, [code, make]) => {
    const { told: story } = await told("responses");
    const place = newPlace();
    mkdirSync(place.sessions, { recursive: true });
    const file = make(place, codexRollout(story));
    const ran = await run(place, ["sessions", "import", file], asOrdinaryUser(place));
    expect(ran).toMatchObject({ out: "" });
    expect(ran.code).not.toBe(0);
    expect(ran.err.trimEnd().endsWith(`[${code}]`), ran.err).toBe(true);
    expect(readdirSync(place.sessions)).toEqual([]);
  });

  test("a flag that does not fit", async () => {
    const place = newPlace();
    const file = place.write("f.json", '[{"role":"user","content":"Hi"}]');
    expectProblem(await importing(place, [file, "--format", "msn"]), 2, "format_unknown");
    expectProblem(await importing(place, [file, "--from", "nobody"]), 2, "model_invalid");
    expectProblem(await importing(place, [file, "--from", "openai/gpt-5.6"]), 2, "api_key_missing");
    expect(existsSync(place.sessions)).toBe(false);
  });
});

const picture = (n: number): string =>
  `data:image/png;base64,${Buffer.alloc(1024 * 1024, n + 1).toString("base64")}`;

/** Many pictures, so that writing takes a while: each becomes a blob. */
function manyPictures(): string {
  const content = Array.from({ length: 40 }, (_, n) => ({
    type: "image_url",
    image_url: { url: picture(n) },
  }));
  return JSON.stringify([{ role: "user", content }]);
}

/** Undefined if the command was done before the signal reached it: then its session is whole, and is removed again. */
async function stopped(place: Place, file: string, signal: NodeJS.Signals): Promise<Ran | undefined> {
  const running = start(place, ["sessions", "import", file]);
  const begun = (): boolean =>
    existsSync(place.sessions) &&
    readdirSync(place.sessions).some((name) => name.includes(`.${running.child.pid}.tmp`));
  while (!begun() && running.child.exitCode === null)
    await new Promise((next) => {
      setImmediate(next);
    });
  running.kill(signal);
  const ran = await running.ended;
  const whole = readdirSync(place.sessions).find((name) => name.endsWith(".jsonl"));
  if (whole === undefined) return ran;
  const id = whole.slice(0, -".jsonl".length);
  expect(await run(place, ["sessions", "rm", id, "--yes"])).toMatchObject({ code: 0 });
  return undefined;
}

test("a kill or a signal in the middle of writing leaves no session, and the next import succeeds", async () => {
  const place = newPlace();
  const file = place.write("pictures.json", manyPictures());
  for (const signal of ["SIGKILL", "SIGINT"] as const) {
    let ran: Ran | undefined;
    while (ran === undefined) ran = await stopped(place, file, signal);
    const expected = signal === "SIGKILL" ? [null, signal, ""] : [130, null, ""];
    expect([ran.code, ran.signal, ran.out]).toEqual(expected);
  }
  const ran = await importing(place, [file]);
  expect(ran.code, ran.err).toBe(0);
  const names = treeOf(place.sessions).map((path) => path.slice(place.sessions.length));
  expect(names.filter((name) => /\.tmp|\.new/.test(name))).toEqual([]);
  expect(names.filter((name) => /\.blobs\/[0-9a-f]{64}$/.test(name))).toHaveLength(40);
  const { events } = await onlyLog(place);
  const [message] = eventsOf(events, "user_message");
  expect(message?.content.every((part) => "blob" in part)).toBe(true);
  expect(readFileSync(join(place.sessions, `${ran.out.trim()}.jsonl`)).length).toBeLessThan(64 * 1024);
});
