/**
 * Runs the official conformance scenarios for MCP clients, of both eras, against driver.mjs, which uses our client. Each
 * scenario runs alone, on Node 24. Exits with 1 if one fails that known-failures.mjs does not list with a reason, or
 * passes although it is listed. Needs a network: npm installs the suite and the Node.
 *
 *   npm run test:mcp                        all scenarios
 *   npm run test:mcp -- --only auth/iss     those whose name contains one of these words (separated by commas)
 *   npm run test:mcp -- --show              also prints the checks that failed, and what the driver said
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { build } from "esbuild";
import { parse } from "yaml";

import { knownFailures } from "./mcp-conformance/known-failures.mjs";
import { run, runMain } from "./release/commands.mjs";
import { StepError, UsageError } from "./release/errors.mjs";

const SUITE = "@modelcontextprotocol/conformance";
const SUITE_VERSION = "0.2.0-alpha.12";
const REVISIONS = ["2025-11-25", "2026-07-28"];
const INSTALL = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
/** How long one scenario may take. On a busy machine a process alone takes seconds to start. */
const SCENARIO_MS = 120_000;
/** How many scenarios run at a time. */
const LANES = 2;

const report = (line) => process.stdout.write(`${line}\n`);

await runMain("test-mcp", async () => {
  const { only, show } = optionsOf(process.argv.slice(2));
  const folder = mkdtempSync(join(tmpdir(), "throughline-mcp-"));
  try {
    const tools = await prepare(folder);
    const scenarios = REVISIONS.flatMap((revision) => scenariosOf(tools.suite, revision)).filter(
      ({ name }) => only?.some((word) => name.includes(word)) ?? true,
    );
    if (scenarios.length === 0) throw new UsageError("no scenario has this name");
    const results = await inLanes(scenarios, (scenario) => runScenario(scenario, tools, folder));
    judge(results, show);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
});

function optionsOf(args) {
  try {
    const { values } = parseArgs({
      args,
      options: { only: { type: "string" }, show: { type: "boolean", default: false } },
    });
    return { only: values.only?.split(","), show: values.show };
  } catch (error) {
    throw new UsageError(error.message);
  }
}

/** Installs the suite and its Node, and bundles the driver, so that it runs away from this repository. */
async function prepare(folder) {
  const platform = `node-${process.platform}-${process.arch}`;
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  await run("npm", [...INSTALL, `${SUITE}@${SUITE_VERSION}`, `${platform}@24`], { cwd: folder });
  const node = join(folder, "node_modules", platform, "bin/node");
  const suite = join(folder, "node_modules", SUITE);
  const driver = join(folder, "driver.mjs");
  await build({
    entryPoints: [resolve(import.meta.dirname, "mcp-conformance/driver.mjs")],
    outfile: driver,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    banner: {
      js: 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);',
    },
  });
  const { stdout } = await run(node, ["--version"]);
  report(`${SUITE} ${SUITE_VERSION}, Node ${stdout.trim()}\n`);
  return { node, suite, driver };
}

/** What a revision requires, and what the suite runs beside it without counting it. */
function scenariosOf(suite, revision) {
  const { client, not_scored } = parse(readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8"));
  const more = not_scored.filter(({ leg }) => leg === "client").map(({ scenario }) => scenario);
  return [
    ...client.map((name) => ({ name, revision, required: true })),
    ...more.map((name) => ({ name, revision, required: false })),
  ];
}

async function runScenario({ name, revision, required }, { node, suite, driver }, folder) {
  const out = join(folder, "results", revision, name.replaceAll("/", "_"));
  mkdirSync(out, { recursive: true });
  const args = [
    join(suite, "dist/index.js"),
    "client",
    "--command",
    `${node} ${driver}`,
    "--scenario",
    name,
    "--spec-version",
    revision,
    "--timeout",
    String(SCENARIO_MS),
    "--output-dir",
    out,
    "--force",
  ];
  let said = "";
  try {
    await run(node, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } });
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    said = error.message;
  }
  const file = readdirSync(out, { recursive: true }).find((one) => one.endsWith("checks.json"));
  const checks = file === undefined ? [] : JSON.parse(readFileSync(join(out, file), "utf8"));
  const stderr = file === undefined ? "" : join(out, dirname(file), "stderr.txt");
  const failed = checks.filter(({ status }) => status === "FAILURE");
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  return {
    name,
    revision,
    required,
    passed,
    failed,
    // The suite also fails a client that took too long, and one that should have failed and did not.
    ok: said === "" && failed.length === 0 && passed > 0,
    said: `${said}\n${existsSync(stderr) ? readFileSync(stderr, "utf8") : ""}`.trim(),
  };
}

async function inLanes(scenarios, work) {
  const left = scenarios.map((scenario, at) => ({ scenario, at }));
  const results = [];
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      results[next.at] = await work(next.scenario);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

function judge(results, show) {
  const wide = Math.max(...results.map(({ name }) => name.length));
  const problems = [];
  report(`${"scenario".padEnd(wide)}  era         passed  failed`);
  for (const { name, revision, required, passed, failed, ok, said } of results) {
    const known = knownFailures[name];
    const verdict = ok ? "" : known === undefined ? "  FAILED" : `  known: ${known}`;
    const scored = required ? "" : "  (not required)";
    const counts = `${String(passed).padStart(6)}  ${String(failed.length).padStart(6)}`;
    report(`${name.padEnd(wide)}  ${revision}  ${counts}${scored}${verdict}`);
    if (ok === (known === undefined)) continue;
    problems.push(
      `${name} (${revision}) ${ok ? "passes: take it off the list of known failures" : "failed"}`,
    );
    if (!show) continue;
    for (const { id, errorMessage, description } of failed)
      report(`    ${id}: ${errorMessage ?? description}`);
    report(said.replaceAll(/^/gm, "    "));
  }
  for (const revision of REVISIONS) {
    const required = results.filter((one) => one.revision === revision && one.required);
    const plain = required.filter(({ name }) => !name.startsWith("auth/"));
    report(`\n${revision}: ${share(required)} required scenarios pass; without a login ${share(plain)}`);
  }
  if (problems.length > 0) throw new StepError(`\n${problems.join("\n")}`);
}

function share(results) {
  return `${results.filter(({ ok }) => ok).length} of ${results.length}`;
}
