/**
 * Formats the issues of a refused value: one line per issue, path first, bounded in number and length. The reader is a
 * model that must correct its call, so every line says where and what.
 */

export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly problem: string;
}

const MAX_ISSUES = 20;
const MAX_LINE_LENGTH = 300;

export function issuesToMessage(issues: readonly Issue[]): string {
  const lines = new Set<string>();
  for (const issue of issues) {
    // A schema can report a million issues for one large array; the first few already say what is wrong.
    if (lines.size > MAX_ISSUES) break;
    lines.add(shorten(`${pathToText(issue.path)}: ${issue.problem}`));
  }
  const shown = [...lines].slice(0, MAX_ISSUES);
  if (lines.size > MAX_ISSUES) shown.push("… and more");
  return shown.length === 0 ? "(input): does not match the schema" : shown.join("\n");
}

/** `["items", 0, "name"]` → `items[0].name`; the value itself is `(input)`. */
function pathToText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number" || (typeof key === "string" && /^\d+$/.test(key))) text += `[${key}]`;
    else text += text === "" ? String(key) : `.${String(key)}`;
  }
  return text === "" ? "(input)" : text;
}

function shorten(line: string): string {
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}…` : line;
}
