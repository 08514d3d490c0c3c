/**
 * What the API promises about turns, for servers that share a folder: one holds a session, the other gets requests
 * about it.
 */

import {
  appendFileSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { fileStore, type LoggedEvent } from "../../src/index.ts";
import { frameLine } from "../../src/runtime/log/line-framing.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import {
  beside,
  busy,
  codeOf,
  ended,
  endsOf,
  get,
  logOf,
  messageOf,
  post,
  servedAt,
} from "./promise-fixture.ts";
import { ask, codeIn, servedAlone } from "./server-fixture.ts";

describe("a new session", () => {
  test("exists for every process when its 201 is sent, empty and private, with the chosen model", async () => {
    const folder = temporaryFolder();
    const [one, other] = [await beside(folder), await beside(folder)];
    expect((await post(one.server, "", { id: "plain" })).status).toBe(201);
    expect((await get(other.server, "/plain")).body).toMatchObject({ id: "plain", lastSeq: -1 });
    expect(statSync(join(folder, "plain.jsonl"))).toMatchObject({ size: 0, mode: 0o100600 });
    expect((await post(one.server, "", { id: "chosen", model: "test/other-model" })).status).toBe(201);
    const log = await fileStore(folder).open("chosen", { mode: "read" });
    expect(log.events).toMatchObject([
      { type: "session_start" },
      { type: "settings", settings: { target: { model: "other-model" } } },
    ]);
    expect(codeOf(await post(other.server, "", { id: "plain" }))).toBe("session_exists");
  });

  test("does not exist if it cannot be created with its model", async () => {
    const { server, store } = await servedAlone();
    expect((await post(server, "", { id: "s1", model: "nonsense" })).status).toBe(400);
    expect(await store.exists("s1")).toBe(false);
    expect((await get(server, "/s1")).status).toBe(404);
    expect((await post(server, "", { id: "s1" })).status).toBe(201);
  });
});

