/**
 * The skills of a run: their front matter, read and judged. One that cannot be used is left out, by name and with what to
 * change. Names and descriptions are part of the system text, so their order is fixed and their size is limited; the
 * text of a skill is read on demand.
 */

import { type ErrorCode, isObject, stringOf } from "../../base/support/index.ts";
import { type LoadedConfig, MAX_SKILL_BYTES, type SkillFile, userSkills } from "../config/index.ts";
import { inertLine } from "./inert-text.ts";
import { tellProblem } from "./project-trust.ts";
import type { Terminal } from "./terminal.ts";

const MAX_DESCRIPTION = 1024;
const MOST_LISTED = { skills: 100, bytes: 16 * 1024 };

export interface Skill {
  readonly name: string;
  /** On one line. */
  readonly description: string;
  readonly layer: "user" | "project";
  /** The path of SKILL.md. */
  readonly file: string;
  /** The real path of its folder. */
  readonly folder: string;
  /** SKILL.md without its front matter. */
  readonly body: string;
  readonly files?: Readonly<Record<string, string>> | undefined;
}

export interface SkillProblem {
  readonly file: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface Skills {
  /** Sorted by name. */
  readonly skills: readonly Skill[];
  /** Files that are left out, and why. */
  readonly problems: readonly SkillProblem[];
  /** What else a person should know. */
  readonly remarks: readonly string[];
}

export const NO_SKILLS: Skills = { skills: [], problems: [], remarks: [] };

/** The nearest skill of a name wins, those of the project over those of the user. */
export async function readSkills(
  loaded: Pick<LoadedConfig, "skills" | "skillProblems">,
  env?: Readonly<Record<string, string | undefined>>,
): Promise<Skills> {
  const own = userSkills(env);
  const files = [...loaded.skills, ...own.skills];
  const unread = [...loaded.skillProblems, ...own.problems];
  if (files.length === 0) return { ...NO_SKILLS, problems: unread };
  const { parseFrontMatter } = await import("./front-matter.ts");
  const problems: SkillProblem[] = [...unread];
  const remarks: string[] = [];
  const byName = new Map<string, Skill>();
  for (const file of files) {
    const skill = judged(file, parseFrontMatter);
    if (typeof skill === "string") {
      const message = `${file.file}: the skill is left out: ${skill}`;
      problems.push({ file: file.file, code: "skill_invalid", message });
      continue;
    }
    const nearer = byName.get(skill.name);
    if (nearer !== undefined) {
      remarks.push(`${skill.file}: the skill ${skill.name} of ${nearer.file} is used instead`);
      continue;
    }
    if (skill.name !== file.called)
      remarks.push(`${skill.file}: its name ${skill.name} differs from its folder's: rename one of them`);
    byName.set(skill.name, skill);
  }
  const all = [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const skills = fitting(all);
  const over = all.filter((one) => !skills.includes(one)).map(({ name }) => name);
  if (over.length > 0)
    remarks.push(
      `the skills ${over.join(", ")} are left out: at most ${MOST_LISTED.skills} skills and ${MOST_LISTED.bytes / 1024} KiB of names and descriptions fit. Remove skills or shorten descriptions`,
    );
  return { skills, problems, remarks };
}

export function tellSkills({ problems, remarks }: Skills, terminal: Pick<Terminal, "stderr">): void {
  for (const problem of problems) {
    if (problem.code !== "skill_invalid") tellProblem(problem, terminal);
    else terminal.stderr.write(`throughline: ${inertLine(problem.message, 500)} [skill_invalid]\n`);
  }
  for (const remark of remarks) terminal.stderr.write(`throughline: ${inertLine(remark, 2000)}\n`);
}

/** The part of the system text about skills. */
export function skillsText(skills: readonly Skill[]): string {
  const lines = skills.map(lineOf).join("\n");
  return `Skills are instructions for special tasks. Before a task that one of them fits, read it with read_skill and follow it:\n\n${lines}`;
}

/** The message of a person who asks for a skill by its name, with what they typed after it. */
export function skillMessage({ name, body }: Pick<Skill, "name" | "body">, rest: string): string {
  const task = rest.trim() === "" ? "" : `\n\nThe task:\n\n${rest.trim()}`;
  return `Follow the skill ${name}. Its other files can be read with read_skill. Its instructions:\n\n${body.trim()}${task}`;
}

function lineOf({ name, description }: Skill): string {
  return `- ${name}: ${description}`;
}

function fitting(all: readonly Skill[]): readonly Skill[] {
  let left = MOST_LISTED.bytes;
  const fits = all.filter((skill) => {
    const bytes = Buffer.byteLength(lineOf(skill)) + 1;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
  return fits.slice(0, MOST_LISTED.skills);
}

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

/** Returns the skill, or why it is left out. Fields that other programs know are ignored. */
function judged(file: SkillFile, parse: (text: string) => unknown): Skill | string {
  if (file.bytes > MAX_SKILL_BYTES)
    return `it is larger than ${MAX_SKILL_BYTES} bytes. Move parts of it into other files`;
  const text = textOf(file.head);
  if (text === undefined) return "it is not UTF-8 text";
  const [whole, front] = (text.startsWith("---") ? FRONT_MATTER.exec(text) : null) ?? [];
  if (whole === undefined || front === undefined)
    return "it has no front matter. Begin it with a line ---, name: and description:, and another line ---";
  const fields = parse(front);
  if (!isObject(fields)) return "its front matter is not YAML of the form name: text";
  const name = stringOf(fields["name"]);
  const description = stringOf(fields["description"])?.replaceAll(/\s+/g, " ").trim();
  if (name === undefined) return "its front matter has no name";
  if (!/^[a-z0-9-]{1,64}$/.test(name))
    return "its name must have 1 to 64 lower case letters, digits and hyphens";
  if (description === undefined || description === "") return "its front matter has no description";
  if (Array.from(description).length > MAX_DESCRIPTION)
    return `its description is longer than ${MAX_DESCRIPTION} characters`;
  const { layer, folder, files } = file;
  const shown = inertLine(description, Number.POSITIVE_INFINITY);
  const body = text.slice(whole.length);
  return { name, description: shown, layer, file: file.file, folder, body, files };
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
