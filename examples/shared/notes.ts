/** What both versions of the program share: the task, the folder of notes, and the shape of the answer. */

import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

export const TASK = "Do the five-step chain.";

export const Report = z.object({ note: z.string(), lines: z.number().int().positive() });

/** The arguments `[folder] [--slow]`. */
export const folder = process.argv.slice(2).find((argument) => !argument.startsWith("--")) ?? "notes";
const slow = process.argv.includes("--slow");

mkdirSync(join(folder, "notes"), { recursive: true });
if (readdirSync(join(folder, "notes")).length === 0)
  writeFileSync(join(folder, "notes", "todo.md"), "# To do\n");

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function listNotes(): string {
  print("→ list_files");
  return readdirSync(join(folder, "notes")).join("\n");
}

export function readNote(path: string): string {
  print(`→ read_file ${path}`);
  return readFileSync(join(folder, "notes", basename(path)), "utf8");
}

/** Appends, so that a second run shows. With --slow it then waits a minute: kill the program now. */
export async function appendNote(path: string, content: string, signal?: AbortSignal): Promise<string> {
  appendFileSync(join(folder, "notes", basename(path)), content);
  print(`→ write_file ${path}: written`);
  if (slow) await sleep(60_000, undefined, { signal });
  return `${content.length} characters written to ${path}`;
}
