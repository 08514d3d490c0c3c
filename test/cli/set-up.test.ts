/** `models`, `doctor`, `completion`, and the help of every command. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { COMMANDS } from "../../src/interface/cli/command-table.ts";
import { afterTest } from "../support/clean-up.ts";
import {
  asOrdinaryUser,
  emulatorOf,
  expectProblem,
  newPlace,
  onlyLog,
  run,
  start,
  treeOf,
} from "./harness.ts";

/** Another user takes a lock that is not theirs, and gives nothing about itself that we would repeat. */
const STRANGER = `
const [folder] = process.argv.slice(1);
require("node:fs").mkdirSync(folder);
require("node:net")
  .createServer((socket) => socket.end("holds 1 \\u001b[2J"))
  .listen(folder + "/0", () => {
    require("node:fs").chmodSync(folder, 0o777);
    console.log("listening");
  });`;

interface Report {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly status: string;
    readonly message: string;
    readonly fix?: string;
  }[];
}

describe("models", () => {
  test("shows providers, keys without revealing them, prices with their date, efforts", async () => {
    const place = newPlace();
    const ran = await run(place, ["models", "--json"], { env: { OPENAI_API_KEY: "sk-canary-models-1" } });
    expect(ran.code).toBe(0);
    const { providers, efforts } = JSON.parse(ran.out) as {
      readonly providers: readonly Record<string, unknown>[];
      readonly efforts: readonly string[];
    };
    expect(providers.find(({ provider }) => provider === "openai")).toMatchObject({
      key: "present",
      keyVariable: "OPENAI_API_KEY",
      dialect: "openai-responses",
    });
    expect(providers.find(({ provider }) => provider === "anthropic")).toMatchObject({ key: "missing" });
    expect(providers.find(({ provider }) => provider === "ollama")).toMatchObject({ key: "not needed" });
    expect(efforts).toContain("xhigh");
    expect(ran.out).not.toContain("canary");
    const text = await run(place, ["models", "openai"], { env: { OPENAI_API_KEY: "sk-canary-models-1" } });
    expect(text.out).toMatch(/^openai · key: OPENAI_API_KEY present · openai-responses/);
    expect(text.out).toMatch(/openai\/gpt-5\.6 · \$4 in, \$0\.4 cached, \$20 out per million tokens \(2026-/);
    expect(text.out).not.toContain("canary");
    expect((await run(place, ["models", "openai/some-other"])).out).toContain("price unknown");
  });

  test("shows an endpoint from the environment without the secrets in its URL", async () => {
    const env = { OPENAI_BASE_URL: "http://me:hunter2@127.0.0.1:9/v1?key=hunter2" };
    const ran = await run(newPlace(), ["models", "openai"], { env });
    expect(`${ran.out}${ran.err}`).not.toContain("hunter2");
  });

  test("refuses an unknown name and lists the known ones", async () => {
    const ran = await run(newPlace(), ["models", "nope"]);
    expectProblem(ran, 2, "model_invalid");
    expect(ran.err).toContain("emulator, openai");
  });
});

describe("doctor", () => {
  test("exits with 0 and writes nothing if nothing is wrong", async () => {
    const place = newPlace();
    const ran = await run(place, ["doctor", "--offline"]);
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toMatch(/^ok {3}versions {3}throughline /);
    expect(ran.out).toMatch(/no problems found\n$/);
    expect(treeOf(place.home)).toEqual([]);
  });

  test("reports an endpoint that answers, one that does not, and keys that are set, without revealing them", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    mkdirSync(place.home);
    const nobody = {
      dialect: "openai-chat",
      baseUrl: "http://127.0.0.1:9/v1",
      headers: { "x-token": "canary-header" },
    };
    writeFileSync(join(place.home, "config.json"), JSON.stringify({ providers: { nobody } }), {
      mode: 0o600,
    });
    const ran = await run(place, ["doctor", "--json"], {
      env: { ...env, OPENAI_API_KEY: "sk-canary-doctor-1" },
    });
    expect(ran.code).toBe(1);
    const { ok, findings } = JSON.parse(ran.out) as Report;
    expect(ok).toBe(false);
    const told = (check: string, status: string) =>
      findings.filter((one) => one.check === check && one.status === status).map(({ message }) => message);
    expect(told("keys", "ok")).toEqual(["OPENAI_API_KEY is set (openai, openai-chat)"]);
    expect(told("endpoints", "bad")).toEqual([
      expect.stringMatching(/^nobody at http:\/\/127\.0\.0\.1:9 cannot be reached/),
    ]);
    expect(told("endpoints", "ok").length).toBe(2);
    expect(told("clock", "bad")).toEqual([]);
    expect(findings.filter(({ status, fix }) => status === "bad" && fix === undefined)).toEqual([]);
    expect(ran.out).not.toContain("canary");
  });

  test("reports a key with white space, wide modes, a damaged session and a writer, each with what to do", async () => {
    const place = newPlace();
    place.damaged = true;
    const { env } = await emulatorOf();
    await run(place, ["-p", "hello"], { env });
    const { id, file } = await onlyLog(place);
    const copy = join(place.sessions, "broken.jsonl");
    writeFileSync(copy, readFileSync(file, "utf8").replace("hello", "hollo"));
    chmodSync(copy, 0o644);
    const stalled = await emulatorOf({
      faults: [{ type: "stall", at: { where: "after", unit: "event", index: 4 } }],
    });
    const running = start(place, ["-p", "--json", "-r", id, "more"], { env: stalled.env });
    await running.event("response_start");
    let findings: Report["findings"] = [];
    const locks = async (): Promise<string | undefined> => {
      const spoilt = { OPENAI_API_KEY: "sk-a b\n" };
      const ran = await run(place, ["doctor", "--offline", "--json"], { env: spoilt });
      expect(ran.code).toBe(1);
      ({ findings } = JSON.parse(ran.out) as Report);
      return findings.find(({ check }) => check === "locks")?.message;
    };
    // A writer that is too busy to identify itself at once is reported as "another process".
    await expect.poll(locks).toBe(`session ${id} is being written by process ${running.child.pid}`);
    running.kill("SIGINT");
    await running.ended;
    const bad = findings.filter(({ status }) => status === "bad").map(({ check, fix }) => [check, fix]);
    expect(bad).toEqual([
      ["keys", "set OPENAI_API_KEY again, without spaces or line breaks"],
      ["modes", `chmod -R go-rwx ${place.sessions}`],
      ["sessions", "throughline repair broken saves the undamaged part to a new session"],
    ]);
  });

  test("reports other users who can write to the folder, and one of them who holds a session", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    await run(place, ["-p", "hello"], { env });
    const { id } = await onlyLog(place);
    chmodSync(place.sessions, 0o777);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) {
      chmodSync(join(place.work, ".."), 0o755);
      for (const folder of [place.home, join(place.sessions, "..")]) chmodSync(folder, 0o755);
      const stranger = spawn(process.execPath, ["-e", STRANGER, join(place.sessions, `${id}.lock`)], {
        uid: 65_534,
        gid: 65_534,
        stdio: ["ignore", "pipe", "inherit"],
      });
      afterTest(() => void stranger.kill("SIGKILL"));
      await once(stranger.stdout, "data");
    }
    const ran = await run(place, ["doctor", "--offline", "--json"]);
    const { findings } = JSON.parse(ran.out) as Report;
    const bad = findings.flatMap(({ check, status, message, fix }) =>
      status === "bad" ? [{ check, message, fix }] : [],
    );
    expect(bad).toContainEqual({
      check: "modes",
      message: `other users can write to ${place.sessions}: they can lock or remove your sessions`,
      fix: `chmod 700 ${place.sessions}`,
    });
    expect(bad.filter(({ check }) => check === "locks")).toEqual(
      isRoot
        ? [
            {
              check: "locks",
              message: `session ${id} is being written by another process of user 65534`,
              fix: `if that user should not write your sessions: chmod 700 ${place.sessions}`,
            },
          ]
        : [],
    );
  });

  test("does not call a session damaged if it lacks permission to read it, and explains a folder that it may not use", async () => {
    const place = newPlace();
    place.damaged = true;
    const { env } = await emulatorOf();
    await run(place, ["-p", "hello"], { env });
    const { id, file } = await onlyLog(place);
    const user = asOrdinaryUser(place);
    chmodSync(file, 0);
    const findings = async (): Promise<Report["findings"]> =>
      (JSON.parse((await run(place, ["doctor", "--offline", "--json"], user)).out) as Report).findings;
    expect(await findings()).toContainEqual({
      check: "sessions",
      status: "bad",
      message: `session ${id} cannot be read: permission denied`,
      fix: `chmod u+rw ${file}`,
    });
    chmodSync(place.sessions, 0);
    const folder = (await findings()).find(({ check }) => check === "folder");
    chmodSync(place.sessions, 0o700);
    expect(folder?.message).toBe(`${place.sessions} cannot be used: permission denied`);
  });
});

