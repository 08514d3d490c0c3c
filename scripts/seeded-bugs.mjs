/**
 * Tests the tests: plants each seeded bug in a copy of the repository and expects a named test to fail. Exits with 1 if a
 * bug is not caught, or if the tests fail without one.
 *
 *   node scripts/seeded-bugs.mjs              all of them
 *   node scripts/seeded-bugs.mjs sync token   those whose description contains one of these
 */
import { makeCopy, unavailable } from "./planting.mjs";
import { bugs } from "./seeded-bugs/bugs.mjs";

const wanted = process.argv.slice(2);
const print = (text) => process.stdout.write(`${text}\n`);

const copy = makeCopy("seeded");
try {
  process.exitCode = main();
} finally {
  copy.remove();
}

function main() {
  const asked = bugs.filter(
    ({ what, file }) => wanted.length === 0 || wanted.some((word) => `${what} ${file}`.includes(word)),
  );
  const chosen = asked.filter((bug) => unavailable(bug) === undefined);
  const left = new Set(asked.flatMap((bug) => unavailable(bug) ?? []));
  for (const why of left)
    print(`${asked.filter((bug) => unavailable(bug) === why).length} bugs are left out, because ${why}\n`);
  const guards = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const before = copy.run(chosen);
  if (before.failed.length > 0 || before.problem !== undefined) {
    print("The tests fail without any bug, so a failure would prove nothing:");
    for (const name of before.failed) print(`  ${name}`);
    if (before.problem !== undefined) print(before.problem);
    return 1;
  }
  print(`${guards.length} test files pass without a bug.\n`);

  let missed = 0;
  for (const one of chosen) {
    print(`bug  ${one.what}  (${one.file})`);
    const results = copy.attempt(one);
    for (const { test, verdict, by } of results) print(`  ${verdict.padEnd(6)} ${test}${by}`);
    if (!results.some(({ verdict }) => verdict === "red")) missed += 1;
  }
  print(
    missed === 0
      ? `\nAll ${chosen.length} seeded bugs are caught.`
      : `\n${missed} of ${chosen.length} seeded bugs are NOT caught.`,
  );
  return missed === 0 ? 0 : 1;
}
