/**
 * The exhaustive suites have two forms: a sample with every `npm test`, and every case with THROUGHLINE_EXHAUSTIVE=1
 * (`npm run test:exhaustive`). Each prints how many cases it tried; docs/reliability.md has the figures.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import { accessSync, constants, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const EXHAUSTIVE = process.env["THROUGHLINE_EXHAUSTIVE"] === "1";

/** Two hours: a full form ends when it is done, not on a time-out. */
export const PATIENCE_MS = 7_200_000;

/** All of 0 … total-1, or about `quick` of them, spread evenly, with the first and the last. */
export function someOf(total: number, quick: number): readonly number[] {
  if (EXHAUSTIVE || total <= quick) return Array.from({ length: Math.max(0, total) }, (_, index) => index);
  const step = (total - 1) / (quick - 1);
  return [...new Set(Array.from({ length: quick }, (_, index) => Math.round(index * step)))];
}

/** A new folder, in memory if possible: these suites do not test what a disk keeps. */
export function quickFolder(): string {
  let place = "/dev/shm";
  try {
    accessSync(place, constants.W_OK);
  } catch {
    place = tmpdir();
  }
  return mkdtempSync(join(place, "throughline-exhaustive-"));
}

/** Copies a folder with the dead sockets that a killed writer leaves; Node's own copy refuses them. */
export function copyFolder(from: string, to: string): void {
  execFileSync("cp", ["-a", `${from}/.`, to]);
}

/** Runs two at a time: while one waits for its process or its disk, the other works. The first failure ends both. */
export async function twoAtOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await work(next);
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled([worker(), worker()]);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}
