/** Which skills a run has, and what is said about those that are left out. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { loadConfig, recordTrust, trustFile, trustSubject } from "../config/index.ts";
import { readSkills, skillMessage, type Skills, skillsText } from "./skills.ts";

let folder = "";
let root = "";
let cwd = "";
let env: Record<string, string> = {};

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "throughline-skills-")));
  root = join(folder, "project");
  cwd = join(root, "deep");
  env = { THROUGHLINE_HOME: join(folder, "state"), HOME: join(folder, "home") };
  mkdirSync(join(root, ".git"), { recursive: true });
  mkdirSync(cwd);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string | Buffer): string {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}
const text = (name: string, description = `About ${name}.`, body = "Do this.\n"): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;
const skill = (place: string, name: string, content = text(name)): string =>
  write(`${place}/.agents/skills/${name}/SKILL.md`, content);

function trust(): void {
  for (const part of loadConfig(cwd, env).parts)
    recordTrust(trustFile(env), { ...trustSubject(part), decision: "trusted", at: "now" });
}
const load = (): Promise<Skills> => readSkills(loadConfig(cwd, env), env);
const names = ({ skills }: Skills) => skills.map(({ name, layer }) => `${name} ${layer}`);

describe("skills", () => {
  test("are none without a folder, and nothing is said", async () => {
    expect(await load()).toEqual({ skills: [], problems: [], remarks: [] });
  });

  test("come from the working directory up to the root, and from the user's home; sorted by name", async () => {
    skill("project/deep", "b");
    skill("project", "c");
    skill("home", "a");
    write("outside/.agents/skills/x/SKILL.md", text("x"));
    trust();
    const loaded = await load();
    expect(names(loaded)).toEqual(["a user", "b project", "c project"]);
    expect(loaded).toMatchObject({ problems: [], remarks: [] });
    expect(loaded.skills[1]).toMatchObject({ description: "About b.", body: "Do this.\n" });
  });

  test("of a project count only if they are trusted: one decision for all their files", async () => {
    skill("project", "c");
    const more = write("project/.agents/skills/c/doc/more.md", "more");
    skill("home", "a");
    expect(names(await load())).toEqual(["a user"]);
    expect(loadConfig(cwd, env).parts).toMatchObject([
      { type: "skills", file: join(root, ".agents/skills"), needsTrust: ["c"], decision: undefined },
    ]);
    trust();
    const { skills } = await load();
    expect(Object.keys(skills[1]?.files ?? {})).toEqual(["SKILL.md", "doc/more.md"]);
    const changesAfter = (change: () => void) => {
      change();
      return loadConfig(cwd, env).parts[0]?.changes;
    };
    const name = ".agents/skills/c/doc/more.md";
    expect(changesAfter(() => writeFileSync(more, "evil"))).toEqual([{ file: name, change: "edited" }]);
    expect(changesAfter(() => rmSync(more))).toEqual([{ file: name, change: "removed" }]);
    writeFileSync(more, "more");
    expect(changesAfter(() => skill("project", "d"))).toEqual([
      { file: ".agents/skills/d/SKILL.md", change: "added" },
    ]);
    expect(names(await load())).toEqual(["a user"]);
  });

  test("of the same name: the nearest wins, the project over the user, and it is said", async () => {
    const near = skill("project/deep", "a");
    const far = skill("project", "a");
    const own = skill("home", "a");
    trust();
    const { skills, remarks } = await load();
    expect(skills.map(({ file }) => file)).toEqual([near]);
    expect(remarks).toEqual([
      `${far}: the skill a of ${near} is used instead`,
      `${own}: the skill a of ${near} is used instead`,
    ]);
  });

  test("whose name differs from the folder's stay, with a remark", async () => {
    const file = skill("home", "folder", text("other"));
    expect(await load()).toMatchObject({
      skills: [{ name: "other" }],
      remarks: [`${file}: its name other differs from its folder's: rename one of them`],
    });
  });

  test("may have fields of other programs, long texts in any form of YAML, and Windows lines", async () => {
    skill(
      "home",
      "a",
      `---\nallowed-tools: Bash\nname: "a"\nmetadata: { v: 1 }\ndescription: >\n  One\n  two.\n---\nx`,
    );
    skill("home", "b", text("b").replaceAll("\n", "\r\n"));
    skill("home", "c", text("c", "'\u001B[2J evil'"));
    skill("home", "123");
    const { skills, problems } = await load();
    expect(problems).toEqual([]);
    expect(skills.map(({ description }) => description)).toEqual([
      "About 123.",
      "One two.",
      "About b.",
      expect.not.stringContaining("\u001B"),
    ]);
  });

  test.for([
    ["no front matter", "Just text", "no front matter"],
    ["front matter that never ends", "---\nname: bad\n", "no front matter"],
    ["front matter later", `\n${text("bad")}`, "no front matter"],
    ["front matter that is no YAML", "---\nname: [\n---\n", "not YAML"],
    ["a list", "---\n- name\n---\n", "not YAML"],
    ["empty front matter", "---\n---\n", "not YAML"],
    ["no name", "---\ndescription: x\n---\n", "no name"],
    ["a name in capitals", text("Bad"), "lower case"],
    ["a long name", text("x".repeat(65)), "1 to 64"],
    ["a name that is a path", text("../x"), "lower case"],
    ["no description", "---\nname: bad\n---\n", "no description"],
    ["an empty description", text("bad", "''"), "no description"],
    ["a long description", text("bad", "x".repeat(1025)), "1024 characters"],
    ["too many bytes", text("bad", "x", "y".repeat(64 * 1024)), "larger than 65536 bytes"],
    ["bytes that are not UTF-8", Buffer.from([0x2d, 0x2d, 0x2d, 0xff]), "not UTF-8"],
    ["aliases", "---\na: &a x\nname: *a\ndescription: *a\n---\n", "not YAML"],
  ] as const)("with %s are left out by name; the others stay", async ([, content, why]) => {
    const file = write("home/.agents/skills/bad/SKILL.md", Buffer.from(content));
    skill("home", "good");
    const loaded = await load();
    expect(names(loaded)).toEqual(["good user"]);
    expect(loaded.problems).toEqual([
      { file, code: "skill_invalid", message: expect.stringContaining(`${file}: the skill is left out: `) },
    ]);
    expect(loaded.problems[0]?.message).toContain(why);
  });

  test("that lead out of the project are left out; the others can be trusted", async () => {
    skill("project", "good");
    const outside = write("private/SKILL.md", text("evil"));
    symlinkSync(dirname(outside), join(root, ".agents/skills/evil"));
    mkdirSync(join(root, ".agents/skills/linked"));
    symlinkSync(outside, join(root, ".agents/skills/linked/SKILL.md"));
    mkdirSync(join(root, ".agents/skills/near"));
    symlinkSync("../good/SKILL.md", join(root, ".agents/skills/near/SKILL.md"));
    write("project/.agents/skills/README.md", "not a skill");
    mkdirSync(join(root, ".agents/skills/empty"));
    trust();
    const loaded = await load();
    expect(names(loaded)).toEqual(["good project"]);
    expect(loaded.problems.map(({ code }) => code)).toEqual([
      "project_file_outside",
      "project_file_outside",
      "project_file_outside",
    ]);
  });

  test("of more files than can be checked cannot be trusted", () => {
    skill("project", "a");
    for (let n = 0; n < 1001; n += 1) write(`project/.agents/skills/a/${n}`, "");
    expect(loadConfig(cwd, env).parts).toMatchObject([{ problem: expect.stringContaining("1000 files") }]);
    trust();
    expect(loadConfig(cwd, env).skills).toEqual([]);
  });

  test("beyond 100, or 16 KiB of names and descriptions, are left out and named", async () => {
    for (let n = 100; n < 202; n += 1) skill("home", `s${n}`);
    const many = await load();
    expect(many.skills).toHaveLength(100);
    expect(many.remarks[0]).toContain("the skills s200, s201 are left out");
    rmSync(join(folder, "home"), { recursive: true });
    for (let n = 10; n < 30; n += 1) skill("home", `s${n}`, text(`s${n}`, "x".repeat(1024)));
    const long = await load();
    expect(
      Buffer.byteLength(long.skills.map((one) => `- ${one.name}: ${one.description}\n`).join("")),
    ).toBeLessThan(16 * 1024);
    expect(long.skills).toHaveLength(15);
    expect(long.remarks[0]).toContain("s25, s26");
  });
});

test("the system text lists names and descriptions; a message asks for one", async () => {
  skill("home", "a");
  skill("home", "b");
  const { skills } = await load();
  expect(skillsText(skills)).toBe(
    "Skills are instructions for special tasks. Before a task that one of them fits, read it with read_skill and follow it:\n\n- a: About a.\n- b: About b.",
  );
  const [first] = skills;
  if (first === undefined) throw new Error("there is no skill");
  const asked =
    "Follow the skill a. Its other files can be read with read_skill. Its instructions:\n\nDo this.";
  expect(skillMessage(first, " now ")).toBe(`${asked}\n\nThe task:\n\nnow`);
  expect(skillMessage(first, "")).toBe(asked);
});
