/** A working directory that is gone, too few file descriptors, and a program that a bundler has put together. */

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { build } from "esbuild";
import { describe, expect, test } from "vitest";

import { PACKAGE } from "../support/built.ts";
import { CLI, environment, expectProblem, newPlace, type Place, type Ran } from "./harness.ts";

/** Runs a shell script in the place's working directory; `$NODE` and `$CLI` are the command. */
function shell(place: Place, script: string): Ran {
  const { status, signal, stdout, stderr } = spawnSync("bash", ["-c", script], {
    cwd: place.work,
    env: environment(place, { NODE: process.execPath, CLI }),
    input: "",
    encoding: "utf8",
  });
  return { code: status, signal, out: stdout, err: stderr };
}

async function bundled(place: Place, code: string): Promise<Ran> {
  mkdirSync(join(place.work, "node_modules"));
  symlinkSync(PACKAGE, join(place.work, "node_modules", "throughline"));
  place.write("program.mjs", code);
  await build({
    absWorkingDir: place.work,
    entryPoints: ["program.mjs"],
    outfile: join(place.work, "out", "program.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
  return shell(place, 'exec "$NODE" out/program.mjs');
}

describe("a working directory that no longer exists", () => {
  test.for(["-p hi", "config", "doctor", "resume --last", "serve --port 0"])(
    "%s says so and what to do",
    (args) => {
      const place = newPlace();
      const ran = shell(place, `mkdir gone && cd gone && rmdir ../gone && exec "$NODE" "$CLI" ${args}`);
      expect(ran.code).toBe(2);
      expect(ran.err).toMatch(
        /^throughline: the current directory no longer exists: .+ -C \[directory_not_found\]\n$/m,
      );
      expect(ran.err).not.toMatch(/uv_cwd|ENOENT/);
    },
  );

  test("-C leads out of it", () => {
    const place = newPlace();
    const script = `mkdir gone && cd gone && rmdir ../gone && exec "$NODE" "$CLI" -p -C "${place.work}" hi`;
    expect(shell(place, script)).toMatchObject({ code: 0 });
  });
});

describe("too few file descriptors", () => {
  test.for([20, 24, 25, 26, 32, 40, 44, 48, 64])(
    "a limit of %i is met or named, without a stack trace",
    (limit) => {
      const place = newPlace();
      place.write("probe.mjs", 'import "node:fs";\nprocess.stdout.write("started");\n');
      const probe = shell(place, `ulimit -n ${limit}; exec "$NODE" probe.mjs`);
      if (probe.out !== "started") return; // this Node itself cannot start with so few
      const ran = shell(place, `ulimit -n ${limit}; exec "$NODE" "$CLI" -p hi`);
      if (ran.code === 0) expect(ran.out).toContain("I am the Throughline emulator");
      else expectProblem(ran, 2, "too_many_files");
    },
  );
});

describe("a program bundled by esbuild as one ES module", () => {
  test("answers, with the built-in emulator in it", async () => {
    const ran = await bundled(
      newPlace(),
      `import { createAgent, emulator, memoryStore } from "throughline";
const session = await createAgent({ model: emulator() }).open({ store: memoryStore() });
const { status, error } = await session.send("hi").result();
console.log(JSON.stringify({ status, error }));
await session.close();
`,
    );
    expect(ran).toMatchObject({ code: 0, out: '{"status":"completed"}\n', err: "" });
  });

  test("a mistake in a program's own function is reported as one, not as a lost connection", async () => {
    const ran = await bundled(
      newPlace(),
      `import { createAgent, memoryStore, openai } from "throughline";
const key = () => { throw new Error('Dynamic require of "process" is not supported'); };
for (const options of [
  { model: openai("gpt-5.6", { apiKey: "sk-none" }), fetch: () => nowhere.fetch() },
  { model: openai("gpt-5.6", { apiKey: "sk-none" }), fetch: () => undefined.fetch() },
  { model: openai("gpt-5.6", { apiKey: key }) },
]) {
  const session = await createAgent(options).open({ store: memoryStore() });
  const { error } = await session.send("hi").result();
  console.log(error.code, error.message);
  await session.close();
}
`,
    );
    expect(ran.out.split("\n")).toEqual([
      "internal nowhere is not defined",
      "internal Cannot read properties of undefined (reading 'fetch')",
      'api_key_failed the apiKey function failed (Dynamic require of "process" is not supported), so the request was not sent',
      "",
    ]);
  });
});
