/**
 * The temporary clone in which a release is made. The repository itself changes in one step at the end, when everything
 * has worked: it takes over the finished commit and tag. Until then a failure or Ctrl-C only costs the clone.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { releaseChangelog } from "./changelog.mjs";
import { BRANCH, git } from "./checks.mjs";
import { run, uninterrupted } from "./commands.mjs";
import { StepError } from "./errors.mjs";

/** A clone does not copy the repository's configuration. These settings decide who commits and how it is signed. */
const GIT_SETTINGS = [
  "user.name",
  "user.email",
  "user.signingkey",
  "commit.gpgsign",
  "tag.gpgsign",
  "gpg.format",
  "gpg.program",
];

const RELEASED_FILES = ["package.json", "package-lock.json", "CHANGELOG.md"];

/** Clones the repository and installs its dependencies as package-lock.json says. */
export async function cloneRepository(root, clone) {
  await git(root, "clone", "--quiet", "--no-hardlinks", "--branch", BRANCH, root, clone);
  for (const name of GIT_SETTINGS) {
    const value = await git(root, "config", "--default", "", "--get", name);
    if (value !== "") await git(clone, "config", name, value);
  }
  const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", args, { cwd: clone });
  // npm may add entries for other platforms to the lock file. They are not part of a release.
  await git(clone, "checkout", "--quiet", "--", ".");
}

/** Writes the version and the date into the files of the clone. */
export function writeVersion(clone, version, date) {
  edit(clone, "package.json", (text) => withJson(text, (manifest) => ({ ...manifest, version })));
  edit(clone, "package-lock.json", (text) =>
    withJson(text, (lock) => ({
      ...lock,
      version,
      packages: { ...lock.packages, "": { ...lock.packages[""], version } },
    })),
  );
  edit(clone, "CHANGELOG.md", (text) => releaseChangelog(text, version, date));
}

/** npm writes both files in this form, so nothing but the version changes. */
function withJson(text, change) {
  return `${JSON.stringify(change(JSON.parse(text)), null, 2)}\n`;
}

function edit(clone, name, change) {
  const path = join(clone, name);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

export async function commitAndTag(clone, version) {
  await git(clone, "commit", "--quiet", "--message", `Release ${version}`, "--", ...RELEASED_FILES);
  await git(clone, "tag", "--annotate", "--message", `Throughline ${version}`, `v${version}`);
}

/** Brings the finished commit and tag into the repository. `base` is the commit that the clone was made from. */
export async function takeOver(root, clone, version, base) {
  await uninterrupted(async () => {
    const head = await git(root, "rev-parse", "HEAD");
    const changed = await git(root, "status", "--porcelain");
    if (head !== base || changed !== "") {
      throw new StepError("the repository changed during the release: run the command again");
    }
    await git(root, "fetch", "--quiet", "--no-tags", clone, `refs/tags/v${version}:refs/tags/v${version}`);
    try {
      await git(root, "merge", "--quiet", "--ff-only", `v${version}^{commit}`);
    } catch (error) {
      await git(root, "tag", "--delete", `v${version}`);
      throw error;
    }
  });
}

/** Undoes `takeOver`. `--keep` refuses to overwrite changes that were made since. */
export async function takeBack(root, version, base) {
  await git(root, "reset", "--quiet", "--keep", base);
  await git(root, "tag", "--delete", `v${version}`);
}
