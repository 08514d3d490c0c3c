import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { describe, expect, test } from "vitest";

import { testTurn } from "../../../test/contracts/turn-fixture.ts";
import { toRawJson } from "../../base/support/index.ts";
import { memoryStore } from "../log/index.ts";
import { openai } from "../models/index.ts";
import type { StreamEvent } from "../providers/index.ts";
import { createAgent } from "../session/index.ts";
import { ResponseRecorder } from "./record.ts";

const started = (outputIndex: number): StreamEvent => ({ type: "item_start", outputIndex, kind: "message" });
const delta = (outputIndex: number, text: string): StreamEvent => ({
  type: "delta",
  outputIndex,
  channel: "text",
  part: 0,
  text,
});
const done = (outputIndex: number, text: string): StreamEvent => ({
  type: "item_done",
  outputIndex,
  draft: { type: "assistant_message", outputIndex, itemType: "message", item: toRawJson("{}"), text },
});

/** No request is sent. */
const neverAsked = undefined as never;

async function recording() {
  const { context, live } = await testTurn({ setup: () => neverAsked });
  const recorder = new ResponseRecorder(context, "rsp_1", async () => "rsp_2");
  const rows = async (): Promise<readonly unknown[]> =>
    (await context.live.log.scratch.rows()).map((row): unknown => JSON.parse(row));
  const typesOf = (): readonly string[] => live.map(({ type }) => type).slice(1);
  return { context, recorder, rows, typesOf };
}

describe("the scratch journal", () => {
  test("gets the rows of the items that go on, and none of one whose end came with them", async () => {
    const { recorder, rows, typesOf } = await recording();
    await recorder.take([started(0), delta(0, "whole"), done(0, "whole"), started(1), delta(1, "part")]);
    const open = [
      ["rsp_1", 1, "start", "text", {}],
      ["rsp_1", 1, "text", "text0", "part"],
    ];
    expect(await rows()).toEqual(open);
    expect(typesOf()).toEqual([
      "text_start",
      "text_delta",
      "text_end",
      "assistant_message",
      "text_start",
      "text_delta",
    ]);
    await recorder.take([
      delta(1, " and the rest"),
      started(2),
      delta(2, "next"),
      done(1, "part and the rest"),
    ]);
    expect(await rows()).toEqual([
      ...open,
      ["rsp_1", 2, "start", "text", {}],
      ["rsp_1", 2, "text", "text0", "next"],
    ]);
  });

  test("gets them all the same if the log refuses the item: a person has seen it", async () => {
    const { context, recorder, rows } = await recording();
    const { log } = context.live;
    const full = new Error("the disk is full");
    log.append = () => Promise.reject(full);
    await expect(recorder.take([started(0), delta(0, "seen"), done(0, "seen")])).rejects.toBe(full);
    expect(await rows()).toEqual([
      ["rsp_1", 0, "start", "text", {}],
      ["rsp_1", 0, "text", "text0", "seen"],
    ]);
  });
});

test("a key echoed by a server is redacted before the message is shortened, wherever the cut falls", async () => {
  const key = "sk-canary-0123456789abcdef";
  for (const before of [2020, 2030, 2040, 2047, 180, 199]) {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(400, { "content-type": "text/plain" });
      response.end(`${"x".repeat(before)}${key}${"y".repeat(5000)}`);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const session = await createAgent({ model: openai("m", { apiKey: key, baseUrl }) }).open({
      store: memoryStore(),
    });
    const { status, error } = await session.send("hi").result();
    expect(status).toBe("failed");
    expect(error?.message.length).toBeLessThanOrEqual(2048);
    expect(error?.message).not.toContain("sk-");
    expect(error?.message).toContain("xxx");
    await session.close();
    server.close();
  }
});
