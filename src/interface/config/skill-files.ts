/**
 * Finds skills: folders with a `SKILL.md` in `.agents/skills`, of the project (from the working directory up to the root
 * of its repository) and of the user (in the home folder). Nothing is parsed here. Those of a project need trust, which
 * covers every file in their folders; a skill whose folder or `SKILL.md` leads out of the project is not one.
 */

import { createHash } from "node:crypto";
import { type Dirent, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";

import { readProblem } from "../../base/support/index.ts";
import type { FileSet, NamedFile } from "./file-closure.ts";
import { type Environment, userSkillsFolder } from "./paths.ts";
import { foldersOf, outside, projectFile, type ProjectProblem, unreadable } from "./project.ts";
import { readHead, readPlainFile } from "./read-plain-file.ts";
import { isInside, realPlace } from "./real-places.ts";

const SKILLS = join(".agents", "skills");
const SKILL = "SKILL.md";
export const MAX_SKILL_BYTES = 64 * 1024;
/** Few enough to read at every start. */
const MOST = { files: 1000, bytes: 8 * 1024 * 1024, skills: 500 };

export interface SkillFile {
  /** The name of its folder. */
  readonly called: string;
  readonly layer: "user" | "project";
  /** The path of SKILL.md. */
  readonly file: string;
  /** The real path of its folder. */
  readonly folder: string;
  /** The start of SKILL.md, and its size. */
  readonly head: Buffer;
  readonly bytes: number;
  /** What may be read of a project's skill: hashes by path below its folder. Undefined for the user's own: everything. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface ProjectSkills {
  /** The nearest folder of skills: the decision of trust is kept under its name. */
  readonly place: string | undefined;
  /** Nearest first. */
  readonly skills: readonly SkillFile[];
  readonly set: FileSet | undefined;
  readonly problems: readonly ProjectProblem[];
}

export function projectSkills(cwd: string, root: string, env: Environment): ProjectSkills {
  const problems: ProjectProblem[] = [];
  const walk = new SkillWalk(root);
  const own = realPlace(userSkillsFolder(env) ?? "")?.path;
  const found = foldersOf(cwd).flatMap((folder) => {
    const place = join(folder, SKILLS);
    // In a home folder that is a repository, they are the user's.
    if (own !== undefined && realPlace(place)?.path === own) return [];
    const names = usable(projectFile(place, root, "folder"), problems) ? namesIn(place, problems) : [];
    return names.flatMap((name) => walk.skill(place, name, problems)).map((skill) => ({ place, skill }));
  });
  const files = walk.files();
  return {
    place: found[0]?.place,
    skills: found.map(({ skill }) => skill),
    set: found.length === 0 ? undefined : { root, starts: [], files, problem: walk.problem },
    problems,
  };
}

/** The user's own skills: their folders may be links, and need no trust. */
export function userSkills(env: Environment = process.env): Pick<ProjectSkills, "skills" | "problems"> {
  const problems: ProjectProblem[] = [];
  const place = userSkillsFolder(env);
  const names = place === undefined || realPlace(place)?.kind !== "folder" ? [] : namesIn(place, problems);
  const skills = names.flatMap((called): readonly SkillFile[] => {
    const file = join(place ?? "", called, SKILL);
    const folder = realPlace(join(place ?? "", called));
    if (folder?.kind !== "folder" || realPlace(file) === undefined) return [];
    return headOf(file, problems).map((read) => ({
      called,
      layer: "user",
      file,
      folder: folder.path,
      ...read,
    }));
  });
  return { skills, problems };
}

function usable(
  found: { readonly problem?: ProjectProblem } | undefined,
  problems: ProjectProblem[],
): boolean {
  if (found?.problem !== undefined) problems.push(found.problem);
  return found !== undefined && found.problem === undefined;
}

/** In a fixed order, so that the system text does not depend on the file system. */
function namesIn(folder: string, problems: ProjectProblem[]): readonly string[] {
  try {
    const names = readdirSync(folder).toSorted();
    if (names.length > MOST.skills)
      problems.push(unreadable(folder, `it has more than ${MOST.skills} entries; the others are left out`));
    return names.slice(0, MOST.skills);
  } catch (error) {
    problems.push(unreadable(folder, readProblem(error)));
    return [];
  }
}

function headOf(
  file: string,
  problems: ProjectProblem[],
): readonly { readonly head: Buffer; readonly bytes: number }[] {
  try {
    return [readHead(file, MAX_SKILL_BYTES)];
  } catch (error) {
    problems.push(unreadable(file, readProblem(error)));
    return [];
  }
}

/** Collects every file of a project's skills, within bounds. */
class SkillWalk {
  readonly #root: string;
  readonly #files = new Map<string, NamedFile>();
  #bytes = 0;
  #seen = 0;
  problem: string | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  files(): readonly NamedFile[] {
    return [...this.#files.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  skill(place: string, called: string, problems: ProjectProblem[]): readonly SkillFile[] {
    const at = join(place, called);
    const file = join(at, SKILL);
    const real = realPlace(at);
    if (real?.kind === "file") return []; // a file beside the skills
    if (!usable(projectFile(at, this.#root, "folder"), problems) || real === undefined) return [];
    if (!usable(projectFile(file, this.#root), problems)) return [];
    if (!isInside(real.path, realPlace(file)?.path ?? "")) {
      problems.push(outside(file, "the skill's folder"));
      return [];
    }
    const files: Record<string, string> = {};
    this.#collect(real.path, real.path, files);
    const path = realPlace(file)?.path ?? file;
    const kept = this.#files.get(path);
    // The bytes that were hashed are the bytes that are parsed.
    if (kept?.content.type !== "file")
      return this.problem === undefined ? [] : [blank(called, file, real.path)];
    const { bytes } = kept.content;
    return [
      {
        called,
        layer: "project",
        file,
        folder: real.path,
        head: bytes.subarray(0, MAX_SKILL_BYTES),
        bytes: bytes.length,
        files,
      },
    ];
  }

  #collect(top: string, folder: string, files: Record<string, string>): void {
    for (const entry of this.#entries(folder)) {
      if (this.problem !== undefined) return;
      const path = join(folder, entry.name);
      this.#seen += 1;
      if (this.#seen > MOST.files) this.#tooMuch();
      else if (entry.isDirectory()) this.#collect(top, path, files);
      // Links are not followed: what they lead to is read only if it is collected itself.
      else if (entry.isFile()) files[slashed(relative(top, path))] = this.#add(path);
    }
  }

  #entries(folder: string): readonly Dirent[] {
    try {
      return readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      this.problem ??= `cannot read ${this.#name(folder)}: ${readProblem(error)}`;
      return [];
    }
  }

  #add(path: string): string {
    const known = this.#files.get(path);
    if (known !== undefined) return known.sha256;
    this.#bytes += realPlace(path)?.size ?? 0;
    if (this.#bytes > MOST.bytes) {
      this.#tooMuch();
      return "";
    }
    try {
      const bytes = readPlainFile(path, MOST.bytes);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      this.#files.set(path, { name: this.#name(path), path, sha256, content: { type: "file", bytes } });
      return sha256;
    } catch (error) {
      this.problem ??= `cannot read ${this.#name(path)}: ${readProblem(error)}`;
      return "";
    }
  }

  #tooMuch(): void {
    this.problem ??= `its skills have more than ${MOST.files} files or ${MOST.bytes / 1024 / 1024} MiB, too much to check at every start`;
  }

  #name(path: string): string {
    return slashed(relative(this.#root, path));
  }
}

/** A skill that was not read because there are too many files: it is named, and cannot be trusted. */
function blank(called: string, file: string, folder: string): SkillFile {
  return { called, layer: "project", file, folder, head: Buffer.alloc(0), bytes: 0, files: {} };
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}
