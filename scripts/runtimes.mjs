/**
 * Tests the packed package beyond plain Node: bundled with esbuild and Vite, and on Bun and Deno. Needs a network: npm
 * installs the package's dependencies and the runtimes.
 *
 *   npm run test:runtimes
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { build as esbuild } from "esbuild";
import { build as vite } from "vite";

import { end, run, runMain, start } from "./release/commands.mjs";
import { StepError, UsageError } from "./release/errors.mjs";
import { buildAndPack } from "./release/pack.mjs";

const report = (line) => process.stdout.write(`${line}\n`);
/** How long a program may take to print a word. */
const LIMIT_MS = 60_000;
const INSTALL = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];

await runMain("test-runtimes", async () => {
  if (process.argv.length > 2) throw new UsageError("npm run test:runtimes takes no arguments");
  const folder = mkdtempSync(join(tmpdir(), "throughline-runtimes-"));
  try {
    await testIn(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
});

async function testIn(folder) {
  const { tarball, summary } = await buildAndPack(process.cwd(), folder);
  report(`✓ packed ${summary}`);
  const app = join(folder, "app");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{ "private": true, "type": "module" }\n');
  copyFileSync(resolve("scripts/runtimes/program.mjs"), join(app, "program.mjs"));
  await run("npm", [...INSTALL, tarball], { cwd: app });
  const program = join(app, "program.mjs");
  const node = { name: `Node ${process.version}`, command: [process.execPath] };

  for (const [name, bundle] of Object.entries(await bundled(app))) {
    await testProgram({ ...node, name: `${name}, on ${node.name}` }, bundle, folder);
  }
  const others = await otherRuntimes(join(folder, "runtimes"));
  for (const runtime of [node, ...others]) await testProgram(runtime, program, folder);
  for (const other of others) {
    await testLock(node, other, program, folder);
    await testLock(other, node, program, folder);
    await testLock(other, other, program, folder);
  }
}

/** The program and the package in one bundle each. Away from the package, so that nothing else can be imported. */
async function bundled(app) {
  const outside = mkdtempSync(join(app, "..", "bundles-"));
  const entry = join(app, "program.mjs");
  const out = join(outside, "esbuild.mjs");
  const common = { bundle: true, platform: "node", format: "esm", target: "node20", logLevel: "error" };
  await esbuild({ ...common, entryPoints: [entry], outfile: out });
  await vite({
    root: app,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      target: "node20",
      outDir: join(outside, "vite"),
      rollupOptions: { output: { entryFileNames: "program.mjs" } },
    },
  });
  return { "esbuild bundle": out, "Vite bundle": join(outside, "vite", "program.mjs") };
}

/** As npm packages them, without their install scripts: those only copy the program. */
async function otherRuntimes(folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  await run("npm", [...INSTALL, "bun", "deno"], { cwd: folder });
  const bun = programOf(folder, "bun", "bin/bun");
  const deno = programOf(folder, "deno", "deno");
  return [
    { name: `Bun ${await versionOf(bun)}`, command: [bun] },
    { name: `Deno ${await versionOf(deno)}`, command: [deno, "run", "--allow-all", "--no-prompt"] },
  ];
}

async function versionOf(program) {
  const { stdout } = await run(program, ["--version"]);
  return /\d+\.\d+\.\d+/.exec(stdout)?.[0];
}

/** The package that holds the program for this platform is an optional dependency of the one with the name. */
function programOf(folder, name, path) {
  const { optionalDependencies = {} } = JSON.parse(
    readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"),
  );
  const found = Object.keys(optionalDependencies)
    .map((one) => join(folder, "node_modules", one, path))
    .find((one) => existsSync(one));
  if (found === undefined) throw new StepError(`npm installed no ${name} for this platform`);
  return found;
}

async function testProgram(runtime, program, folder) {
  const sessions = mkdtempSync(join(folder, "sessions-"));
  await runOn(runtime, program, ["check", sessions], folder);
  const dying = startOn(runtime, program, ["die", sessions], folder);
  await printed(dying, "running");
  await killed(dying);
  await runOn(runtime, program, ["resume", sessions], folder);
  const effects = readFileSync(join(sessions, "effects.txt"), "utf8").trim().split("\n").length;
  if (effects !== 1) throw new StepError(`${runtime.name}: the tool ran ${effects} times after kill -9`);
  report(
    `✓ ${runtime.name}: tools, typed output, thoughts, cancel, built-in tools, sub-agents, resume after kill -9`,
  );
}

/** The lock holds between processes, and the kernel releases it when its holder is killed. */
async function testLock(holder, other, program, folder) {
  const sessions = mkdtempSync(join(folder, "sessions-"));
  const holding = startOn(holder, program, ["hold", sessions], folder);
  await printed(holding, "held");
  const whileHeld = await runOn(other, program, ["try", sessions], folder);
  await killed(holding);
  const after = await runOn(other, program, ["try", sessions], folder);
  const got = `${whileHeld.stdout} ${after.stdout}`.match(/locked|free/g)?.join(", ");
  if (got !== "locked, free") throw new StepError(`${other.name} beside ${holder.name}: the lock was ${got}`);
  report(`✓ ${other.name} finds a session locked by ${holder.name}, and free once that is killed`);
}

function optionsFor(folder) {
  return {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, DENO_DIR: join(folder, "deno"), NO_COLOR: "1" },
  };
}

function startOn({ command: [program, ...flags] }, file, args, folder) {
  return start(program, [...flags, file, ...args], optionsFor(folder));
}

function runOn({ command: [program, ...flags] }, file, args, folder) {
  return run(program, [...flags, file, ...args], optionsFor(folder));
}

function printed(child, word) {
  return new Promise((done, fail) => {
    let text = "";
    const timer = setTimeout(
      () => fail(new StepError(`it did not print "${word}" in time: ${text}`)),
      LIMIT_MS,
    );
    const add = (chunk) => {
      text += chunk;
      if (!text.includes(word)) return;
      clearTimeout(timer);
      done();
    };
    child.stdout.setEncoding("utf8").on("data", add);
    child.stderr.setEncoding("utf8").on("data", add);
    child.once("close", () => fail(new StepError(`it ended without printing "${word}": ${text}`)));
  });
}

function killed(child) {
  const closed = new Promise((done) => {
    child.once("close", done);
  });
  end(child, "SIGKILL");
  return closed;
}
