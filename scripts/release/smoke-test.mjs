/**
 * Tests a packed package as a user gets it: npm installs the tarball into an empty folder without install scripts, on each
 * Node, and the installed library and commands are used there. The commands run with an empty home folder and without the
 * environment's keys.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

import { end, run, start } from "./commands.mjs";
import { StepError } from "./errors.mjs";
import { typecheckConsumer } from "./typecheck-consumer.mjs";

const START_LIMIT_MS = 60_000;

/** @param {{ tarball: string, root: string, folder: string, nodes: readonly string[], report: (line: string) => void }} options */
export async function smokeTest({ tarball, root, folder, nodes, report }) {
  for (const [index, node] of nodes.entries()) {
    const place = join(folder, `node-${index}`);
    mkdirSync(join(place, "home"), { recursive: true });
    await testOn(node, place, tarball, report);
    // The types do not depend on the Node.
    if (index === 0) {
      await typecheckConsumer(place, root, entriesOf(place));
      report("✓ a TypeScript program that uses it type-checks");
    }
  }
}

async function testOn(node, place, tarball, report) {
  const path = [dirname(node), process.env.PATH].join(delimiter);
  const nodeVersion = (await run(node, ["--version"])).stdout.trim();
  report(`  Node ${nodeVersion}`);

  writeFileSync(join(place, "package.json"), '{ "private": true, "type": "module" }\n');
  const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", tarball];
  await run("npm", install, { cwd: place, env: { ...process.env, PATH: path } });
  report("✓ the tarball installs without install scripts");

  const home = join(place, "home");
  const options = { cwd: place, env: { PATH: path, HOME: home, THROUGHLINE_HOME: home } };
  const { version, bin } = manifestOf(place);

  const entries = entriesOf(place);
  writeFileSync(join(place, "import-all.mjs"), importAll(entries));
  await run(node, ["import-all.mjs"], options);
  report(`✓ every entry imports: ${entries.join(", ")}`);

  for (const name of Object.keys(bin)) {
    const { stdout } = await run(programOf(place, name), ["--version"], options);
    expectThat(
      stdout === `${version}\n`,
      `${name} --version printed ${JSON.stringify(stdout)}, not ${version}`,
    );
  }
  report(`✓ ${Object.keys(bin).join(" and ")} --version: ${version}`);

  const program = programOf(place, "throughline");
  const { stdout } = await run(program, ["-p", "Hello"], options);
  expectThat(
    /emulator/.test(stdout),
    `throughline -p did not answer on the emulator: ${JSON.stringify(stdout)}`,
  );
  report("✓ throughline -p answers without a key");

  for (const command of ["emulator", "serve"]) {
    await startsServer(program, command, options);
    report(`✓ throughline ${command} starts and answers`);
  }
}

function manifestOf(place) {
  return JSON.parse(readFileSync(join(place, "node_modules/throughline/package.json"), "utf8"));
}

/** What a program may import, for example `throughline/check`. */
function entriesOf(place) {
  return Object.keys(manifestOf(place).exports).map((key) => `throughline${key.slice(1)}`);
}

function programOf(place, name) {
  return join(place, "node_modules/.bin", name);
}

function importAll(entries) {
  const lines = entries.map((name) => {
    const attributes = name.endsWith(".json") ? ', { with: { type: "json" } }' : "";
    const problem = JSON.stringify(`${name} exports nothing`);
    return `if (Object.keys(await import(${JSON.stringify(name)}${attributes})).length === 0) throw new Error(${problem});`;
  });
  return `${lines.join("\n")}\n`;
}

/** The first line that the command prints is an address, and the server there answers. */
async function startsServer(program, command, options) {
  const child = start(program, [command, "--port", "0"], options);
  try {
    const address = await firstLine(child, command);
    expectThat(
      URL.canParse(address),
      `throughline ${command} printed no address, but ${JSON.stringify(address)}`,
    );
    const { origin } = new URL(address);
    const { status } = await fetch(origin, { signal: AbortSignal.timeout(START_LIMIT_MS) });
    expectThat(status < 500, `throughline ${command} answered with ${status}`);
  } finally {
    end(child);
  }
}

function firstLine(child, command) {
  return new Promise((resolve, reject) => {
    let text = "";
    let errors = "";
    const fail = (why) => reject(new StepError(`throughline ${command} ${why}\n${errors}`.trimEnd()));
    const timer = setTimeout(() => fail("printed no address in time"), START_LIMIT_MS);
    child.stderr.setEncoding("utf8").on("data", (piece) => (errors += piece));
    child.stdout.setEncoding("utf8").on("data", (piece) => {
      text += piece;
      if (!text.includes("\n")) return;
      clearTimeout(timer);
      resolve(text.slice(0, text.indexOf("\n")));
    });
    child.once("error", (error) => fail(`did not start: ${error.message}`));
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      fail(`ended with ${code ?? signal}`);
    });
  });
}

function expectThat(holds, message) {
  if (!holds) throw new StepError(message);
}
