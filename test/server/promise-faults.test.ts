/** Promised turns when something is in the way: a dead server, a full disk, a session that another process removes. */

import { copyFileSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { fileStore } from "../../src/index.ts";
import { countedIo, errno, temporaryFolder } from "../contracts/file-fixture.ts";
import { anyTool, call, say } from "../contracts/session-fixture.ts";
import { beside, busy, codeOf, ended, endsOf, get, logOf, post, servedAt } from "./promise-fixture.ts";
import { ask, servedAlone } from "./server-fixture.ts";

describe("a turn that waits when its server ends", () => {
  test("is started by another running server as soon as that server gets a request about it", async () => {
    const { server, folder } = await busy();
    const other = await beside(folder);
    await post(server, "/s1/turns", { input: "two", turn: "second" });
    expect((await get(other.server, "/s1/turns/second")).body).toMatchObject({ state: "queued" });
    await server.close();
    expect((await ended(other.server, "second")).body).toMatchObject({ result: { status: "completed" } });
  });

  test("can be cancelled by another running server", async () => {
    const { server, folder } = await busy();
    const other = await beside(folder);
    await post(server, "/s1/turns", { input: "two", turn: "second" });
    expect(codeOf(await post(other.server, "/s1/cancel", { turn: "second" }))).toBe("session_locked");
    await server.close();
    expect((await post(other.server, "/s1/cancel", { turn: "second" })).status).toBe(200);
    await expect.poll(() => endsOf(folder)).toContainEqual(["second", "cancelled"]);
  });
});

test("on a full disk, a turn that cannot start keeps waiting, and starts when there is space", async () => {
  const io = countedIo();
  const folder = temporaryFolder();
  const { server, finish } = await busy({ folder, store: fileStore(folder, { io }) });
  await post(server, "/s1/turns", { input: "two", turn: "second" });
  io.failWrite = () => {
    throw errno("ENOSPC");
  };
  finish();
  await expect.poll(async () => (await get(server, "/s1")).body["turn"]).toBeUndefined();
  expect((await get(server, "/s1/turns/second")).body).toMatchObject({ state: "queued" });
  io.failWrite = undefined;
  expect((await ended(server, "second")).body).toMatchObject({ result: { status: "completed" } });
  expect(await endsOf(folder)).toContainEqual(["second", "completed"]);
});

test("a request that could not be recorded runs when it is sent again", async () => {
  const { server, folder, finish } = await busy();
  const request = { input: "two", turn: "second" };
  rmSync(join(folder, "s1.waiting"));
  mkdirSync(join(folder, "s1.waiting"));
  expect((await post(server, "/s1/turns", request)).status).toBe(500);
  rmdirSync(join(folder, "s1.waiting"));
  expect(await post(server, "/s1/turns", request)).toMatchObject({ status: 202, body: { state: "queued" } });
  finish();
  expect((await ended(server, "second")).body).toMatchObject({ result: { status: "completed" } });
  expect(
    (await logOf(folder)).filter(({ turn, type }) => turn === "second" && type === "turn_end"),
  ).toHaveLength(1);
});

test("an answer to one of two questions is in the log when it is acknowledged, and the question is not asked again", async () => {
  const tools = ["one", "two"].map((name) => anyTool(name, () => `ran ${name}`, { access: "execute" }));
  const asking = { tools, permissions: "ask" } as const;
  const { server, folder } = await servedAt({
    ...asking,
    script: [{ output: [call("one"), call("two")] }, { output: [say("Done.")] }],
  });
  await post(server, "/s1/turns", { input: "go", turn: "first" });
  const question = async (tool: string): Promise<string> => {
    const found = (await logOf(folder)).find(
      (event) => event.type === "permission_request" && event.tool === tool,
    );
    return found?.type === "permission_request" ? found.requestId : "";
  };
  await expect.poll(() => question("one")).not.toBe("");
  const answered = await post(server, `/s1/permissions/${await question("one")}`, { decision: "deny" });
  expect(answered.status).toBe(200);
  expect(await logOf(folder)).toContainEqual(
    expect.objectContaining({ type: "permission_decision", decision: "deny", by: "person" }),
  );
  await expect.poll(() => question("two")).not.toBe("");

  // The state that a kill would leave now.
  const later = temporaryFolder();
  copyFileSync(join(folder, "s1.jsonl"), join(later, "s1.jsonl"));
  const next = await servedAlone({
    ...asking,
    store: fileStore(later),
    script: [{ output: [say("Done.")] }],
  });
  const before = (await logOf(later)).length;
  expect((await post(next.server, "/s1/resume")).status).toBe(202);
  const asked = async () =>
    (await logOf(later))
      .slice(before)
      .flatMap((event) => (event.type === "permission_request" ? [event] : []));
  await expect.poll(async () => (await asked()).map(({ tool }) => tool)).toEqual(["two"]);
  const [second] = await asked();
  expect(
    (await post(next.server, `/s1/permissions/${second?.requestId}`, { decision: "allow" })).status,
  ).toBe(200);
  expect((await ended(next.server, "first")).body).toMatchObject({ result: { status: "completed" } });
  const results = (await logOf(later)).flatMap((event) =>
    event.type === "tool_result" ? [event.status] : [],
  );
  expect(results.toSorted((a, b) => a.localeCompare(b))).toEqual(["denied", "ok"]);
});

describe("a session that another server removes", () => {
  test("is gone here too: its stream ends, and a new session under its name is a different one", async () => {
    const { server, folder } = await servedAt();
    await post(server, "/s1/turns", { input: "one", turn: "t1" });
    await ended(server, "t1");
    await server.close();
    const [here, there] = [await beside(folder), await beside(folder)];
    const viewer = await (
      await connect(here.server.url, { token: here.server.token })
    ).open({ id: "s1", mode: "read" });
    const stop = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const event of viewer.follow({ signal: stop.signal }))
        if ("seq" in event) seen.push(event.seq);
    })().catch((error: unknown) => error);
    await expect.poll(() => seen.length).toBeGreaterThan(3);
    const removed = await ask(there.server, { method: "DELETE", path: "/api/sessions/s1" });
    expect(removed.status).toBe(200);
    expect((await get(here.server, "/s1")).status).toBe(404);
    expect((await post(here.server, "/s1/turns", { input: "x" })).status).toBe(404);
    expect(await following).toMatchObject({ code: "session_not_found" });
    expect((await post(there.server, "", { id: "s1" })).status).toBe(201);
    expect((await get(here.server, "/s1")).body).toMatchObject({ lastSeq: -1 });
    expect((await get(here.server, "/s1/turns/t1")).status).toBe(404);
    stop.abort();
    await viewer.close();
  });

  test("is not removed while it is written elsewhere, and viewers keep their stream", async () => {
    const { server, folder, finish } = await busy();
    const other = await beside(folder);
    const viewer = await (
      await connect(other.server.url, { token: other.server.token })
    ).open({ id: "s1", mode: "read" });
    const seen: string[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const event of viewer.follow({ signal: stop.signal })) {
        seen.push(event.type);
        if (event.type === "turn_end") stop.abort();
      }
    })();
    await expect.poll(() => seen).toContain("tool_start");
    expect((await ask(other.server, { method: "DELETE", path: "/api/sessions/s1" })).status).toBe(409);
    finish();
    await following;
    expect(seen.filter((type) => type === "session_start")).toHaveLength(1);
    expect(server.counters.dropped).toBe(0);
    await viewer.close();
  });
});

