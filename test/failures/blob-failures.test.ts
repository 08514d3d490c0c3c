/** A blob that cannot be written or read is reported with our own code: as an event, over HTTP, on the command line. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { fileStore, type SessionEvent } from "../../src/index.ts";
import { expectProblem, newPlace, run } from "../cli/harness.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { anyTool } from "../contracts/session-fixture.ts";
import { scriptedAgent, served } from "../server/server-fixture.ts";

const PICTURE = Buffer.alloc(100_000, 1).toString("base64");
const picture = [
  { type: "text", text: "look" },
  { type: "image", mediaType: "image/png", data: PICTURE },
] as const;

async function eventsOf(turn: AsyncIterable<SessionEvent>): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of turn) events.push(event);
  return events;
}

test("a tool output that cannot be stored whole is stored in part, with a notice, and the turn continues", async () => {
  const folder = temporaryFolder();
  const { agent } = await scriptedAgent({
    script: [
      { output: [{ function_call: { name: "big", arguments: {} } }] },
      { output: [{ message: "Seen." }] },
    ],
    tools: [anyTool("big", () => "x".repeat(200_000), { access: "read" })],
  });
  const session = await agent.open({ store: fileStore(folder), id: "s" });
  writeFileSync(join(folder, "s.blobs"), "");
  const turn = session.send("go");
  const events = await eventsOf(turn);
  expect(await turn.result()).toMatchObject({ status: "completed", text: "Seen." });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "notice",
      code: "blob_write_failed",
      message: expect.stringMatching(/^only the shortened output of "big" .*Move it away/),
    }),
  );
  const [result] = events.filter((event) => event.type === "tool_result");
  expect(result).toMatchObject({ status: "ok", text: expect.stringContaining("bytes left out here") });
  expect(result).not.toHaveProperty("blob");
  await session.close();
});

test("a picture that cannot be stored is reported with its code, and the next message works", async () => {
  const folder = temporaryFolder();
  const { agent } = await scriptedAgent({ script: [{ output: [{ message: "Hello." }] }] });
  const session = await agent.open({ store: fileStore(folder), id: "s" });
  writeFileSync(join(folder, "s.blobs"), "");
  const outcome = await session
    .send(picture)
    .result()
    .then(
      ({ status, error }) => ({ status, code: error?.code }),
      (error: { readonly code: string }) => ({ status: "failed", code: error.code }),
    );
  expect(outcome).toEqual({ status: "failed", code: "blob_write_failed" });
  expect(await session.send("hi").result()).toMatchObject({ status: "completed", text: "Hello." });
  await session.close();
});

test.for(["pipe", "link"] as const)(
  "a %s in place of a picture fails the turn, and nothing waits",
  async (kind) => {
    const folder = temporaryFolder();
    const { agent } = await scriptedAgent({
      script: [{ output: [{ message: "One." }] }, { output: [{ message: "Two." }] }],
    });
    const first = await agent.open({ store: fileStore(folder), id: "s" });
    await first.send(picture).result();
    await first.close();
    const [name = ""] = readdirSync(join(folder, "s.blobs"));
    const path = join(folder, "s.blobs", name);
    rmSync(path);
    if (kind === "pipe") execFileSync("mkfifo", [path]);
    else symlinkSync("/dev/zero", path);
    const again = await agent.open({ store: fileStore(folder), id: "s" });
    const turn = again.send("and now?");
    expect(await turn.result()).toMatchObject({ status: "failed", error: { code: "blob_unreadable" } });
    await expect(again.blob(name)).rejects.toMatchObject({ code: "blob_unreadable" });
    await again.close();
  },
);

test("over HTTP, a failed blob is a server error, with the code and without a path", async () => {
  const folder = temporaryFolder();
  const { remote, server } = await served({
    store: fileStore(folder),
    script: [{ output: [{ message: "One." }] }],
  });
  const handle = await remote.open({ id: "s" });
  await handle.send(picture).result();
  const [name = ""] = readdirSync(join(folder, "s.blobs"));
  rmSync(join(folder, "s.blobs", name));
  mkdirSync(join(folder, "s.blobs", name));
  const answer = await fetch(`${server.url}/api/sessions/s/blobs/${name}`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  const body = await answer.text();
  expect([answer.status, body]).toEqual([500, expect.stringContaining('"blob_unreadable"')]);
  expect(body).not.toContain(folder);
  await expect(handle.blob(name)).rejects.toMatchObject({ code: "blob_unreadable" });
  await handle.close();
});

test("on the command line, a failed blob is one line with the code", async () => {
  const place = newPlace();
  const { agent } = await scriptedAgent({ script: [{ output: [{ message: "One." }] }] });
  const session = await agent.open({ store: fileStore(place.sessions), id: "s" });
  await session.send(picture).result();
  await session.close();
  const [name = ""] = readdirSync(join(place.sessions, "s.blobs"));
  rmSync(join(place.sessions, "s.blobs", name));
  symlinkSync("/etc/hostname", join(place.sessions, "s.blobs", name));
  const ran = await run(place, ["sessions", "export", "s"]);
  expectProblem(ran, 2, "blob_unreadable");
  expect(ran.err).toContain("a symbolic link is in its place. Move it away");
  expect(
    await run(place, ["sessions", "import", join(place.sessions, "s.jsonl"), "--id", "t"]),
  ).toMatchObject({
    code: 2,
    err: expect.stringContaining("[blob_unreadable]"),
  });
});
