/** What must hold before a release. Nothing here changes a file. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { changelogProblem } from "./changelog.mjs";
import { run } from "./commands.mjs";
import { StepError, UsageError } from "./errors.mjs";
import { isGreater, parseVersion } from "./semver.mjs";

/** This project requires these fields: the registry shows them, and a published version cannot be changed. */
const PUBLISHED_FIELDS = ["repository", "homepage", "bugs", "author"];

export const BRANCH = "main";

/**
 * Throws a UsageError unless the version is greater than the current one. The current version is allowed too, until it
 * has a tag.
 */
export async function checkVersion(root, version, current) {
  const parsed = parseVersion(version);
  if (parsed === undefined) {
    throw new UsageError(`"${version}" is not a semantic version such as 1.2.3 or 1.2.3-beta.1`);
  }
  if (!parsed.numbers.every(Number.isSafeInteger)) {
    throw new UsageError(`npm accepts no number above ${Number.MAX_SAFE_INTEGER} in a version: "${version}"`);
  }
  if (version.includes("+")) {
    throw new UsageError(`npm drops build metadata: give ${version.split("+")[0]} instead of ${version}`);
  }
  if (version === current) {
    if (!(await hasTag(root, version))) return;
    throw new UsageError(`version ${version} is already released: the tag v${version} exists`);
  }
  if (!isGreater(version, current)) {
    throw new UsageError(`version ${version} is lower than the current version ${current}`);
  }
}

async function hasTag(root, version) {
  return (await git(root, "tag", "--list", `v${version}`)) !== "";
}

/** @returns the parsed package.json of the folder, which must be the top of a git repository */
export async function readManifest(root) {
  if (!existsSync(join(root, "package.json"))) throw new UsageError(`there is no package.json in ${root}`);
  const top = await git(root, "rev-parse", "--show-toplevel").catch(asUndefined);
  if (top === undefined || realpathSync(top) !== realpathSync(root)) {
    throw new UsageError(`${root} is not the top folder of a git repository`);
  }
  return readJson(root, "package.json");
}

/** @returns {Promise<readonly string[]>} every reason why this release cannot be made */
export async function releaseProblems(root, { version, publish }, manifest) {
  const problems = [];
  const branch = await git(root, "branch", "--show-current");
  if (branch !== BRANCH) problems.push(`the branch is ${branch || "detached"}, not ${BRANCH}`);
  const changed = await git(root, "status", "--porcelain");
  if (changed !== "") problems.push(`the git tree is not clean:\n${indent(changed)}`);
  if (await hasTag(root, version)) problems.push(`the tag v${version} already exists`);
  const identity = await git(root, "var", "GIT_COMMITTER_IDENT").catch(asUndefined);
  if (identity === undefined) problems.push("git has no user.name and user.email to commit with");
  problems.push(...fileProblems(root, version, manifest));
  if (publish) problems.push(...publishProblems(manifest));
  return problems;
}

function fileProblems(root, version, manifest) {
  const problems = ["package-lock.json", "CHANGELOG.md"]
    .filter((name) => !existsSync(join(root, name)))
    .map((name) => `there is no ${name}`);
  if (problems.length > 0) return problems;
  const lock = readJson(root, "package-lock.json");
  if (lock.version !== manifest.version) {
    problems.push(
      `package-lock.json has version ${lock.version}, package.json ${manifest.version}: run npm install`,
    );
  }
  const inChangelog = changelogProblem(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version);
  return inChangelog === undefined ? problems : [...problems, inChangelog];
}

/** @returns {readonly string[]} every reason why the package must not be published */
export function publishProblems(manifest) {
  const missing = PUBLISHED_FIELDS.filter((name) => (manifest[name] ?? "") === "");
  return [
    ...(manifest.private === true ? ["package.json is private"] : []),
    ...(missing.length > 0 ? [`package.json lacks ${missing.join(", ")}: add them before publishing`] : []),
  ];
}

/** @returns {Promise<string>} the output of a git command */
export async function git(root, ...args) {
  return (await run("git", args, { cwd: root })).stdout.trimEnd();
}

export function indent(text) {
  return text.replaceAll(/^/gm, "    ");
}

function readJson(root, name) {
  try {
    return JSON.parse(readFileSync(join(root, name), "utf8"));
  } catch (error) {
    throw new StepError(`${name} cannot be read: ${error.message}`);
  }
}

/** A git command that failed; an interruption is passed on. */
function asUndefined(error) {
  if (error instanceof StepError) return undefined;
  throw error;
}
