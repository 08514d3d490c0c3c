/**
 * Plants a break of each law in a copy of the repository and expects the tests that guard the law to fail. Never touches
 * the working tree. Exits with 1 if a break is not caught, or if the tests fail without one.
 *
 *   node scripts/break-laws.mjs            all laws
 *   node scripts/break-laws.mjs 5 6        only these
 */
import { breaks, laws } from "./break-laws/breaks.mjs";
import { makeCopy } from "./planting.mjs";

const wanted = process.argv.slice(2).map(Number);
const isWanted = ({ law }) => wanted.length === 0 || wanted.includes(law);
const print = (text) => process.stdout.write(`${text}\n`);

const copy = makeCopy("laws");
try {
  process.exitCode = main();
} finally {
  copy.remove();
}

function main() {
  const chosen = breaks.filter(isWanted);
  const guards = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const before = copy.run(chosen);
  if (before.failed.length > 0 || before.problem !== undefined) {
    print("The tests fail without any break, so a failure would prove nothing:");
    for (const name of before.failed) print(`  ${name}`);
    if (before.problem !== undefined) print(before.problem);
    return 1;
  }
  print(`${guards.length} test files pass without a break.\n`);

  let missed = 0;
  for (const { law, title } of laws.filter(isWanted)) {
    print(`law ${law}  ${title}`);
    for (const one of chosen.filter((other) => other.law === law)) {
      const results = copy.attempt(one);
      print(`  break  ${one.what}  (${one.file})`);
      for (const { test, verdict, by } of results) print(`    ${verdict.padEnd(6)} ${test}${by}`);
      // One failing test is enough to guard a law. Tests that still pass are worth knowing about.
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