describe("the same request sent again", () => {
  test("is answered with the state of the first while that waits, runs, has ended, and after 70 further turns", async () => {
    const { server, finish, folder } = await busy();
    const second = { input: "two", turn: "second" };
    const first = { input: "one", turn: "first" };
    expect(await post(server, "/s1/turns", second)).toMatchObject({ status: 202, body: { state: "queued" } });
    expect(await post(server, "/s1/turns", second)).toMatchObject({ status: 202, body: { state: "queued" } });
    expect(await post(server, "/s1/turns", first)).toMatchObject({ status: 202, body: { state: "running" } });
    finish();
    await ended(server, "second");
    for (let n = 0; n < 70; n += 1) {
      await post(server, "/s1/turns", { input: "more", turn: `more-${n}` });
      await ended(server, `more-${n}`);
    }
    for (const request of [first, second])
      expect(await post(server, "/s1/turns", request)).toMatchObject({
        status: 202,
        body: { turn: request.turn, state: "done", result: { status: "completed" } },
      });
    expect((await endsOf(folder)).length).toBe(72);
  });

  test("starts one turn, even if both are in flight at once", async () => {
    const { server, folder } = await servedAt();
    const request = { input: "one", turn: "same" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(server, "/s1/turns", request)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    await ended(server, "same");
    expect(await endsOf(folder)).toEqual([["same", "completed"]]);
  });

  test("is recognised by a server started later, and by another running server", async () => {
    const { server, folder } = await servedAt();
    await post(server, "/s1/turns", { input: "one", turn: "t1" });
    await ended(server, "t1");
    await post(server, "/s1/retry", { turn: "t2" });
    await ended(server, "t2");
    await server.close();
    const later = await beside(folder);
    const again = await post(later.server, "/s1/turns", { input: "one", turn: "t1" });
    expect(again).toMatchObject({ status: 202, body: { state: "done", result: { status: "completed" } } });
    expect(await post(later.server, "/s1/retry", { turn: "t2" })).toMatchObject({ status: 202 });
    expect(await endsOf(folder)).toHaveLength(2);
  });

  test.each([
    ["another input", "turns", { input: "other" }, "another input"],
    ["another kind", "retry", {}, "it was a send, not a retry"],
    ["another model", "turns", { input: "two", model: "test/other" }, "another model"],
    ["another schema", "turns", { input: "two", output: { type: "object" } }, "another output"],
  ])("with %s is refused with the reason while the first waits", async (_what, route, body, words) => {
    const { server } = await busy();
    await post(server, "/s1/turns", { input: "two", turn: "second" });
    const answer = await post(server, `/s1/${route}`, { ...body, turn: "second" });
    expect([answer.status, codeOf(answer)]).toEqual([409, "turn_exists"]);
    expect(messageOf(answer)).toContain(words);
  });

  test("with another input is refused with the reason after a restart, and large inputs are compared by content", async () => {
    const { server, folder } = await servedAt();
    await post(server, "/s1/turns", picture("a"));
    await ended(server, "t1");
    await server.close();
    const later = await beside(folder);
    expect(await post(later.server, "/s1/turns", picture("a"))).toMatchObject({ status: 202 });
    const other = await post(later.server, "/s1/turns", picture("b"));
    expect([other.status, codeOf(other), messageOf(other)]).toEqual([
      409,
      "turn_exists",
      expect.stringContaining("another input"),
    ]);
  });
});

const picture = (fill: string): object => ({
  turn: "t1",
  input: [
    { type: "text", text: "look" },
    { type: "image", mediaType: "image/png", data: Buffer.alloc(90_000, fill).toString("base64") },
  ],
});

describe("a waiting turn", () => {
  test("is in a private file next to the log until the log has its end", async () => {
    const { server, finish, folder } = await busy();
    await post(server, "/s1/turns", { input: "two", turn: "second" });
    const file = join(folder, "s1.waiting");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toContain('"second"');
    finish();
    await ended(server, "second");
    await expect.poll(() => readdirSync(folder).includes("s1.waiting")).toBe(false);
  });

  test("is started by the next server after a clean stop, in order, each once", async () => {
    const { server, folder } = await busy();
    for (const turn of ["b", "c", "d"]) await post(server, "/s1/turns", { input: turn, turn });
    await server.close();
    expect(await endsOf(folder)).toEqual([["first", "cancelled"]]);
    const later = await beside(folder);
    for (const turn of ["b", "c", "d"])
      expect((await ended(later.server, turn)).body).toMatchObject({ result: { status: "completed" } });
    expect(await endsOf(folder)).toEqual([
      ["first", "cancelled"],
      ["b", "completed"],
      ["c", "completed"],
      ["d", "completed"],
    ]);
    expect(later.problems).toEqual([]);
  });

  test("is started when the process that holds the session releases it", async () => {
    const { server, folder } = await busy();
    await post(server, "/s1/turns", { input: "two", turn: "second" });
    await server.close();
    const holder = await fileStore(folder).open("s1", { mode: "write" });
    const later = await beside(folder);
    expect((await get(later.server, "/s1/turns/second")).body).toMatchObject({ state: "queued" });
    await holder.close();
    expect((await ended(later.server, "second")).body).toMatchObject({ result: { status: "completed" } });
  });

  test("that can no longer start ends as failed, with the reason", async () => {
    const { server, folder } = await busy();
    await post(server, "/s1/turns", { input: "two", turn: "second", model: "test/other" });
    await server.close();
    const refusing = await servedAlone({
      store: fileStore(folder),
      modelFrom: () => {
        throw Object.assign(new Error("no such model here"), {
          name: "ThroughlineError",
          code: "model_invalid",
        });
      },
    });
    expect((await ended(refusing.server, "second")).body).toMatchObject({
      state: "done",
      result: { status: "failed", error: { message: expect.stringContaining("no such model") } },
    });
    expect(readdirSync(folder).includes("s1.waiting")).toBe(false);
  });

  test("in a damaged file: the intact turns are started, the rest is kept and reported", async () => {
    const { server, folder } = await busy();
    for (const turn of ["b", "c", "d"]) await post(server, "/s1/turns", { input: turn, turn });
    await server.close();
    const file = join(folder, "s1.waiting");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace('"input":"c"', '"input":"X"'));
    appendFileSync(file, '{"turn":"torn","reque');
    const later = await beside(folder);
    expect((await ended(later.server, "d")).body).toMatchObject({ result: { status: "completed" } });
    expect(await endsOf(folder)).toEqual([
      ["first", "cancelled"],
      ["b", "completed"],
      ["d", "completed"],
    ]);
    expect(later.problems).toEqual([expect.stringContaining("1 line")]);
    expect(readFileSync(join(folder, "s1.waiting-damaged"), "utf8")).toContain('"input":"X"');
    expect((await get(later.server, "/s1/turns/c")).status).toBe(404);
  });

  test("is not promised if it cannot be recorded", async () => {
    const { server, folder, problems } = await busy();
    writeFileSync(join(folder, "elsewhere"), "");
    rmSync(join(folder, "s1.waiting"));
    symlinkSync(join(folder, "elsewhere"), join(folder, "s1.waiting"));
    for (const request of [{ input: "two" }, { input: "two", turn: "second" }])
      expect((await post(server, "/s1/turns", request)).status).toBe(500);
    expect(readFileSync(join(folder, "elsewhere"), "utf8")).toBe("");
    expect(problems.join()).toContain("symbolic link");
  });
});

