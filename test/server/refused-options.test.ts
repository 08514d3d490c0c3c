/** The client and the server refuse unknown options as a local session does. */

import { expect, test } from "vitest";

import { connect, type SessionHandle } from "../../src/access/client/index.ts";
import { startServer } from "../../src/access/server/index.ts";
import { createAgent, emulator, memoryStore } from "../../src/index.ts";
import { served } from "./server-fixture.ts";

const given = (value: unknown): never => value as never;
const refused = (message: string): object =>
  expect.objectContaining({
    code: "options_invalid",
    message: expect.stringContaining(message) as unknown,
  }) as object;

test("startServer refuses unknown and missing options", async () => {
  const agent = createAgent({ model: emulator() });
  const store = memoryStore();
  await expect(startServer(given({ agent, store, prot: 1 }))).rejects.toEqual(
    refused('did you mean "port"?'),
  );
  await expect(startServer(given({ agent, store, limits: { headM: 1 } }))).rejects.toEqual(
    refused('did you mean "limits.headMs"?'),
  );
  await expect(startServer(given({ agent, store: "./s" }))).rejects.toEqual(refused('fileStore("./s")'));
  await expect(startServer(given({ store }))).rejects.toEqual(refused("agent is undefined"));
  await expect(startServer({ agent, store, port: 70_000 })).rejects.toEqual(refused("port is 70000"));
});

test("the client refuses unknown options of connect, open, list and every method", async () => {
  const { remote, server } = await served();
  await expect(connect(server.url, given({ tokn: "x" }))).rejects.toEqual(refused('did you mean "token"?'));
  await expect(remote.open(given({ sessionId: "x" }))).rejects.toEqual(refused('did you mean "id"?'));
  await expect(remote.list(given({ limt: 1 }))).rejects.toEqual(refused('did you mean "limit"?'));
  const session = await remote.open();
  const calls: readonly ((one: SessionHandle) => unknown)[] = [
    (one) => one.send("x", given({ abortSignal: 1 })),
    (one) => one.send("x", { ready: () => Promise.resolve() }),
    (one) => one.resume(given({ abortSignal: 1 })),
    (one) => one.retry(given({ form: 1 })),
    (one) => one.edit(1, "x", given({ abortSignal: 1 })),
    (one) => one.approve("pr", given({ hash: 1 })),
    (one) => one.answer("el", given({ actoin: "accept" })),
    (one) => one.fork(given({ form: 1 })),
    (one) => one.compact(given({ keepTurn: 1 })),
    (one) => one.checkout(given({ too: 1 })),
    (one) => one.preview(given({ modle: "x" })),
    (one) => one.explain(given({ requst: 1 })),
    async (one) => {
      for await (const _ of one.events(given({ since: 1 }))) return;
    },
    async (one) => {
      for await (const _ of one.follow(given({ since: 1 }))) return;
    },
  ];
  for (const call of calls)
    await expect(async () => await call(session)).rejects.toMatchObject({ code: "options_invalid" });
  expect((await session.send("Hello", { bufferEvents: false }).result()).status).toBe("completed");
});

test("the server refuses unknown fields and parameters, with the one that was meant", async () => {
  const { server } = await served();
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const ask = async (path: string, body?: object): Promise<unknown> =>
    (
      await fetch(
        `${server.url}${path}`,
        body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) },
      )
    ).json();
  expect(await ask("/api/sessions?limt=3")).toMatchObject({
    error: { code: "parameter_invalid", message: 'unknown parameter "limt"; did you mean "limit"?' },
  });
  expect(await ask("/api/server?x=1")).toMatchObject({
    error: { code: "parameter_invalid", message: 'unknown parameter "x"' },
  });
  expect(await ask("/api/sessions", { modle: "x" })).toMatchObject({
    error: { code: "field_unknown", message: 'unknown field "modle"; did you mean "model"?' },
  });
});
