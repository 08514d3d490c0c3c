/** What files tell the model, as system text, and what a person is told about these files. */

import { relative } from "node:path";

import type { Instructions, ReadInstructions } from "../config/index.ts";
import { inertLine } from "./inert-text.ts";
import { type Skill, skillsText } from "./skills.ts";
import type { Terminal } from "./terminal.ts";

export const NO_INSTRUCTIONS: ReadInstructions = { found: [], problems: [] };

/**
 * The user's instructions come first; those of files follow, each under its own heading, and the skills. The text of a session that is
 * continued must not change without a reason, because its prefix would: one file of the project always reads like this.
 */
export function systemText(
  own: string | undefined,
  found: readonly Instructions[],
  cwd: string,
  skills: readonly Skill[],
): string | undefined {
  const texts = found.flatMap(({ file, layer, text }) => {
    if (text === "") return [];
    const heading =
      layer === "user" ? "Instructions of the user" : `Instructions of this project (${relative(cwd, file)})`;
    return [`${heading}:\n\n${text}`];
  });
  const all = [
    ...(own === undefined ? [] : [own]),
    ...texts,
    ...(skills.length === 0 ? [] : [skillsText(skills)]),
  ];
  return all.length === 0 ? undefined : all.join("\n\n");
}

export function tellInstructions(found: readonly Instructions[], cwd: string, terminal: Terminal): void {
  for (const { file, layer, text, bytes, cut } of found) {
    const short = cut ? `, cut to ${Buffer.byteLength(text)}: shorten it` : "";
    const name = layer === "user" ? file : relative(cwd, file);
    terminal.stderr.write(
      `${terminal.dim(inertLine(`instructions: ${name} (${bytes} bytes${short})`, 200))}\n`,
    );
  }
}

/** Undefined for none, one path, or all of them in the order of the system text. */
export type InstructionFiles = string | readonly string[] | undefined;

export function instructionFiles(found: readonly Instructions[]): InstructionFiles {
  const files = found.map(({ file }) => file);
  return files.length > 1 ? files : files[0];
}
