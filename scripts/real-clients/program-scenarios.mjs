/**
 * What happens to programs that keep their own transcript. Each scenario is written once, for a started program:
 *
 *   first(text, options), next(text, options)  begins a session, continues the last one; resolve to the output
 *                                              options: { model?, key?, killWhen? }
 *   slow                                       a prompt that makes it create `started` and wait
 *   other                                      another model of the same API
 *   lose?()                                    takes the thoughts out of its transcript
 *
 * @module
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const THINK = "Think of a number.";
const WHICH = "Which number was it?";

const remembers = async (program) => assert.match(await program.next(WHICH), /I thought of \d+/);

const switched = (options) => async (program) => {
  await program.first(THINK);
  await program.next("Hello.", options(program));
  await remembers(program);
};

const SCENARIOS = {
  "switch-model": switched(({ other }) => ({ model: other })),
  "switch-key": switched(() => ({ key: "sk-emulator-other-key" })),

  /** kill -9 while a command runs, then the session goes on. */
  "kill-in-tool": async (program) => {
    await assert.rejects(program.first(program.slow, { killWhen: "started" }), /SIGKILL/);
    await program.next(THINK);
    await remembers(program);
  },

  /** The connection is cut after the first thought. Its faults are in `PROGRAM_FAULTS`. */
  "cut-stream": async (program) => {
    await program.first("Hello.").catch(() => {});
    await program.next(THINK);
    await remembers(program);
  },

  "lost-thoughts": async (program) => {
    await program.first(THINK);
    program.lose();
    await remembers(program);
  },
};

export const PROGRAM_FAULTS = {
  "cut-stream": [{ type: "cut", at: { where: "after", unit: "item", index: 0 } }],
};

export function programScenarios(start, skip = []) {
  const chosen = Object.entries(SCENARIOS).filter(([name]) => !skip.includes(name));
  return Object.fromEntries(chosen.map(([name, run]) => [name, (order) => run(start(order))]));
}

/** Edits every line of the JSONL files below a folder: `edit(entry)` returns the entry, or undefined to take it out. */
export function editLines(folder, edit) {
  for (const file of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".jsonl"))) {
    const lines = readFileSync(join(folder, file), "utf8").trimEnd().split("\n");
    const kept = lines.map((line) => edit(JSON.parse(line))).filter((entry) => entry !== undefined);
    writeFileSync(join(folder, file), kept.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  }
}
