/** If the log refuses an event, the turn and all its work in progress end. */

import { appendFileSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { countedIo, errno, temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  call,
  gate,
  history,
  ofType,
  say,
  scriptedSession,
} from "../../../test/contracts/session-fixture.ts";
import { fileStore, systemFileIo, type FileIo } from "../log/index.ts";

/** One tool that ends on demand, and one that ends only by its signal. */
function twoTools() {
  const [bothRun, finish] = [gate(), gate()];
  const aborted: unknown[] = [];
  let running = 0;
  const begun = (): void => {
    running += 1;
    if (running === 2) bothRun.open();
  };
  const tools = [
    anyTool("quick", async () => {
      begun();
      await finish.promise;
      return "done";
    }),
    anyTool("slow", (_input, { signal }) => {
      begun();
      return new Promise((_done, fail) => {
        signal.addEventListener("abort", () => {
          aborted.push(signal.reason);
          fail(signal.reason as Error);
        });
      });
    }),
  ];
  return { tools, aborted, bothRun: bothRun.promise, finish: () => finish.open() };
}

const SCRIPT = [{ output: [call("quick"), call("slow")] }, { output: [say("The end.")] }];

test("on a full disk the other tools are stopped, the turn waits for them and fails, and the next one works", async () => {
  const io = countedIo();
  const { tools, aborted, bothRun, finish } = twoTools();
  const store = fileStore(temporaryFolder(), { io });
  const { session } = await scriptedSession(SCRIPT, { tools, store });
  const turn = session.send("go");
  await bothRun;
  io.failWrite = () => {
    throw errno("ENOSPC");
  };
  finish();
  expect(await turn.result()).toMatchObject({ status: "failed", error: { code: "log_write_failed" } });
  expect(aborted).toHaveLength(1);
  io.failWrite = undefined;
  expect(await session.send("and now?").result()).toMatchObject({ status: "completed" });
  expect(ofType(await history(session), "tool_result").map(({ status }) => status)).toEqual([
    "outcome_unknown",
    "outcome_unknown",
  ]);
});

test("if another process writes, the turn ends as interrupted, its tools are stopped, and nothing more is written", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "s1.jsonl");
  const { tools, aborted, bothRun, finish } = twoTools();
  const { session, emulator } = await scriptedSession(SCRIPT, { tools, store: fileStore(folder) });
  const turn = session.send("go");
  await bothRun;
  appendFileSync(path, "what another writer wrote");
  const before = readFileSync(path);
  finish();
  expect(await turn.result()).toMatchObject({ status: "interrupted", error: { code: "session_fenced" } });
  expect(aborted).toHaveLength(1);
  expect(session.writer).toBe("none");
  expect(await session.send("more").result()).toMatchObject({ error: { code: "session_fenced" } });
  expect(readFileSync(path)).toEqual(before);
  expect(emulator.report().totals.requests).toBe(1);
});

/** Acts right after the sync that covers a last line matching `when`. */
function afterSync(path: string, when: string, act: () => void): FileIo {
  return {
    ...systemFileIo,
    sync: async (file) => {
      await systemFileIo.sync(file);
      if (readFileSync(path, "utf8").trimEnd().split("\n").at(-1)?.includes(when) === true) act();
    },
  };
}

test.each([
  ["a request", '"type":"response_start"', { requests: 0, ran: 0 }],
  ["a tool", '"type":"tool_start"', { requests: 1, ran: 0 }],
])(
  "a writer overtaken just before %s checks once more, and does not go through with it",
  async (_what, when, expected) => {
    const folder = temporaryFolder();
    const path = join(folder, "s1.jsonl");
    const io = afterSync(path, when, () => appendFileSync(path, "what another writer wrote"));
    let ran = 0;
    const tools = [anyTool("quick", () => (ran += 1)), anyTool("slow", () => (ran += 1))];
    const { session, emulator } = await scriptedSession(SCRIPT, { tools, store: fileStore(folder, { io }) });
    expect(await session.send("go").result()).toMatchObject({
      status: "interrupted",
      error: { code: "session_fenced" },
    });
    expect({ requests: emulator.report().totals.requests, ran }).toEqual(expected);
  },
);

test("a log that was moved away is lost permanently: `lost` says why, and a running turn fails with it", async () => {
  const folder = temporaryFolder();
  const { tools, aborted, bothRun, finish } = twoTools();
  const { session } = await scriptedSession(SCRIPT, { tools, store: fileStore(folder) });
  const turn = session.send("go");
  await bothRun;
  renameSync(join(folder, "s1.jsonl"), join(folder, "away"));
  finish();
  expect(await turn.result()).toMatchObject({ status: "failed", error: { code: "log_replaced" } });
  expect(aborted).toHaveLength(1);
});
