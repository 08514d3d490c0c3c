/** The log of an open session is removed, moved or replaced. No turn may end as if it had been saved. */

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { fileStore, type Session } from "../../src/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { scriptedAgent, served } from "../server/server-fixture.ts";
import { practiceTools } from "../support/practice-tools.ts";

const attacks = [
  ["removed", (path: string): void => rmSync(path)],
  ["moved away", (path: string): void => renameSync(path, `${path}.moved`)],
  [
    "replaced",
    (path: string): void => {
      writeFileSync(`${path}.other`, readFileSync(path));
      renameSync(`${path}.other`, path);
    },
  ],
  [
    "removed with its whole folder, which is recreated",
    (path: string): void => {
      rmSync(join(path, ".."), { recursive: true });
      mkdirSync(join(path, ".."));
    },
  ],
] as const;

const MESSAGE = /was removed, moved or replaced while it was open.*Put the file back/;

test.each(attacks)("%s between two turns: every later turn fails and says what to do", async (_, attack) => {
  const folder = temporaryFolder();
  const { agent, emulator } = await scriptedAgent({});
  const session = await agent.open({ id: "s", store: fileStore(folder) });
  await session.send("Thanks").result();
  attack(join(folder, "s.jsonl"));
  const requests = emulator.exchanges.length;
  for (let turn = 0; turn < 3; turn += 1) await expectLost(session);
  expect(emulator.exchanges).toHaveLength(requests); // no request is sent that the log does not hold
  await session.close();
});

test.each(attacks)("%s while a tool runs: the turn fails", async (_, attack) => {
  const folder = temporaryFolder();
  const tools = practiceTools({ began: () => attack(join(folder, "s.jsonl")) });
  const { agent } = await scriptedAgent({ tools });
  const session = await agent.open({ id: "s", store: fileStore(folder) });
  const { status, error } = await session.send("What is the weather in Paris?").result();
  expect({ status, code: error?.code }).toEqual({ status: "failed", code: "log_replaced" });
  await session.close();
});

test("once the file is put back and reopened, the session continues where its log ends", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "s.jsonl");
  const { agent } = await scriptedAgent({});
  const session = await agent.open({ id: "s", store: fileStore(folder) });
  await session.send("Thanks").result();
  renameSync(path, `${path}.moved`);
  await expectLost(session);
  await session.close();
  expect(existsSync(path)).toBe(false);
  renameSync(`${path}.moved`, path);
  const again = await agent.open({ id: "s", store: fileStore(folder) });
  expect(await again.send("Thanks").result()).toMatchObject({ status: "completed" });
  await again.close();
});

test("over HTTP the turn fails with the same code", async () => {
  const folder = temporaryFolder();
  const { remote } = await served({ store: fileStore(folder), server: { releaseMs: 600_000 } });
  const session = await remote.open({ id: "s" });
  await session.send("Thanks").result();
  rmSync(join(folder, "s.jsonl"));
  const { status, error } = await session.send("Thanks").result();
  expect({ status, code: error?.code }).toEqual({ status: "failed", code: "log_replaced" });
});

async function expectLost(session: Session): Promise<void> {
  const { status, error } = await session.send("Thanks").result();
  expect({ status, error }).toMatchObject({
    status: "failed",
    error: { code: "log_replaced", message: expect.stringMatching(MESSAGE) as string },
  });
}
