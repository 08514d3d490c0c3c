/** The messages about trust: what a project would do, which files that depends on, what changed, and the limits. */

import { arrayOf, isObject, stringOf, unmistakableLine } from "../../base/support/index.ts";
import { secretsOf } from "../../runtime/log/index.ts";
import type { NamedFile, NamedServer, ProjectPart } from "../config/index.ts";
import { inertLine } from "./inert-text.ts";

const LIMITS: Readonly<Record<"code" | "servers" | "skills", string>> = {
  code: "Trust covers these files with their current content. It does not cover commands they start, or other files they read and run.",
  servers:
    "Trust covers this text and these files with their current content. It does not cover what a package runner (npx, uvx, bunx, pnpm dlx, docker run …) downloads or runs, folders that are named, or other files that the servers read and run.",
  skills: "Trust covers these files with their current content.",
};

/** What a part of a project sets, starts or contains. */
export function whatItSets({ type, file, needsTrust }: ProjectPart, also = ""): string {
  const names = needsTrust.map((name) => unmistakableLine(name)).join(", ");
  const place = inertLine(file, 300);
  if (type === "settings") return `${place} ${also}sets ${names}`;
  const short = inertLine(names, 500);
  const one = needsTrust.length === 1;
  return type === "servers"
    ? `${place} ${also}sets the MCP ${one ? "server" : "servers"} ${short}`
    : `${place} ${also}has the ${one ? "skill" : "skills"} ${short}`;
}

/** The verb for what `whatItSets` names. */
export function isOrAre({ needsTrust }: ProjectPart): "is" | "are" {
  return needsTrust.length === 1 ? "is" : "are";
}

export function placeOf({ type }: ProjectPart): string {
  return type === "skills" ? "the folder" : "the file";
}

/** Everything that a person must know to decide, and what trust does not cover. */
export function partLines(part: ProjectPart, options: { readonly limits: boolean }): readonly string[] {
  const { type, code, named, servers } = part;
  const limits = (of: keyof typeof LIMITS): readonly string[] => (options.limits ? [LIMITS[of]] : []);
  return [
    ...(code === undefined ? [] : ["It runs this code:", ...fileLines(code.files), ...limits("code")]),
    ...(servers.length === 0 ? [] : ["It starts or calls these MCP servers:", ...servers.map(serverLine)]),
    ...(named === undefined || named.files.length === 0
      ? []
      : [type === "skills" ? "These are its files:" : "They name these files:", ...fileLines(named.files)]),
    ...(servers.length === 0 ? [] : limits("servers")),
    ...(type === "skills" ? limits("skills") : []),
  ];
}

/** One server exactly as the file has it: what is started with which arguments, or the address. */
function serverLine({ name, value }: NamedServer): string {
  const told = isObject(value) ? reached(value) : "not an object; it is left out";
  return `  ${unmistakableLine(name)}: ${told}`;
}

function reached(value: Readonly<Record<string, unknown>>): string {
  const { command, args, url, cwd, env, headers } = value;
  const words = [
    ...(stringOf(url) === undefined ? [] : [exact(url)]),
    ...(command === undefined ? [] : [command, ...arrayOf(args)].map(exact)),
  ];
  const folder = cwd === undefined ? "" : `, in ${exact(cwd)}`;
  const variables =
    isObject(env) && Object.keys(env).length > 0
      ? `, with ${Object.entries(env).map(variable).join(" ")}`
      : "";
  const sent =
    isObject(headers) && Object.keys(headers).length > 0
      ? `, with the headers ${Object.keys(headers).map(exact).join(", ")}`
      : "";
  const what = words.length === 0 ? "neither command nor url; it is left out" : words.join(" ");
  return `${what}${folder}${variables}${sent}`;
}

/** Variables can change which code runs, so they are shown, except what looks like a key. */
function variable([name, value]: readonly [string, unknown]): string {
  const text = stringOf(value) ?? "";
  const isSecret = secretsOf({ [name]: text }).length > 0 && !/^\$\{\w+\}$/.test(text);
  return `${exact(name)}=${isSecret ? "[hidden]" : exact(value)}`;
}

/** A text that cannot be mistaken for another: in quotes unless it is plain. */
function exact(value: unknown): string {
  const text = typeof value === "string" && /^[\w@%+=:,./${}-]+$/.test(value) ? value : JSON.stringify(value);
  return unmistakableLine(text ?? "");
}

function fileLines(files: readonly NamedFile[]): readonly string[] {
  return placesOf(files).map((place) => `  ${inertLine(place, 300)}`);
}

/** Lists every file; packages are listed by name and number of files. */
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

export function changesText({ changes }: Pick<ProjectPart, "changes">): string {
  const told = changes
    .slice(0, MOST_CHANGES)
    .map(({ file, change }) => `${inertLine(file, 300)} was ${change}`);
  const more = changes.length > MOST_CHANGES ? `, and ${changes.length - MOST_CHANGES} more` : "";
  return `Since you trusted it, ${told.join(", ")}${more}.`;
}

/** How to use a part that cannot be trusted in its current state. */
export function withoutTrust({ type, code, servers }: ProjectPart): string {
  if (type === "skills") return "remove what is too much";
  if (code?.problem !== undefined || servers.length === 0)
    return "to run its tools without this check, name them with --tools";
  return "to use its servers without this check, name a file that has them with --mcp-config";
}