describe("a cancel", () => {
  test("of a waiting turn is kept: it logs the turn's end, and repeating its request starts nothing", async () => {
    const { server, finish, folder } = await busy();
    const second = { input: "two", turn: "second" };
    await post(server, "/s1/turns", second);
    expect(await post(server, "/s1/cancel", { turn: "second" })).toMatchObject({
      status: 200,
      body: { cancelled: true },
    });
    expect((await get(server, "/s1/turns/second")).body).toMatchObject({
      state: "done",
      result: { status: "cancelled" },
    });
    finish();
    await expect
      .poll(() => endsOf(folder))
      .toEqual([
        ["first", "completed"],
        ["second", "cancelled"],
      ]);
    expect(await post(server, "/s1/turns", second)).toMatchObject({
      status: 202,
      body: { state: "done", result: { status: "cancelled" } },
    });
    expect(await post(server, "/s1/cancel", { turn: "second" })).toMatchObject({ status: 200 });
    expect(codeOf(await post(server, "/s1/cancel", { turn: "first" }))).toBe("turn_ended");
    expect((await post(server, "/s1/cancel", { turn: "never" })).status).toBe(404);
    expect(codeOf(await post(server, "/s1/cancel"))).toBe("nothing_to_cancel");
  });

  test("of a waiting turn survives a stop: the next server logs its end and does not start it", async () => {
    const { server, folder } = await busy();
    await post(server, "/s1/turns", { input: "two", turn: "second" });
    await post(server, "/s1/turns", { input: "three", turn: "third" });
    expect((await post(server, "/s1/cancel", { turn: "second" })).status).toBe(200);
    await server.close();
    const later = await beside(folder);
    await ended(later.server, "third");
    const ends = new Map(await endsOf(folder));
    expect(ends).toEqual(
      new Map([
        ["first", "cancelled"],
        ["second", "cancelled"],
        ["third", "completed"],
      ]),
    );
  });

  test("of the running turn is answered when the turn's end is in the log", async () => {
    const { server, folder } = await busy();
    expect((await post(server, "/s1/cancel")).status).toBe(200);
    expect(await endsOf(folder)).toEqual([["first", "cancelled"]]);
  });
});

describe("a process that does not hold the session", () => {
  test("answers send, cancel and decide with session_locked, and the turn continues", async () => {
    const { server, finish, folder } = await busy();
    await post(server, "/s1/turns", { input: "two", turn: "second" });
    const other = await beside(folder);
    for (const [path, body] of [
      ["/s1/turns", { input: "x" }],
      ["/s1/retry", {}],
      ["/s1/cancel", {}],
      ["/s1/cancel", { turn: "first" }],
      ["/s1/cancel", { turn: "second" }],
      ["/s1/permissions/pr_1", { decision: "allow" }],
      ["/s1/permissions/pr_1", { decision: "deny" }],
      ["/s1/title", { title: "x" }],
    ] as const) {
      const answer = await post(other.server, path, body);
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 409, "session_locked"]);
    }
    finish();
    expect((await ended(server, "second")).body).toMatchObject({ result: { status: "completed" } });
    expect(codeIn(await ask(other.server, { path: "/api/sessions/s1/turns/unknown" }))).toBe("turn_unknown");
  });

  test("reports the state of the holder's turns, waits for them, and answers a repeated request", async () => {
    const { server, finish, folder } = await busy();
    await post(server, "/s1/turns", { input: "two", turn: "second" });
    const other = await beside(folder);
    expect((await get(other.server, "/s1/turns/first")).body).toMatchObject({ state: "running" });
    expect((await get(other.server, "/s1/turns/second")).body).toMatchObject({ state: "queued" });
    expect(await post(other.server, "/s1/turns", { input: "two", turn: "second" })).toMatchObject({
      status: 202,
      body: { state: "queued" },
    });
    const differs = await post(other.server, "/s1/turns", { input: "three", turn: "second" });
    expect([differs.status, messageOf(differs)]).toEqual([409, expect.stringContaining("another input")]);
    const waits = [ended(other.server, "first"), ended(other.server, "second")];
    expect((await get(other.server, "/s1/turns/first?wait=1")).body).toMatchObject({ state: "running" });
    finish();
    for (const answer of await Promise.all(waits))
      expect(answer.body).toMatchObject({ state: "done", result: { status: "completed" } });
    expect(server.port).not.toBe(other.server.port);
  });
});

test("a server whose session was taken over ends its turn, and shows its viewers what the new holder writes", async () => {
  const { server, finish, folder } = await busy();
  const viewer = await (await connect(server.url, { token: server.token })).open({ id: "s1", mode: "read" });
  const seen: LoggedEvent[] = [];
  const stop = new AbortController();
  const other = { type: "notice", code: "other", message: "written by another process" } as const;
  const following = (async () => {
    for await (const event of viewer.follow({ signal: stop.signal })) {
      if ("seq" in event) seen.push(event);
      if (event.type === "notice" && event.code === "other") stop.abort();
    }
  })();
  await expect.poll(() => seen.length).toBeGreaterThan(3);
  const path = join(folder, "s1.jsonl");
  const last = (await logOf(folder)).at(-1) as LoggedEvent;
  copyFileSync(path, `${path}.copy`);
  appendFileSync(`${path}.copy`, frameLine({ ...last, ...other, seq: last.seq + 1, epoch: last.epoch + 1 }));
  renameSync(`${path}.copy`, path);
  finish();
  await following;
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index));
  expect((await get(server, "/s1/turns/first")).body).toMatchObject({ result: { status: "interrupted" } });
  await viewer.close();
});
