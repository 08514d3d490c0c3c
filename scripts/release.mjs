/** Makes a release: version, changelog, tested tarball, commit and tag. See HELP. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import {
  checkVersion,
  git,
  indent,
  publishProblems,
  readManifest,
  releaseProblems,
} from "./release/checks.mjs";
import { run, runMain, uninterrupted } from "./release/commands.mjs";
import { StepError, UsageError } from "./release/errors.mjs";
import { findNodes } from "./release/nodes.mjs";
import { buildAndPack } from "./release/pack.mjs";
import { cloneRepository, commitAndTag, takeBack, takeOver, writeVersion } from "./release/release-clone.mjs";
import { parseVersion } from "./release/semver.mjs";
import { smokeTest } from "./release/smoke-test.mjs";

const HELP = `Usage: npm run release -- VERSION [--dry-run] [--publish]

Makes a release from the branch main. In a temporary clone it sets the version in package.json and package-lock.json,
dates the Unreleased section of CHANGELOG.md, builds, packs, and tests the tarball in an empty folder on two Nodes. If
all of this works, it commits and tags vVERSION here. A failure or Ctrl-C leaves the repository as it was.

VERSION is greater than the version in package.json, or equal to it if that version has no tag.

  --dry-run   do everything in the clone and show the result; the repository stays as it is
  --publish   after that, publish the tested tarball with npm publish (a prerelease gets the tag "next")
  --help      show this text

Exit codes: 0 done, 1 a check or a step failed, 2 wrong arguments, 130 Ctrl-C.
`;

const report = (line) => process.stdout.write(`${line}\n`);

await runMain("release", async () => {
  const options = readArguments(process.argv.slice(2));
  if (options === undefined) {
    process.stdout.write(HELP);
    return;
  }
  const root = process.cwd();
  const manifest = await readManifest(root);
  await checkVersion(root, options.version, manifest.version);
  const problems = await releaseProblems(root, options, manifest);
  if (problems.length > 0) {
    throw new StepError(
      `cannot release ${options.version}:\n${problems.map((one) => `  - ${one}`).join("\n")}`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), "throughline-release-"));
  try {
    await release(root, folder, options, manifest);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

async function release(root, folder, { version, dryRun, publish }, manifest) {
  const clone = join(folder, "clone");
  const base = await git(root, "rev-parse", "HEAD");
  await cloneRepository(root, clone);
  report("✓ cloned the repository and installed its dependencies");
  writeVersion(clone, version, new Date().toISOString().slice(0, 10));
  report(`✓ version ${manifest.version === version ? version : `${manifest.version} → ${version}`}`);
  const { tarball, summary } = await buildAndPack(clone, folder);
  report(`✓ built and packed ${summary}`);
  const nodes = await findNodes(join(folder, "other-node"), report);
  await smokeTest({ tarball, root: clone, folder, nodes, report });
  if (dryRun) {
    report(`\nWould commit:\n${indent(await git(clone, "diff", "--unified=1"))}`);
    report(`Would tag v${version}.`);
    if (publish) await publishTarball(tarball, version, ["--dry-run"]);
    else report(publishNote(manifest));
    return;
  }
  await commitAndTag(clone, version);
  await takeOver(root, clone, version, base);
  report(`✓ committed and tagged v${version}`);
  if (publish) await publishOrTakeBack(root, tarball, version, base);
  report(`\nNext: git push origin main v${version}`);
}

async function publishOrTakeBack(root, tarball, version, base) {
  try {
    await publishTarball(tarball, version, []);
  } catch (error) {
    await uninterrupted(() => takeBack(root, version, base), { evenIfStopped: true });
    report("✗ npm publish did not succeed: the commit and the tag were removed again");
    throw error;
  }
  report(`✓ published ${version}`);
}

/** npm may ask for a one-time password, so it gets the terminal. */
async function publishTarball(tarball, version, flags) {
  const tag = parseVersion(version).prerelease.length > 0 ? "next" : "latest";
  const args = ["publish", tarball, "--ignore-scripts", "--tag", tag, ...flags];
  await run("npm", args, { stdio: "inherit", group: false });
}

function publishNote(manifest) {
  const problems = publishProblems(manifest);
  return problems.length === 0
    ? "Would not publish: --publish is not given."
    : `Cannot publish: ${problems.join("; ")}.`;
}

/** @returns {{ version: string, dryRun: boolean, publish: boolean } | undefined} undefined if help is wanted */
function readArguments(args) {
  // `npm run release 1.2.3 --dry-run`, without `--`: npm keeps the flag, and the release would be a real one.
  for (const name of ["dry_run", "publish"]) {
    if (process.env[`npm_config_${name}`] !== undefined) {
      throw new UsageError(
        "npm took a flag for itself: put -- before the arguments, as in npm run release -- VERSION",
      );
    }
  }
  const known = { "dry-run": "boolean", publish: "boolean", help: "boolean" };
  const options = Object.fromEntries(
    Object.entries(known).map(([name, type]) => [name, { type, default: false }]),
  );
  let parsed;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${error.message.split(". ")[0]}. See npm run release -- --help`);
  }
  const { values, positionals } = parsed;
  if (values.help) return undefined;
  if (positionals.length !== 1) {
    throw new UsageError(
      "give one version, for example npm run release -- 1.2.3. See npm run release -- --help",
    );
  }
  return { version: positionals[0], dryRun: values["dry-run"], publish: values.publish };
}
