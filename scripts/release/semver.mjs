/** Semantic Versioning 2.0.0 (https://semver.org): parsing and precedence. */

const NUMBER = "(?:0|[1-9]\\d*)";
const IDENTIFIER = `(?:${NUMBER}|\\d*[A-Za-z-][\\dA-Za-z-]*)`;
const VERSION = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+[\\dA-Za-z.-]+)?$`,
);

/** @returns {{ numbers: readonly number[], prerelease: readonly string[] } | undefined} undefined if it is not a version */
export function parseVersion(text) {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease] = match;
  return { numbers: [major, minor, patch].map(Number), prerelease: prerelease?.split(".") ?? [] };
}

/** Returns true if `a` has a higher precedence than `b`. Both must be versions. */
export function isGreater(a, b) {
  return compare(parseVersion(a), parseVersion(b)) > 0;
}

function compare(a, b) {
  for (const [index, number] of a.numbers.entries()) {
    if (number !== b.numbers[index]) return number - b.numbers[index];
  }
  // A version without a prerelease follows all its prereleases.
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return b.prerelease.length - a.prerelease.length;
  for (const [index, part] of a.prerelease.entries()) {
    if (index >= b.prerelease.length) return 1;
    const order = compareIdentifiers(part, b.prerelease[index]);
    if (order !== 0) return order;
  }
  return a.prerelease.length - b.prerelease.length;
}

function compareIdentifiers(a, b) {
  const numeric = [a, b].map((text) => /^\d+$/.test(text));
  if (numeric[0] && numeric[1]) return Number(a) - Number(b);
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
