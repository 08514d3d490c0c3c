/** Bad input over HTTP: each case has its status and code, writes nothing, and reveals nothing about the machine. */

import { symlinkSync, writeFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { fileStore } from "../../src/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { say } from "../contracts/session-fixture.ts";
import { ask, codeIn, rawSocket, served, type Served } from "./server-fixture.ts";

async function withSession(): Promise<Served> {
  const parts = await served({ script: [{ output: [say("Hello")] }] });
  const session = await parts.remote.open({ id: "s1" });
  await session.send("Hi").result();
  return parts;
}

const post = (parts: Served, path: string, body: unknown): Promise<readonly [number, unknown]> =>
  ask(parts.server, {
    method: "POST",
    path,
    body: typeof body === "string" ? body : JSON.stringify(body),
  }).then((answer) => [answer.status, codeIn(answer)] as const);
const get = (parts: Served, path: string): Promise<readonly [number, unknown]> =>
  ask(parts.server, { path }).then((answer) => [answer.status, codeIn(answer)] as const);

describe("a body", () => {
  test.each([
    ["that is not JSON", "{", "body_invalid"],
    ["that is a list", "[]", "body_invalid"],
    ["that is a string", '"x"', "body_invalid"],
    ["that is null", "null", "body_invalid"],
    ["that nests without end", `{"input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "body_invalid"],
    ["with an unknown field", '{"input":"x","modell":"y"}', "field_unknown"],
    ["with __proto__", '{"input":"x","__proto__":{"turn":"y"}}', "field_unknown"],
    ["without the required field", "{}", "field_invalid"],
    ["with a number instead of a text", '{"input":"x","model":1}', "field_invalid"],
    ["with a value that is not a valid choice", '{"input":"x","whenBusy":"maybe"}', "field_invalid"],
    ["with an empty input", '{"input":""}', "input_empty"],
    ["with a number as input", '{"input":5}', "input_invalid"],
    ["with a part without a type", '{"input":[{"type":"audio"}]}', "input_invalid"],
    ["with an unknown model", '{"input":"x","model":"nobody"}', "model_invalid"],
    ["with an unknown effort", '{"input":"x","effort":"enormous"}', "effort_unknown"],
    [
      "with an output schema that is not an object",
      '{"input":"x","output":{"type":"array"}}',
      "schema_invalid",
    ],
    ["with an invalid turn id", '{"input":"x","turn":"../x"}', "turn_invalid"],
  ])("%s", async (_what, body, code) => {
    const parts = await withSession();
    expect(await post(parts, "/api/sessions/s1/turns", body)).toEqual([400, code]);
    expect(({} as { readonly turn?: unknown }).turn).toBeUndefined();
    const session = await parts.remote.open({ id: "s1" });
    expect(session.lastSeq).toBe(7);
    expect(parts.problems).toEqual([]);
  });

  test("of random JSON is refused or accepted, and never breaks the server", async () => {
    const parts = await withSession();
    const values = [
      null,
      true,
      0,
      -1,
      1e300,
      1.5,
      "",
      "x",
      [],
      {},
      [[]],
      { a: { b: [1] } },
      "\u0000",
      "\uD800",
    ];
    for (const path of [
      "title",
      "model",
      "truncate",
      "checkout",
      "fork",
      "edit",
      "cancel",
      "permissions/x",
    ]) {
      for (const field of ["title", "from", "at", "seq", "id"]) {
        for (const value of values) {
          const [status] = await post(parts, `/api/sessions/s1/${path}`, { [field]: value });
          expect([200, 201, 202, 400, 404, 409]).toContain(status);
        }
      }
    }
    expect(parts.problems).toEqual([]);
  });

  test("that is too large is refused before it is read in full, by its length or while it arrives", async () => {
    const { server } = await withSession();
    const path = "/api/sessions/s1/turns";
    const large = await ask(server, { method: "POST", path, body: Buffer.alloc(10 * 1024 * 1024 + 1, 32) });
    expect([large.status, codeIn(large)]).toEqual([413, "body_too_large"]);

    const socket = await rawSocket(server);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nauthorization: Bearer ${server.token}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const piece = Buffer.alloc(1024 * 1024, 32);
    const answers: string[] = [];
    socket.on("data", (chunk) => answers.push(String(chunk)));
    socket.on("error", () => undefined);
    for (let n = 0; n < 40 && answers.length === 0; n += 1) {
      socket.write(`${piece.length.toString(16)}\r\n`);
      socket.write(piece);
      await new Promise<void>((resolve) => void socket.write("\r\n", () => resolve()));
    }
    await expect.poll(() => answers.join("")).toMatch(/^HTTP\/1.1 413/);
  });

  test("that lies about its length is cut off, and so are requests that smuggle another", async () => {
    const { server } = await withSession();
    const head = `POST /api/sessions/s1/title HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nauthorization: Bearer ${server.token}\r\ncontent-type: application/json\r\n`;
    const raw = async (text: string): Promise<string> => {
      const socket = await rawSocket(server);
      socket.end(text);
      let answer = "";
      for await (const chunk of socket) answer += String(chunk);
      return answer;
    };
    expect(await raw(`${head}content-length: 100\r\n\r\n{"title":"x"}`)).toMatch(/^(?:HTTP\/1.1 400|$)/);
    expect(
      await raw(
        `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /api/server HTTP/1.1\r\n\r\n`,
      ),
    ).toMatch(/^HTTP\/1.1 400/);
    expect(await raw("\u0000\u0001 not http\r\n\r\n")).toMatch(/^HTTP\/1.1 400/);
  });
});

test("missing resources and impossible operations each have a status and a code", async () => {
  const parts = await withSession();
  expect(await get(parts, "/api/nothing")).toEqual([404, "not_found"]);
  expect(await get(parts, "/api/sessions/none")).toEqual([404, "session_not_found"]);
  expect(await get(parts, "/api/sessions/none/events")).toEqual([404, "session_not_found"]);
  expect(await get(parts, "/api/sessions/none/log")).toEqual([404, "session_not_found"]);
  expect(await get(parts, "/api/sessions/-bad")).toEqual([400, "session_id_invalid"]);
  expect(await get(parts, "/api/sessions/s1/turns/none")).toEqual([404, "turn_unknown"]);
  expect(await get(parts, "/api/sessions/s1/requests/9")).toEqual([404, "request_unknown"]);
  expect(await get(parts, "/api/sessions/s1/requests/x")).toEqual([400, "parameter_invalid"]);
  expect(await get(parts, "/api/sessions/s1/requests/1/diff/7")).toEqual([404, "request_unknown"]);
  expect(await get(parts, `/api/sessions/s1/blobs/${"a".repeat(64)}`)).toEqual([404, "blob_not_found"]);
  expect(await get(parts, "/api/sessions/s1/log?after=x")).toEqual([400, "parameter_invalid"]);
  expect(await get(parts, "/api/sessions/s1/log?path=some")).toEqual([400, "parameter_invalid"]);
  expect(await get(parts, "/api/sessions/s1/export?format=pdf")).toEqual([400, "format_unknown"]);
  expect(await get(parts, "/api/sessions/s1/switch")).toEqual([400, "parameter_invalid"]);
  expect(await get(parts, "/api/sessions?limit=0")).toEqual([400, "parameter_invalid"]);
  expect(await get(parts, "/api/sessions?before=x")).toEqual([400, "parameter_invalid"]);
  expect(await post(parts, "/api/sessions", { id: "s1" })).toEqual([409, "session_exists"]);
  expect(await post(parts, "/api/sessions", { id: "../x" })).toEqual([400, "session_id_invalid"]);
  expect(await post(parts, "/api/sessions/s1/resume", {})).toEqual([409, "nothing_to_resume"]);
  expect(await post(parts, "/api/sessions/s1/permissions/none", { decision: "allow" })).toEqual([
    409,
    "permission_not_pending",
  ]);
  expect(await post(parts, "/api/sessions/s1/cancel", { turn: "none" })).toEqual([404, "turn_unknown"]);
  expect(await post(parts, "/api/sessions/s1/truncate", { from: 1, keepTurns: 1 })).toEqual([
    400,
    "field_invalid",
  ]);
  expect(await post(parts, "/api/sessions/s1/truncate", { keepTurns: 0 })).toEqual([
    400,
    "keep_turns_invalid",
  ]);
  expect(await get(parts, "/")).toEqual([404, undefined]);
  expect(parts.problems).toEqual([]);
});

test("the same turn sent twice is one turn", async () => {
  const parts = await withSession();
  const body = { input: "again", turn: "tn_mine" };
  const [first, second] = await Promise.all([
    post(parts, "/api/sessions/s1/turns", body),
    post(parts, "/api/sessions/s1/turns", body),
  ]);
  expect([first[0], second[0]].toSorted((a, b) => a - b)).toEqual([202, expect.toBeOneOf([202, 409])]);
  const session = await parts.remote.open({ id: "s1" });
  await expect.poll(async () => (await get(parts, "/api/sessions/s1/turns/tn_mine?wait=5"))[0]).toBe(200);
  expect(await post(parts, "/api/sessions/s1/turns", body)).toEqual([202, undefined]);
  const asked: unknown[] = [];
  for await (const event of session.events()) if (event.type === "user_message") asked.push(event.content);
  expect(asked).toHaveLength(2);
});

test("an internal error reaches the client without a path or a stack, and the terminal with both", async () => {
  const folder = temporaryFolder();
  const parts = await served({ store: fileStore(folder) });
  symlinkSync("/dev/null", `${folder}/unreadable.jsonl`);
  const answer = await ask(parts.server, { path: "/api/sessions/unreadable" });
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain(folder);
  expect(answer.text).not.toMatch(/at \w+ \(|node:|\.ts/);
  expect(parts.problems.join()).not.toBe("");
  // The list names the damaged session, and nothing about the machine.
  writeFileSync(`${folder}/broken.jsonl`, '{"v":1,"broken\n{"more":1}\n');
  const list = await parts.remote.list();
  expect(list.map(({ id }) => id)).toEqual(["broken"]);
  expect(JSON.stringify(list)).not.toContain(folder);
});
