/** Skills as the command sees them: trust, the system text, the tool, and what is said. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, expectProblem, newPlace, onlyLog, type Place, run } from "./harness.ts";
import { onTerminal } from "./pty.ts";

const SKILL = "---\nname: notes\ndescription: Write notes.\n---\nBe short.\n";
const LISTED = "- notes: Write notes.";

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

async function sent(place: Place, args: readonly string[] = []): Promise<{ request: string; err: string }> {
  const { emulator, env } = await emulatorOf();
  const ran = await run(place, ["-p", "--ephemeral", ...args, "hi"], { env });
  expect(ran.code).toBe(0);
  return { request: emulator.exchanges[0]?.requestText ?? "", err: ran.err };
}

test("a run without skills has no tool for them; one with skills lists them after the instructions", async () => {
  const place = newPlace();
  place.write("AGENTS.md", "Use tabs.");
  const without = await sent(place);
  expect(without.request).not.toContain("read_skill");
  write(place.home, { ".agents/skills/notes/SKILL.md": SKILL });
  const { request, err } = await sent(place);
  const { instructions, tools } = JSON.parse(request) as {
    readonly instructions: string;
    readonly tools: readonly { readonly name: string }[];
  };
  expect(instructions).toMatch(/^Instructions of this project \(AGENTS\.md\):\n\nUse tabs\.\n\nSkills are /);
  expect(instructions.endsWith(`\n\n${LISTED}`)).toBe(true);
  expect(tools.at(-1)?.name).toBe("read_skill");
  expect(err).not.toContain("skill");
  // Without the tool there is no list.
  expect((await sent(place, ["--allow-tools", "read_file"])).request).not.toContain("notes");
  expect((await sent(newPlace(), ["--allow-tools", "read_file,read_skill"])).request).not.toContain("Skills");
});

test("the model reads a skill through the tool", async () => {
  const place = newPlace();
  write(place.home, { ".agents/skills/notes/SKILL.md": SKILL });
  const { env } = await emulatorOf({
    steps: [
      { output: [{ function_call: { name: "read_skill", arguments: { name: "notes" } } }] },
      { output: [{ message: "done" }] },
    ],
  });
  const ran = await run(place, ["-p", "hi"], { env });
  expect(ran).toMatchObject({ code: 0 });
  const results = eventsOf((await onlyLog(place)).events, "tool_result");
  expect(results.map(({ text }) => text)).toEqual([SKILL]);
});

test("a project's skills need trust, and a change of any of their files asks again", async () => {
  const place = newPlace();
  write(place.work, { ".agents/skills/notes/SKILL.md": SKILL, ".agents/skills/notes/run.sh": "echo" });
  const untrusted = await sent(place);
  expect(untrusted.request).not.toContain("notes");
  expect(untrusted.err).toContain(
    `${join(place.work, ".agents/skills")} has the skill notes, which is ignored because the folder needs your trust`,
  );
  expect(untrusted.err.match(/\[project_untrusted\]/g)).toHaveLength(1);
  const trusted = await sent(place, ["--trust"]);
  expect(trusted.request).toContain(LISTED);
  expect(trusted.err).toContain("  .agents/skills/notes/run.sh\n");
  expect((await sent(place)).err).not.toContain("skill");
  write(place.work, { ".agents/skills/notes/run.sh": "evil" });
  const changed = await sent(place);
  expect(changed.request).not.toContain("notes");
  expect(changed.err).toContain(".agents/skills/notes/run.sh was edited");
  const asked = onTerminal(place, ["-p", "--ephemeral", "hi"], {});
  await asked.shows("they tell the model what to do");
  await asked.shows("Trust it as it is now? [y/N] ");
  asked.type("n");
  expect((await asked.ended).code).toBe(0);
  const refused = await sent(place);
  expect(refused.request).not.toContain("notes");
  expect(refused.err).not.toContain("[project_untrusted]");
});

test("a broken skill is named with what to change, by a run and by doctor; the session starts", async () => {
  const place = newPlace();
  write(place.home, {
    ".agents/skills/notes/SKILL.md": SKILL,
    ".agents/skills/bad/SKILL.md": "no front matter",
  });
  const { request, err } = await sent(place);
  expect(request).toContain(LISTED);
  expect(err).toMatch(
    /bad\/SKILL\.md: the skill is left out: it has no front matter\. .* \[skill_invalid\]\n/,
  );
  const { out } = await run(place, ["doctor", "--offline"]);
  expect(out).toMatch(/^ok {3}skills +notes \(user\)$/m);
  expect(out).toContain("(skill_invalid)");
});

test("a project whose skills are too much cannot be trusted", async () => {
  const place = newPlace();
  const large = "x".repeat(9 * 1024 * 1024);
  write(place.work, { ".agents/skills/notes/SKILL.md": SKILL, ".agents/skills/notes/large": large });
  expectProblem(await run(place, ["-p", "--ephemeral", "--trust", "hi"]), 2, "project_untrustable");
  expect((await sent(place)).err).toContain("too much to check at every start");
  expect(readFileSync(join(place.work, ".agents/skills/notes/SKILL.md"), "utf8")).toBe(SKILL);
});
