/**
 * Plants a bug in a copy of the repository and reports which tests fail. Never touches the working tree. `find` must occur
 * in the file exactly once: a bug that no longer fits is an error, not a pass.
 *
 * `config` names the configuration of the tests, if it is not the usual one, and `named` the beginning of the name of the
 * test that must fail. Without it, any test of the files will do. `needs` names a program besides a PostgreSQL server.
 *
 * @typedef {{what: string, file: string, find: string, replace: string, tests: string[], config?: string, named?: string,
 *   needs?: string}} Planted
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A copy of the repository with the methods `attempt`, `run` and `remove`. */
export function makeCopy(name) {
  const copy = mkdtempSync(join(tmpdir(), `throughline-${name}-`));
  // Includes the files that the tests' global set-up builds from, so that child processes run the planted bug too.
  for (const part of [
    "src",
    "test",
    "docs",
    "evals",
    "scripts",
    "package.json",
    "tsconfig.json",
    "vitest.config.ts",
    "vitest.postgres.config.ts",
  ]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return {
    /** The names of the tests that fail without a bug, for each configuration. */
    run: (planted) => runAll(copy, planted),
    attempt: (planted) => attempt(copy, planted),
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

/** Why a bug cannot be tried on this machine. */
export function unavailable({ config, needs }) {
  if (config !== "vitest.postgres.config.ts") return undefined;
  if (!hasServer()) return "there is no PostgreSQL server: apt-get install postgresql";
  return needs === undefined || hasProgram(needs)
    ? undefined
    : `there is no ${needs}: apt-get install ${needs}`;
}

function hasServer() {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  return (
    process.env["THROUGHLINE_TEST_POSTGRES"] !== undefined ||
    hasProgram("initdb") ||
    versions.some((version) => existsSync(join(debian, version, "bin", "initdb")))
  );
}

function hasProgram(name) {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.some((folder) => existsSync(join(folder, name)));
}

function runAll(copy, planted) {
  const results = [...new Set(planted.map(({ config }) => config))].map((config) => {
    const own = planted.filter((one) => one.config === config);
    return run(copy, [...new Set(own.flatMap(({ tests }) => tests))], flagsOf({ config }));
  });
  const problems = results.flatMap(({ problem }) => problem ?? []);
  return {
    failed: results.flatMap(({ failed }) => failed),
    problem: problems.length === 0 ? undefined : problems.join("\n"),
  };
}

function flagsOf({ config, named }) {
  return [
    ...(config === undefined ? [] : ["--config", config]),
    ...(named === undefined ? [] : ["--testNamePattern", named.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")]),
  ];
}

function attempt(copy, { file, find, replace, tests, ...how }) {
  const path = join(copy, file);
  const whole = readFileSync(path, "utf8");
  if (whole.split(find).length !== 2) {
    return [{ test: file, verdict: "STALE", by: ": the text to replace does not occur exactly once" }];
  }
  writeFileSync(
    path,
    whole.replace(find, () => replace),
  );
  try {
    return tests.map((test) => {
      const { failed, problem } = run(copy, [test], ["--bail=1", ...flagsOf(how)]); // one failing test is enough
      if (problem !== undefined) return { test, verdict: "ERROR", by: `: ${problem}` };
      return failed.length > 0
        ? { test, verdict: "red", by: `: ${failed[0]}` }
        : { test, verdict: "GREEN", by: "" };
    });
  } finally {
    writeFileSync(path, whole);
  }
}

/** The last cause of a failure. For a property this is the assertion, not the list of inputs. */
function shortly(messages) {
  const lines = messages.join("\n").split("\n");
  const line = lines.findLast((one) => /Error:|expected/.test(one)) ?? lines[0] ?? "";
  return line.trim().slice(0, 160);
}

/** The names of the failed tests. A file that cannot be loaded is a problem with the planted bug, not a failed test. */
function run(copy, files, flags = []) {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [vitest, "run", "--root", copy, "--reporter=json", `--outputFile=${report}`, ...flags, ...files],
    { cwd: copy, encoding: "utf8", env: { ...process.env, CI: "1" } },
  );
  let parsed;
  try {
    parsed = JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return { failed: [], problem: `no report:\n${stdout}\n${stderr}`.slice(0, 2000) };
  }
  const results = parsed.testResults.flatMap((file) => file.assertionResults);
  const unloaded = parsed.testResults.find((file) => file.assertionResults.length === 0);
  if (unloaded !== undefined) return { failed: [], problem: `cannot be loaded: ${unloaded.message}` };
  const wasRun = results.some(({ status }) => status === "passed" || status === "failed");
  if (!wasRun) return { failed: [], problem: "no test was run" };
  const failed = results
    .filter(({ status }) => status === "failed")
    .map(({ fullName, failureMessages }) => `${fullName}\n           ${shortly(failureMessages)}`);
  // An error outside any test (an uncaught exception) also fails the run.
  if (failed.length === 0 && !parsed.success) return { failed: ["an error outside the tests"] };
  return { failed };
}