test("a running compaction is reported as running, can be cancelled, and prevents the removal of its session", async () => {
  const { server, folder } = await servedAt({ emulator: { paceMs: 40 } });
  for (const turn of ["t1", "t2"]) {
    await post(server, "/s1/turns", { input: "Tell me something", turn });
    await ended(server, turn);
  }
  const compacting = post(server, "/s1/compact", { keepTurns: 1 });
  const running = async (): Promise<string | undefined> => {
    const last = (await logOf(folder)).at(-1);
    return last?.turn === "t2" || last?.type === "turn_end" ? undefined : last?.turn;
  };
  await expect.poll(running).toBeDefined();
  const turn = (await running()) ?? "";
  expect((await get(server, `/s1/turns/${turn}`)).body).toMatchObject({ state: "running" });
  const removing = await ask(server, { method: "DELETE", path: "/api/sessions/s1" });
  expect(removing.status).toBe(409);
  expect((await post(server, "/s1/cancel", { turn })).status).toBe(200);
  expect([(await compacting).status, codeOf(await compacting)]).toEqual([409, "compaction_cancelled"]);
});

test("reading a session's state does not lock out other writers", async () => {
  const { server, folder } = await servedAt({ server: { releaseMs: 100 } });
  await post(server, "/s1/turns", { input: "one", turn: "t1" });
  await ended(server, "t1");
  await expect
    .poll(async () => {
      await get(server, "/s1/turns/t1");
      const log = await fileStore(folder)
        .open("s1", { mode: "write" })
        .catch(() => undefined);
      await log?.close();
      return log !== undefined;
    })
    .toBe(true);
});

test("a chosen model stays until a step has logged it, and no longer", async () => {
  const { server, folder } = await servedAt({ server: { releaseMs: 50 } });
  const modelOf = async (one: typeof server): Promise<unknown> =>
    ((await get(one, "/s1")).body["model"] as { readonly label: string }).label;
  await post(server, "/s1/turns", { input: "one", turn: "t1" });
  await ended(server, "t1");
  await post(server, "/s1/model", { model: "test/emu-plain" });
  await expect.poll(async () => (await get(server, "/s1")).body["writer"]).toBe("none"); // released meanwhile
  expect(await modelOf(server)).toBe("openai/emu-plain");
  await post(server, "/s1/turns", { input: "two", turn: "t2" });
  await ended(server, "t2");
  await expect.poll(async () => (await get(server, "/s1")).body["writer"]).toBe("none");
  const other = await servedAlone({ store: fileStore(folder), server: { releaseMs: 50 } });
  await post(other.server, "/s1/model", { model: "test/emu-reasoner" });
  await post(other.server, "/s1/turns", { input: "three", turn: "t3" });
  await ended(other.server, "t3");
  await expect.poll(async () => (await get(other.server, "/s1")).body["writer"]).toBe("none");
  await post(server, "/s1/turns", { input: "four", turn: "t4" });
  await ended(server, "t4");
  const models = (await logOf(folder)).flatMap((event) =>
    event.type === "response_start" ? [event.origin.model] : [],
  );
  expect(models).toEqual(["emu-reasoner", "emu-plain", "emu-reasoner", "emu-reasoner"]);
});
