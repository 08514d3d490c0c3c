/** store:true: chains, references, retrieval, background, counting, compaction. */

import { describe, expect, test } from "vitest";

import { documentedModels } from "../../src/emulator/index.ts";
import {
  base,
  emulatorFor,
  errorOf,
  get,
  type Json,
  outputOf,
  post,
  result,
  scripted,
  user,
  without,
} from "./emulator-client.ts";

const stored = { ...base, store: true };
const script = `
steps:
  - output: [{reasoning: "**A**"}, {function_call: {name: look}}]
  - output: [{reasoning: "**B**"}, {message: Done.}]
afterwards: repeat
`;

test("previous_response_id carries reasoning and calls; only the result is sent", async () => {
  const emulator = await scripted(script);
  const one = await post(emulator, { ...stored, input: "go" });
  const call = outputOf(one)[1];
  const two = await post(emulator, {
    ...stored,
    input: [result(call)],
    previous_response_id: one.json["id"],
  });
  expect(two.status).toBe(200);
  expect(two.json["previous_response_id"]).toBe(one.json["id"]);
  const three = await post(emulator, { ...stored, input: "more", previous_response_id: two.json["id"] });
  expect(three.status).toBe(200);
  const open = await post(emulator, { ...stored, input: "more", previous_response_id: one.json["id"] });
  expect([open.status, errorOf(open)["message"]]).toEqual([
    400,
    `No tool output found for function call ${String(call?.["call_id"])}.`,
  ]);
});

test("a chain and a full replay together are duplicates", async () => {
  const emulator = await scripted(script);
  const one = await post(emulator, { ...stored, input: "go" });
  const [reasoning, call] = outputOf(one);
  const reply = await post(emulator, {
    ...stored,
    input: [user("go"), reasoning, call, result(call)],
    previous_response_id: one.json["id"],
  });
  expect([reply.status, errorOf(reply)["message"]]).toEqual([
    400,
    `Duplicate item found with id ${String(reasoning?.["id"])}. Remove duplicate items from your input and try again.`,
  ]);
});

test("item_reference and bare reasoning ids work for stored items, for their own account only", async () => {
  const emulator = await scripted(script);
  const one = await post(emulator, { ...stored, input: "go" });
  const [reasoning, call] = outputOf(one);
  const references = [reasoning, call].map((item) => ({ type: "item_reference", id: item?.["id"] }));
  const input = [user("go"), ...references, result(call)];
  expect((await post(emulator, { ...stored, input })).status).toBe(200);
  const bare = { type: "reasoning", id: reasoning?.["id"], summary: [] };
  expect((await post(emulator, { ...stored, input: [user("go"), bare, call, result(call)] })).status).toBe(
    200,
  );
  const stranger = await post(emulator, { ...stored, input }, { authorization: "Bearer sk-other" });
  expect([stranger.status, errorOf(stranger)["message"]]).toEqual([
    404,
    `Item with id '${String(reasoning?.["id"])}' not found.`,
  ]);
});

test("a reference to reasoning may be followed by its call without an id, as the AI SDK sends it", async () => {
  const emulator = await scripted(script);
  const [reasoning, call] = outputOf(await post(emulator, { ...stored, input: "go" }));
  const input = [
    user("go"),
    { type: "item_reference", id: reasoning?.["id"] },
    without(call, "id", "status"),
    result(call),
  ];
  const reply = await post(emulator, { ...stored, input });
  expect([reply.status, reply.json["error"]]).toEqual([200, null]);
});

test("X-response: GET, input_items and DELETE", async () => {
  const emulator = await emulatorFor();
  const one = await post(emulator, {
    ...stored,
    input: [user("hello"), { role: "developer", content: "brief" }],
  });
  const id = String(one.json["id"]);
  expect((await get(emulator, `/responses/${id}`)).json).toEqual(one.json);
  expect((await get(emulator, `/responses/${id}`, "GET", "sk-other")).status).toBe(404);
  const items = (await get(emulator, `/responses/${id}/input_items?order=asc&limit=1`)).json;
  expect(items).toMatchObject({ object: "list", has_more: true, data: [{ type: "message", role: "user" }] });
  const newest = (await get(emulator, `/responses/${id}/input_items`)).json["data"] as Json[];
  expect(newest.map((item) => item["role"])).toEqual(["developer", "user"]);
  expect((await get(emulator, `/responses/${id}`, "DELETE")).json).toEqual({
    id,
    object: "response",
    deleted: true,
  });
  const gone = await get(emulator, `/responses/${id}`);
  expect([gone.status, errorOf(gone)["message"]]).toEqual([404, `Response with id '${id}' not found.`]);
});

