/** The `## [Unreleased]` section of CHANGELOG.md (https://keepachangelog.com) and its release. */

const HEADING = /^## \[Unreleased\][ \t]*$/m;

/** Returns the problem that prevents a release, or undefined. */
export function changelogProblem(text, version) {
  const found = HEADING.exec(text);
  if (found === null) return "CHANGELOG.md has no section ## [Unreleased]";
  if (text.includes(`\n## [${version}]`)) return `CHANGELOG.md already has a section ## [${version}]`;
  const rest = text.slice(found.index + found[0].length);
  const next = rest.search(/^## /m);
  const lines = (next === -1 ? rest : rest.slice(0, next)).split("\n");
  const hasEntry = lines.some((line) => line.trim() !== "" && !line.startsWith("#"));
  return hasEntry ? undefined : "the Unreleased section of CHANGELOG.md is empty: describe what has changed";
}

/** Gives the unreleased entries a version and a date, and adds an empty Unreleased section above them. */
export function releaseChangelog(text, version, date) {
  return text.replace(HEADING, `## [Unreleased]\n\n## [${version}] - ${date}`);
}
