import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, fileStore, type LoggedEvent } from "../../src/index.ts";
import { parseLine } from "../../src/inspect.ts";
import { type FileIo, systemFileIo } from "../../src/runtime/log/index.ts";
import { gate } from "../contracts/session-fixture.ts";
import { storeWith } from "../support/play.ts";
import { practiceModel } from "../support/practice-models.ts";
import { practiceTools } from "../support/practice-tools.ts";

let emulator: Emulator;
let folder: string;
beforeEach(async () => {
  emulator = await startEmulator();
  folder = mkdtempSync(join(tmpdir(), "throughline-law-5-"));
});
afterEach(async () => {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Counts the bytes written to the file, and how many of them the disk has confirmed. */
class Disk implements FileIo {
  syncs = 0;
  folderSyncs = 0;
  #written = 0;
  #confirmed = 0;

  write(file: number, bytes: Uint8Array, offset: number, position: number): number {
    const count = systemFileIo.write(file, bytes, offset, position);
    this.#written = position + count;
    return count;
  }

  size(file: number): number {
    return systemFileIo.size(file);
  }

  isAt(file: number, path: string): boolean {
    return systemFileIo.isAt(file, path);
  }

  truncate(file: number, length: number): void {
    systemFileIo.truncate(file, length);
  }

  async sync(file: number): Promise<void> {
    const covered = this.#written;
    await systemFileIo.sync(file);
    this.syncs += 1;
    this.#confirmed = Math.max(this.#confirmed, covered);
  }

  async syncFolder(path: string): Promise<void> {
    await systemFileIo.syncFolder(path);
    this.folderSyncs += 1;
  }

  /** The events that a power loss at this moment would leave. Without its name in the folder, the file would be lost. */
  durable(): readonly LoggedEvent[] {
    if (this.folderSyncs === 0) return [];
    const bytes = readFileSync(join(folder, "s.jsonl")).subarray(0, this.#confirmed);
    return bytes
      .toString("utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => parseLine(line));
  }
}

test("law 5: the message and response_start are durable before the first byte of a request", async () => {
  const disk = new Disk();
  const seen: (readonly string[])[] = [];
  const agent = createAgent({
    model: practiceModel("home", emulator.baseUrl),
    tools: practiceTools({ began: () => undefined }),
    trace: (record) => {
      if (record.type === "request") seen.push(disk.durable().map((event) => event.type));
    },
  });
  const session = await agent.open({ id: "s", store: fileStore(folder, { io: disk }) });
  await session.send("What is the weather in Paris?").result();
  await session.close();
  expect(seen.map((types) => types.at(-1))).toEqual(["response_start", "response_start"]);
  expect(seen[0]).toContain("user_message");
  expect(seen[1]?.slice(-2)).toEqual(["tool_result", "response_start"]);
});

test("law 5: the items, the end of the response, the decision and tool_start are durable before a tool runs", async () => {
  const disk = new Disk();
  const seen: (readonly string[])[] = [];
  const agent = createAgent({
    model: practiceModel("home", emulator.baseUrl),
    tools: practiceTools({ began: () => seen.push(disk.durable().map((event) => event.type)) }),
  });
  const session = await agent.open({ id: "s", store: fileStore(folder, { io: disk }) });
  await session.send("What is the weather in Paris?").result();
  await session.close();
  expect(seen.map((types) => types.slice(-5))).toEqual([
    ["reasoning", "tool_call", "response_end", "permission_decision", "tool_start"],
  ]);
});

test("law 5: a tool step costs two syncs, plus one per result that arrives before the others", async () => {
  const disk = new Disk();
  const answered: (() => void)[] = [];
  const first = new Promise<void>((resolve) => {
    answered.push(resolve);
  });
  const [tools] = [practiceTools({ began: () => undefined })];
  const agent = createAgent({
    model: practiceModel("home", emulator.baseUrl),
    // Lima waits until Rome's result is in the log, so the two do not finish together.
    tools: tools.map((one) => ({
      ...one,
      run: async (input: unknown, context: Parameters<typeof one.run>[1]) => {
        if ((input as { readonly city?: string }).city === "Lima") await first;
        return one.run(input, context);
      },
    })),
  });
  const session = await agent.open({ id: "s", store: fileStore(folder, { io: disk }) });

  const plain = session.send("Thanks");
  await plain.result();
  // The request, and the end of the turn. The name of the new file is synced once, beside the first of the two.
  expect([disk.syncs, disk.folderSyncs]).toEqual([2, 1]);

  disk.syncs = 0;
  await session.send("What is the weather in Paris?").result();
  // A tool step: the request and the tools. Then the answering step's request, and the end of the turn.
  expect(disk.syncs).toBe(2 + 1 + 1);

  disk.syncs = 0;
  const turn = session.send("What is the weather in Rome and Lima?");
  for await (const event of turn) if (event.type === "tool_result") answered[0]?.();
  expect((await turn.result()).status).toBe("completed");
  expect(disk.syncs).toBe(2 + 1 + 1 + 1);
  await session.close();
  expect(disk.folderSyncs).toBe(1);
});

test("law 5: no request is sent while the disk has not confirmed the name of a new log", async () => {
  const disk = new Disk();
  const order: string[] = [];
  const [written, named] = [gate(), gate()];
  disk.syncFolder = () => named.promise;
  disk.sync = async (file) => {
    await systemFileIo.sync(file);
    written.open();
  };
  const agent = createAgent({
    model: practiceModel("home", emulator.baseUrl),
    trace: ({ type }) => {
      if (type === "request") order.push(type);
    },
  });
  const session = await agent.open({ id: "s", store: fileStore(folder, { io: disk }) });
  const turn = session.send("Thanks");
  await written.promise;
  // Whatever waits for the content alone has run after one round of the event loop.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  order.push("confirmed");
  named.open();
  await turn.result();
  await session.close();
  expect(order).toEqual(["confirmed", "request"]);
});

test("law 5: a call that had started when the process died does not run again; its outcome is unknown", async () => {
  const ran: string[] = [];
  const agent = createAgent({
    model: practiceModel("home", emulator.baseUrl),
    tools: practiceTools({ began: (name) => ran.push(name) }),
    permissions: "auto",
  });
  const session = await agent.open({ id: "s" });
  await session.send("Write hello.txt.").result();
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  expect(ran).toEqual(["write_file"]);

  const begun = events.findIndex((event) => event.type === "tool_start");
  const store = await storeWith("s", events.slice(0, begun + 1));
  const reopened = await agent.open({ id: "s", store });
  await reopened.resume().result();
  const results: unknown[] = [];
  for await (const event of reopened.events()) {
    if (event.type === "tool_result") results.push([event.status, event.text.slice(0, 15)]);
  }
  expect({ ran, results }).toEqual({
    ran: ["write_file"],
    results: [["outcome_unknown", "outcome unknown"]],
  });
});

test("law 5: a call runs once even if its stream rotates ids and loses another item's event", async () => {
  const ran: string[] = [];
  emulator.addFaults({
    type: "all",
    // The stream has only `done` events. The fourth event, after created, in_progress and added, is the first thought's
    // `done`.
    faults: [{ type: "rotate-ids" }, { type: "done-only" }, { type: "drop-event", index: 3 }],
  });
  const agent = createAgent({
    model: practiceModel("home", emulator.baseUrl),
    tools: practiceTools({ began: (name) => ran.push(name) }),
  });
  const session = await agent.open({ id: "s" });
  const { status } = await session.send("Look at two files, thinking in between.").result();
  const dones = emulator.exchanges[0]?.events.flatMap((event) =>
    event["type"] === "response.output_item.done" ? [event["output_index"]] : [],
  );
  expect({ status, ran, dones }).toEqual({
    status: "completed",
    ran: ["read_file", "read_file"],
    dones: [1, 2, 3],
  });
});
