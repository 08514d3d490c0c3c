import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import {
  type AgentOptions,
  createAgent,
  fileStore,
  type LoggedEvent,
  type Session,
  type SessionEvent,
} from "../../src/index.ts";
import { type FileIo, systemFileIo } from "../../src/runtime/log/index.ts";
import { instantClock } from "../support/instant-clock.ts";
import { practiceModel } from "../support/practice-models.ts";
import { practiceTools } from "../support/practice-tools.ts";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(() => emulator.close());

const agentWith = (options: Partial<AgentOptions> = {}) =>
  createAgent({
    model: practiceModel("home", emulator.baseUrl),
    tools: practiceTools({ began: () => undefined }),
    clock: instantClock(),
    ...options,
  });

async function logged(session: Session): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}

test("law 7: a provider error is in the stream and in the log, with code, message, status and request id", async () => {
  emulator.addFaults({ type: "http", status: 403, code: "unsupported_country", message: "Not from there." });
  const session = await agentWith().open({ id: "s" });
  const live: SessionEvent[] = [];
  const turn = session.send("Thanks");
  for await (const event of turn) live.push(event);
  const error = {
    code: "unsupported_country",
    message: "Not from there.",
    class: "FATAL",
    status: 403,
    requestId: expect.stringMatching(/^req_/) as string,
  };
  const { error: told } = await turn.result();
  const ends = [...live, ...(await logged(session))].flatMap((event) =>
    event.type === "response_end" || event.type === "turn_end" ? [[event.type, event.error]] : [],
  );
  expect(told).toEqual(error);
  expect(ends).toEqual([
    ["response_end", error],
    ["turn_end", error],
    ["response_end", error],
    ["turn_end", error],
  ]);
});

test("law 7: every failed attempt is in the log, even if a later attempt succeeds", async () => {
  emulator.addFaults(
    { type: "http", status: 503 },
    { type: "cut", at: { where: "after", unit: "item", index: 0 } },
    { type: "bad-json", index: 3 },
  );
  const session = await agentWith().open({ id: "s" });
  const { status } = await session.send("Thanks").result();
  const ends = (await logged(session)).flatMap((event) =>
    event.type === "response_end" ? [[event.status, event.error?.code]] : [],
  );
  expect(status).toBe("completed");
  expect(ends).toEqual([
    ["failed", "server_is_overloaded"],
    ["cut", expect.stringMatching(/^(stream_cut|connection_lost)$/) as string],
    ["failed", "bad_event"],
    ["completed", undefined],
  ]);
});

test("law 7: a tool error becomes a result that both the model and the log get", async () => {
  const session = await agentWith().open({ id: "s" });
  const { status } = await session.send("What is the weather in Oslo?").result();
  const results = (await logged(session)).flatMap((event) =>
    event.type === "tool_result" ? [[event.status, event.text]] : [],
  );
  const text = 'the tool "get_weather" failed: the weather station in Oslo does not answer';
  expect({ status, results }).toEqual({ status: "completed", results: [["error", text]] });
  expect(emulator.exchanges.at(-1)?.requestText).toContain(JSON.stringify(text));
});

test("law 7: a disk failure ends the turn with its error code; once the disk works again, the log shows how the turn ended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-law-7-"));
  let full = false;
  const io: FileIo = {
    ...systemFileIo,
    write(file, bytes, offset, position) {
      if (full) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
      return systemFileIo.write(file, bytes, offset, position);
    },
  };
  try {
    const tools = practiceTools({
      began: () => {
        full = true;
      },
    });
    const session = await agentWith({ tools }).open({ id: "s", store: fileStore(folder, { io }) });
    const failed = await session.send("What is the weather in Paris?").result();
    expect({ status: failed.status, code: failed.error?.code }).toEqual({
      status: "failed",
      code: "log_write_failed",
    });
    full = false;
    const next = await session.send("Thanks").result();
    const ends = (await logged(session)).flatMap((event) =>
      event.type === "turn_end" ? [event.status] : [],
    );
    await session.close();
    expect(next.status).toBe("completed");
    // The log records the turn that the disk ended as one that did not complete.
    expect(ends).toHaveLength(2);
    expect(ends[0]).not.toBe("completed");
    expect(ends[1]).toBe("completed");
    expect(emulator.report().totals.refused).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("law 7: a programmer's mistake throws and leaves no event", async () => {
  const session = await agentWith().open({ id: "s" });
  await session.send("Thanks").result();
  const before = (await logged(session)).length;
  expect(() => session.edit(999, "x")).toThrow(expect.objectContaining({ code: "not_a_message" }) as Error);
  expect(() => session.resume()).toThrow(expect.objectContaining({ code: "nothing_to_resume" }) as Error);
  await expect(session.keepLastTurns(0)).rejects.toMatchObject({ code: "keep_turns_invalid" });
  expect((await logged(session)).length).toBe(before);
});
