/**
 * Plants a break of each law in a copy of the repository and expects the tests that guard the law to turn red.
 * Never touches the working tree. Ends with 1 if any break is not caught, or if the tests are red without one.
 *
 *   node scripts/break-laws.mjs            all laws
 *   node scripts/break-laws.mjs 5 6        only these
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { breaks, laws } from "./break-laws/breaks.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wanted = process.argv.slice(2).map(Number);
const isWanted = ({ law }) => wanted.length === 0 || wanted.includes(law);
const print = (text) => process.stdout.write(`${text}\n`);

const copy = mkdtempSync(join(tmpdir(), "throughline-laws-"));
try {
  process.exitCode = main();
} finally {
  rmSync(copy, { recursive: true, force: true });
}

function main() {
  for (const name of ["src", "test", "package.json", "tsconfig.json"]) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  // Not the repository's own: its global set-up builds the command line, which no guard of a law needs.
  writeFileSync(
    join(copy, "vitest.config.mjs"),
    'export default { test: { include: ["test/**/*.test.ts"] } };\n',
  );
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

  const chosen = breaks.filter(isWanted);
  const guards = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const before = run(guards);
  if (before.failed.length > 0 || before.problem !== undefined) {
    print("The tests are red without any break, so a red one would show nothing:");
    for (const name of before.failed) print(`  ${name}`);
    if (before.problem !== undefined) print(before.problem);
    return 1;
  }
  print(`${guards.length} test files are green without a break.\n`);

  let missed = 0;
  for (const { law, title } of laws.filter(isWanted)) {
    print(`law ${law}  ${title}`);
    for (const one of chosen.filter((other) => other.law === law)) {
      const results = attempt(one);
      print(`  break  ${one.what}  (${one.file})`);
      for (const { test, verdict, by } of results) print(`    ${verdict.padEnd(6)} ${test}${by}`);
      // One red test is enough to guard a law; one that stays green beside it is worth knowing about.
      if (!results.some(({ verdict }) => verdict === "red")) missed += 1;
    }
  }
  print(
    missed === 0
      ? `\nAll ${chosen.length} breaks are caught.`
      : `\n${missed} of ${chosen.length} breaks are NOT caught.`,
  );
  return missed === 0 ? 0 : 1;
}

function attempt({ file, find, replace, tests }) {
  const path = join(copy, file);
  const whole = readFileSync(path, "utf8");
  if (whole.split(find).length !== 2) {
    return [{ test: file, verdict: "STALE", by: ": the text to replace does not stand there exactly once" }];
  }
  writeFileSync(
    path,
    whole.replace(find, () => replace),
  );
  try {
    return tests.map((test) => {
      const { failed, problem } = run([test]);
      if (problem !== undefined) return { test, verdict: "ERROR", by: `: ${problem}` };
      return failed.length > 0
        ? { test, verdict: "red", by: `: ${failed[0]}` }
        : { test, verdict: "GREEN", by: "" };
    });
  } finally {
    writeFileSync(path, whole);
  }
}

/** The last cause of a failure: of a property, the assertion and not the list of its inputs. */
function shortly(messages) {
  const lines = messages.join("\n").split("\n");
  const line = lines.findLast((one) => /Error:|expected/.test(one)) ?? lines[0] ?? "";
  return line.trim().slice(0, 160);
}

/** The names of the failed tests. A file that cannot even be loaded is a problem of the break, not a red test. */
function run(files) {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [vitest, "run", "--root", copy, "--reporter=json", `--outputFile=${report}`, ...files],
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
  // An error outside any test (an uncaught exception) makes the run red as well.
  if (failed.length === 0 && !parsed.success) return { failed: ["an error outside the tests"] };
  return { failed };
}
