/**
 * Plants a bug in a copy of the repository and reports which tests fail. Never touches the working tree. `find` must occur
 * in the file exactly once: a bug that no longer fits is an error, not a pass.
 *
 * @typedef {{what: string, file: string, find: string, replace: string, tests: string[]}} Planted
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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
  ]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return {
    run: (files) => run(copy, files),
    attempt: (planted) => attempt(copy, planted),
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

function attempt(copy, { file, find, replace, tests }) {
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
      const { failed, problem } = run(copy, [test], ["--bail=1"]); // one failing test is enough
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
  if (results.length === 0) return { failed: [], problem: "no test was run" };
  const failed = results
    .filter(({ status }) => status === "failed")
    .map(({ fullName, failureMessages }) => `${fullName}\n           ${shortly(failureMessages)}`);
  // An error outside any test (an uncaught exception) also fails the run.
  if (failed.length === 0 && !parsed.success) return { failed: ["an error outside the tests"] };
  return { failed };
}
