/** The messages about trust: which files run, what changed, and what trust does not cover. */

import type { NamedFile, ProjectState } from "../config/index.ts";
import { inertLine } from "./inert-text.ts";

export const LIMITS_OF_TRUST =
  "Trust covers these files with their current content. It does not cover commands they start, or other files they read and run.";

/** Lists every file that would run; packages are listed by name and number of files. */
export function codeLines({ code }: Pick<ProjectState, "code">): readonly string[] {
  if (code === undefined) return [];
  return ["It runs this code:", ...placesOf(code.files).map((place) => `  ${inertLine(place, 300)}`)];
}

export function placesOf(files: readonly NamedFile[]): readonly string[] {
  const packages = new Map<string, number>();
  const own: string[] = [];
  for (const { name, content } of files) {
    const inPackage = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(name)?.[0];
    if (inPackage !== undefined && content.type === "file")
      packages.set(inPackage, (packages.get(inPackage) ?? 0) + 1);
    else if (content.type === "link") own.push(`${name}, a link to ${content.to}`);
    else own.push(content.type === "live" ? `${name} (outside the project, run in place)` : name);
  }
  const counted = [...packages].map(
    ([name, count]) => `${name} (${count} ${count === 1 ? "file" : "files"})`,
  );
  return [...own, ...counted];
}

const MOST_CHANGES = 10;

export function changesText({ changes }: Pick<ProjectState, "changes">): string {
  const told = changes
    .slice(0, MOST_CHANGES)
    .map(({ file, change }) => `${inertLine(file, 300)} was ${change}`);
  const more = changes.length > MOST_CHANGES ? `, and ${changes.length - MOST_CHANGES} more` : "";
  return `Since you trusted it, ${told.join(", ")}${more}.`;
}
