/** Reading our own documents: files, tables, code blocks. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

export function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** From a heading of any level to the next one of the same level or above. */
export function section(text: string, heading: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.replace(/^#+ /, "") === heading && line.startsWith("#"));
  if (start === -1) throw new Error(`there is no section "${heading}"`);
  const level = /^#+/.exec(lines[start] ?? "")?.[0].length ?? 1;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => {
    const hashes = /^(#+) /.exec(line)?.[1];
    return hashes !== undefined && hashes.length <= level;
  });
  return (end === -1 ? rest : rest.slice(0, end)).join("\n");
}

/** The cells of every table row, without heads and rulers. */
export function rows(text: string): readonly (readonly string[])[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const isRuler = /^\|[ |:-]+\|$/.test(line);
    const isHead = /^\|[ |:-]+\|$/.test(lines[index + 1] ?? "");
    if (!line.startsWith("|") || isRuler || isHead) return [];
    return [
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    ];
  });
}

/** What stands in back-quotes. */
export function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A TypeScript file as a user would run it, with nothing of our own environment that could change what it does. */
export function runScript(
  args: readonly string[],
  options: { readonly cwd: string; readonly tsconfig?: string; readonly home?: string },
): Ran {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), ...args],
    {
      cwd: options.cwd,
      encoding: "utf8",
      input: "",
      timeout: 150_000,
      env: {
        PATH: process.env["PATH"],
        HOME: options.cwd,
        THROUGHLINE_HOME: options.home ?? options.cwd,
        ...(options.tsconfig === undefined ? {} : { TSX_TSCONFIG_PATH: options.tsconfig }),
      },
    },
  );
  return { status, stdout, stderr };
}
