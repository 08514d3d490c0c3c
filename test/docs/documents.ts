/** Reads our own documents: files, tables, code blocks. */

import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { transformSync } from "esbuild";

import { PACKAGE } from "../support/built.ts";

export const root = resolve(import.meta.dirname, "../..");

export function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The text from a heading of any level to the next one of the same level or above. */
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

/** The texts in back-quotes. */
export function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Nothing of our own environment that could change what a program does. */
function ownEnvironment(home: string): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: home, THROUGHLINE_HOME: home };
}

const TIMEOUT_MS = 150_000;

/** Runs a program and waits for its end. */
export function runNode(args: readonly string[], cwd: string): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    encoding: "utf8",
    input: "",
    timeout: TIMEOUT_MS,
    env: ownEnvironment(cwd),
  });
  return { status, stdout, stderr };
}

/** Runs a program like `runNode`, without blocking other programs. */
export function runNodeAlongside(args: readonly string[], cwd: string): Promise<Ran> {
  return new Promise((resolvePromise) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd, encoding: "utf8", timeout: TIMEOUT_MS, env: ownEnvironment(cwd) },
      (_error, stdout, stderr) => resolvePromise({ status: child.exitCode, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

const USED_BY_PROGRAMS = ["zod", "openai", "@anthropic-ai/sdk", "ai", "@ai-sdk/openai", "vitest"];

/** Makes the built package and the examples' dependencies available to programs in a folder. */
export function linkPackage(folder: string): void {
  const modules = join(folder, "node_modules");
  if (existsSync(modules)) return;
  mkdirSync(modules);
  symlinkSync(PACKAGE, join(modules, "throughline"));
  for (const name of USED_BY_PROGRAMS) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
}

/** Compiles TypeScript as a user's build does. */
export function compiled(code: string): string {
  return transformSync(code, { loader: "ts", format: "esm", target: "node20" }).code;
}

/** Runs a TypeScript file, compiled, next to the built package. */
export function runProgram(file: string, cwd: string, args: readonly string[] = []): Ran {
  linkPackage(cwd);
  const program = join(cwd, `${basename(file, ".ts")}.mjs`);
  writeFileSync(program, compiled(readFileSync(file, "utf8")));
  return runNode([program, ...args], cwd);
}
