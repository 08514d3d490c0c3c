/** Sub-agents on the command line: a tools file brings one, and every view of a session shows the link. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { LIBRARY } from "../support/built.ts";
import { emulatorOf, eventsOf, expectAllAccepted, logsOf, newPlace, run } from "./harness.ts";

const TOOLS = `
import { agentTool, createAgent, openai } from ${JSON.stringify(LIBRARY)};
const model = openai("emu-reasoner", { apiKey: process.env.OPENAI_API_KEY, baseUrl: process.env.OPENAI_BASE_URL });
const agent = createAgent({ model, cwd: process.cwd() });
export const research = agentTool({ name: "research", description: "Researches", agent });
`;

test("a session and its sub-agent show each other in inspect, sessions and tree, and -c skips the sub-agent", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf({
    steps: [
      { output: [{ function_call: { name: "research", arguments: { prompt: "Look it up." } } }] },
      { output: [{ message: "It is a log." }] },
      { output: [{ message: "Done." }] },
      { output: [{ message: "Again." }] },
    ],
  });
  const file = join(place.work, "tools.mjs");
  writeFileSync(file, TOOLS);
  const ran = await run(place, ["-p", "--tools", file, "go"], { env });
  expect(ran).toMatchObject({ code: 0, out: "Done.\n" });
  expect(ran.err).toContain("✓ research: It is a log.");
  const logs = await logsOf(place);
  const [sub = "", caller = "", ...others] = [...logs.keys()].toSorted((a) =>
    a.startsWith("sub_") ? -1 : 1,
  );
  expect(others).toEqual([]);
  const [asked] = eventsOf(logs.get(caller) ?? [], "tool_call");
  const from = `sub-agent of session ${caller}, event ${asked?.seq} (${asked?.callId})`;

  const inspected = await run(place, ["inspect", caller]);
  expect(inspected.out).toMatch(
    new RegExp(`✓ research · ok · \\d+ ms\n {6}sub-agent session ${sub} · ↑\\d+ ↓\\d+ · `),
  );
  expect((await run(place, ["inspect", sub])).out).toContain(`\n${from}\n`);
  expect(JSON.parse((await run(place, ["inspect", sub, "--json"])).out)).toMatchObject({
    parent: { session: caller, seq: asked?.seq, call: asked?.callId, depth: 1 },
  });
  expect((await run(place, ["sessions", "show", caller])).out).toContain(`sub-agent session ${sub}`);
  expect((await run(place, ["sessions", "show", sub])).out).toContain(
    `! a sub-agent of session ${caller}, called by its event ${asked?.seq}`,
  );
  expect((await run(place, ["sessions"])).out).toMatch(new RegExp(`${sub}.*\\(sub-agent of ${caller}\\)`));
  expect(JSON.parse((await run(place, ["sessions", "--json"])).out)).toEqual(
    expect.arrayContaining([expect.objectContaining({ id: sub, subAgentOf: caller })]),
  );
  expect((await run(place, ["tree", caller])).out).toContain(`go (sub-agent ${sub})`);

  // The sub-agent's log is the newer file once it is touched, and a person still continues their own session.
  await run(place, ["sessions", "rename", sub, "the newest"]);
  expect((await run(place, ["-p", "-c", "and?"], { env })).out).toBe("Again.\n");
  expect(eventsOf((await logsOf(place)).get(caller) ?? [], "user_message")).toHaveLength(2);
  expectAllAccepted(emulator);
});
