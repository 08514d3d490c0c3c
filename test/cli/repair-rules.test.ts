import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { type AppendDraft, fileStore } from "../../src/runtime/log/index.ts";
import { handMadeLog } from "../check/hand-made-log.ts";
import { expectProblem, newPlace, run } from "./harness.ts";

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [{ type: "input_text", text: "Hi." }],
};

test("repair of an intact log whose next request would be refused says what it would do, adds it, and then finds nothing wrong", async () => {
  const place = newPlace();
  const events = handMadeLog("emu-reasoner", "http://127.0.0.1:9/v1", [[{ raw: MESSAGE }]]);
  await fileStore(place.sessions).create("odd", {
    events: events as readonly AppendDraft[],
    blobs: new Map(),
  });
  const path = join(place.sessions, "odd.jsonl");
  const before = readFileSync(path);

  const dry = await run(place, ["repair", "odd", "--dry-run"]);
  expect(dry.code).toBe(5);
  expect(dry.out).toMatch(/R12: sends this response without ids and reasoning: rsp_0/);
  expect(dry.out).toMatch(/R12: sends this response as plain text: rsp_0\n/);
  expect(dry.out).toMatch(/odd: throughline: 2 changes, nothing written\n$/);
  expectProblem(await run(place, ["repair", "odd", "-o", "copy.jsonl"]), 2, "usage");
  expect(readFileSync(path).equals(before)).toBe(true);

  const done = await run(place, ["repair", "odd"]);
  expect(done).toMatchObject({ code: 0, err: "" });
  expect(done.out).toContain(`2 changes, written to ${path}`);
  const after = readFileSync(path);
  expect(after.subarray(0, before.length).equals(before)).toBe(true);
  expect(after.toString("utf8", before.length).split("\n").slice(0, -1)).toHaveLength(3);
  expect(await run(place, ["repair", "odd"])).toMatchObject({
    code: 0,
    out: "odd: throughline: no problems\n",
  });
  expect(readFileSync(path).equals(after)).toBe(true);
});