const script = (shell: string) => run(newPlace(), ["completion", shell]);

describe("completion", () => {
  test("bash completes commands, subcommands, flags and their values", async () => {
    const { out, code } = await script("bash");
    expect(code).toBe(0);
    const complete = (...words: readonly string[]): readonly string[] => {
      const list = words.map((word) => `'${word}'`).join(" ");
      const { stdout, stderr } = spawnSync(
        "bash",
        [
          "-c",
          `${out}\nCOMP_WORDS=(throughline ${list}); COMP_CWORD=${words.length}; _throughline; printf '%s\\n' "\${COMPREPLY[@]}"`,
        ],
        { encoding: "utf8" },
      );
      expect(stderr).toBe("");
      return stdout.trim().split("\n");
    };
    expect(complete("ins")).toEqual(["inspect"]);
    expect(complete("sessions", "re")).toEqual(["rename"]);
    expect(complete("sessions", "show", "--rea")).toEqual(["--reasoning"]);
    expect(complete("sessions", "show", "--reasoning", "")).toEqual(["full", "title", "none"]);
    expect(complete("-c", "--show-r")).toEqual(["--show-reasoning"]);
    expect([...complete("")].filter((word) => !word.startsWith("-")).toSorted()).toEqual(
      Object.keys(COMMANDS).toSorted(),
    );
  });

  test.for([["zsh"], ["fish"]])(
    "%s: names every command, and the shell parses it if it is installed",
    async ([shell = ""]) => {
      const { out, code } = await script(shell);
      expect(code).toBe(0);
      for (const name of Object.keys(COMMANDS)) expect(out).toContain(name);
      const found = ["/bin", "/usr/bin", "/usr/local/bin"]
        .map((folder) => join(folder, shell))
        .find((path) => existsSync(path));
      if (found === undefined) return;
      const read = spawnSync(found, ["-n"], { input: out, encoding: "utf8" });
      expect([read.status, read.stderr]).toEqual([0, ""]);
    },
  );

  test.for([[["completion"]], [["completion", "tcsh"]]])("refuses %j", async ([args = []]) => {
    expectProblem(await run(newPlace(), args), 2, "usage");
  });
});

test.concurrent.for(Object.keys(COMMANDS).map((name) => [name] as const))(
  "%s --help: a one-line description, examples, flags",
  async ([name]) => {
    const ran = await run(newPlace(), [name, "--help"]);
    expect(ran).toMatchObject({ code: 0, err: "" });
    const lines = ran.out.split("\n");
    expect(lines[0]).toMatch(new RegExp(`^Usage: (?:throughline )?${name}\\b`));
    expect(lines[2]).toMatch(/^\S.{10,110}$/);
    expect(ran.out).toMatch(/^(?:Examples?|Example: ).*/m);
    expect(ran.out).toMatch(/-h, --help/);
  },
);
