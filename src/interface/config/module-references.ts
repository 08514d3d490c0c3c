/**
 * Finds what a module's text names: import specifiers, and paths in its strings. It scans for string literals and does
 * not parse: it reads JavaScript, CommonJS and TypeScript alike and finds `import()`, `require`, `createRequire`,
 * `import.meta.resolve` and `new URL("./x", import.meta.url)` without distinguishing them. It may find too much, which
 * only adds a file to the list that the user sees. A name that the code computes is missed, so that file is not copied
 * and cannot run from the copy: safety does not depend on this scan.
 */

export interface Reference {
  readonly specifier: string;
  /** `import` and `require`: the literal is certainly loaded as code. `call`: an argument. `text`: any other string. */
  readonly by: "import" | "require" | "call" | "text";
}

/** Tries each quote as an opening one, so that an apostrophe in a comment hides nothing. */
const LITERAL = /["'`](?=([^"'`\\\n]{1,500})(["'`]))/g;
/** How far back to look for `from`, `import` or `(`. Bounded, so that the scan takes linear time. */
const LOOK_BACK = 60;

export function referencesIn(text: string): readonly Reference[] {
  const found = new Map<string, Reference>();
  for (const match of text.matchAll(LITERAL)) {
    const [quote, specifier = "", closing] = match;
    if (quote !== closing) continue;
    const by = positionOf(text.slice(Math.max(0, match.index - LOOK_BACK), match.index));
    if (by === "text" && !/^\.{0,2}[/#]|^\.{1,2}$|^file:/.test(specifier)) continue;
    found.set(`${by} ${specifier}`, { specifier, by });
  }
  return [...found.values()];
}

function positionOf(before: string): Reference["by"] {
  const code = before.replace(/\/\*[^*]*\*\/\s*$/, "").trimEnd();
  if (/(?:^|[^\w$.])(?:from|import)$/.test(code)) return "import";
  if (!code.endsWith("(")) return "text";
  const called = code.slice(0, -1).trimEnd();
  if (/(?:^|[^\w$.])import$/.test(called)) return "import";
  return /(?:^|[^\w$.])require$/.test(called) ? "require" : "call";
}
