/**
 * read_skill: the instructions of a skill, or another text file in its folder. No path and no link leads out of the
 * folder. Of a skill that the user had to trust, only the trusted bytes are read: a file that changed since is refused.
 */

import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { sep } from "node:path";

import {
  asErrorCode,
  codedError,
  codeOf,
  didYouMean,
  messageOf,
  stringOf,
  type ThroughlineError,
} from "../../../base/support/index.ts";
import { tool, type Tool } from "../tool.ts";
import { closing, locate, openFile, type OpenFile } from "./workspace.ts";

const MAX_BYTES = 64 * 1024;
export const SKILL_TOOL = "read_skill";
const MAIN = "SKILL.md";

export interface ReadableSkill {
  readonly name: string;
  /** Its folder, by real path. */
  readonly folder: string;
  /** If set, only these files may be read: SHA-256 by path below the folder, with slashes. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

export function skillTool(skills: readonly ReadableSkill[]): Tool {
  return tool({
    name: SKILL_TOOL,
    description:
      "Reads the instructions of a skill (SKILL.md), or another text file in the skill's folder that they name.",
    access: "read",
    idempotent: true,
    input: {
      type: "object",
      properties: { name: { type: "string" }, file: { type: "string" } },
      required: ["name"],
      additionalProperties: false,
    },
    run: (input) => read(skills, stringOf(input["name"]) ?? "", stringOf(input["file"]) ?? MAIN),
  });
}

async function read(skills: readonly ReadableSkill[], name: string, file: string): Promise<string> {
  const skill = skills.find((one) => one.name === name);
  if (skill === undefined) {
    const names = skills.map((one) => one.name);
    throw codedError(
      "skill_unknown",
      `There is no skill ${JSON.stringify(name.slice(0, 100))}${didYouMean(name, names)}. Use one of ${names.join(", ")}.`,
    );
  }
  try {
    return await closing(openFile(await locate(skill.folder, file)), (opened) => checked(skill, opened));
  } catch (error) {
    throw reworded(error, name, file);
  }
}

async function checked(skill: ReadableSkill, { handle, shown, stats }: OpenFile): Promise<string> {
  const path = shown.split(sep).join("/");
  const bytes = await bytesOf(handle);
  if (bytes === undefined) {
    throw codedError(
      "file_too_large",
      `The file ${JSON.stringify(path)} of the skill ${skill.name} has ${stats.size} bytes; at most ${MAX_BYTES} are read.`,
    );
  }
  const { files } = skill;
  const trusted = files === undefined || !Object.hasOwn(files, path) ? undefined : files[path];
  if (files !== undefined && trusted !== createHash("sha256").update(bytes).digest("hex")) {
    throw codedError(
      "skill_changed",
      `The file ${JSON.stringify(path)} of the skill ${skill.name} is new or was changed since the user trusted it, so it is not read. The user is asked again when the next session starts.`,
    );
  }
  if (bytes.includes(0)) return `[${path} is a binary file of ${bytes.length} bytes; it is not shown]`;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The whole file, or undefined if it is too large. It may grow while it is read. */
async function bytesOf(handle: FileHandle): Promise<Buffer | undefined> {
  const buffer = Buffer.alloc(MAX_BYTES + 1);
  let size = 0;
  while (size < buffer.length) {
    const { bytesRead } = await handle.read(buffer, size, buffer.length - size, size);
    if (bytesRead === 0) return buffer.subarray(0, size);
    size += bytesRead;
  }
  return undefined;
}

const OWN: ReadonlySet<string | undefined> = new Set(["file_too_large", "skill_changed"]);

/** The errors of paths speak of the working directory, which is not meant here. */
function reworded(error: unknown, name: string, file: string): ThroughlineError {
  const code = asErrorCode(codeOf(error), "path_failed");
  const message = OWN.has(code)
    ? messageOf(error)
    : `The file ${JSON.stringify(file.slice(0, 200))} of the skill ${name} cannot be read. Use the path of a regular file below the skill's folder.`;
  return codedError(code, message, error);
}