test("store:false and a failed stream leave nothing to retrieve", async () => {
  const emulator = await emulatorFor();
  const one = await post(emulator, { ...base, input: "hello" });
  expect((await get(emulator, `/responses/${String(one.json["id"])}`)).status).toBe(404);
});

test("X-cancel: background: queued, then completed when retrieved; or cancelled", async () => {
  const emulator = await emulatorFor();
  const one = await post(emulator, { ...stored, input: "hello", background: true });
  expect(one.json).toMatchObject({ status: "queued", output: [] });
  const done = await get(emulator, `/responses/${String(one.json["id"])}`);
  expect(done.json["status"]).toBe("completed");
  const two = await post(emulator, { ...stored, input: "hello", background: true });
  const path = `/responses/${String(two.json["id"])}`;
  expect((await post(emulator, "", {}, `${path}/cancel`)).json["status"]).toBe("cancelled");
  expect((await get(emulator, path)).json["status"]).toBe("cancelled");
  const three = await post(emulator, { ...stored, input: "hello" });
  const refusedCancel = await post(emulator, "", {}, `/responses/${String(three.json["id"])}/cancel`);
  expect([refusedCancel.status, errorOf(refusedCancel)["message"]]).toEqual([
    400,
    "Cannot cancel a synchronous response.",
  ]);
});

test("input_tokens counts without answering", async () => {
  const emulator = await emulatorFor();
  const reply = await post(
    emulator,
    { model: "emu-reasoner", input: "x".repeat(400) },
    {},
    "/responses/input_tokens",
  );
  expect(reply.json).toEqual({ object: "response.input_tokens", input_tokens: 103 });
  expect(emulator.report().requests).toEqual([]);
});

test("models", async () => {
  const emulator = await emulatorFor();
  const list = (await get(emulator, "/models")).json["data"] as Json[];
  expect(list.map((model) => model["id"])).toEqual(documentedModels);
  expect(documentedModels).toEqual(expect.arrayContaining(["emu-plain", "emu-claude", "emu-router"]));
  expect((await get(emulator, "/models/unknown-1")).status).toBe(404);
  expect((await get(emulator, "/models/emu-plain")).json["id"]).toBe("emu-plain");
});

const compacted = async (emulator: Awaited<ReturnType<typeof emulatorFor>>) => {
  const input = [user("Think of a number.")];
  const one = outputOf(await post(emulator, { ...base, input }));
  const reply = await post(
    emulator,
    { model: base.model, input: [...input, ...one] },
    {},
    "/responses/compact",
  );
  expect(reply.status).toBe(200);
  expect(reply.json["object"]).toBe("response.compaction");
  return outputOf(reply);
};

describe("compaction", () => {
  test("gives an item that is accepted back, and the model finds its notes in it", async () => {
    const emulator = await emulatorFor();
    const items = await compacted(emulator);
    expect(items.map((item) => item["type"])).toEqual(["message", "compaction"]);
    const next = await post(emulator, { ...base, input: [...items, user("Which number was it?")] });
    const said = JSON.stringify(outputOf(next).at(-1));
    expect(said).toMatch(/I thought of \d+\./);
    expect(said).not.toContain("no longer have my notes");
  });

  test("is bound like reasoning", async () => {
    const emulator = await emulatorFor();
    const items = await compacted(emulator);
    const id = String(items[1]?.["id"]);
    const reply = await post(emulator, {
      ...base,
      model: "emu-reasoner-mini",
      input: [...items, user("more")],
    });
    expect([reply.status, errorOf(reply)["message"]]).toEqual([
      400,
      `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
    ]);
  });
});
