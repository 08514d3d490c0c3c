/**
 * Thousands of connections that never showed a valid key, in every half-finished state. None of them may keep the owner
 * out, and none may hold much for long.
 */

import { connect as connectSocket, type Socket } from "node:net";

import { describe, expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import type { RunningServer } from "../../src/access/server/index.ts";
import { afterTest } from "../contracts/file-fixture.ts";
import { say } from "../contracts/session-fixture.ts";
import { ask, codeIn, rawSocket, servedAlone } from "./server-fixture.ts";

type Opening = (host: string) => string;

const login = (host: string, ...headers: readonly string[]): string =>
  [`POST /api/login HTTP/1.1`, `host: ${host}`, "content-type: application/json", ...headers, "", ""].join(
    "\r\n",
  );
const refused = (host: string, ...headers: readonly string[]): string =>
  login(host, ...headers).replace("/api/login", "/api/sessions");

const OPENINGS: Readonly<Record<string, Opening>> = {
  "say nothing": () => "",
  "send half a head": (host) => `GET /api/server HTTP/1.1\r\nhost: ${host}\r\nx-slow: `,
  "send half a login": (host) => `${login(host, "content-length: 100")}{"code":`,
  "send half a login in chunks": (host) => `${login(host, "transfer-encoding: chunked")}2\r\n{"\r\n`,
  "ask with Expect before a login": (host) => login(host, "content-length: 100", "expect: 100-continue"),
  "ask with Expect before a refused body": (host) =>
    refused(host, "content-length: 100", "expect: 100-continue"),
  "never end a refused body": (host) => `${refused(host, "content-length: 1000")}{`,
  "never end a body with a wrong token": (host) =>
    `${refused(host, "transfer-encoding: chunked", "authorization: Bearer wrong")}2\r\n{"\r\n`,
  "never end a body for another host": () => `${login("example.com", "content-length: 100")}{`,
  "keep a refused connection": (host) => `GET /api/server HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
  "send several requests and half a login": (host) =>
    `${`GET /login?code=x HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(5)}${login(host, "content-length: 100")}{`,
};

/** Opens a connection and hands its first bytes to the system. What becomes of it is up to the server. */
function open(server: RunningServer, opening: Opening): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connectSocket({ host: "127.0.0.1", port: server.port });
    afterTest(() => void socket.destroy());
    socket.on("error", () => resolve(socket));
    socket.on("close", () => resolve(socket));
    socket.on("connect", () =>
      socket.write(opening(`127.0.0.1:${server.port}`), () => {
        resolve(socket);
      }),
    );
    socket.resume();
  });
}

function openMany(
  server: RunningServer,
  count: number,
  openings: readonly Opening[],
): Promise<readonly Socket[]> {
  return Promise.all(
    Array.from({ length: count }, (_, n) => open(server, openings[n % openings.length] ?? (() => ""))),
  );
}

/** What the owner does: sends requests with the token, works in a session, and logs in a new client by a link. */
async function expectOwnerServed(server: RunningServer): Promise<void> {
  expect((await ask(server, { path: "/api/server" })).status).toBe(200);
  const fresh = await connect(await server.newLink());
  const session = await fresh.open();
  expect((await session.send("Hello").result()).status).toBe("completed");
  const link = new URL(await server.newLink());
  const browser = await ask(server, {
    path: `${link.pathname}${link.search}`,
    bare: true,
    headers: { host: link.host },
  });
  expect([browser.status, browser.headers["set-cookie"]]).toEqual([200, [expect.any(String)]]);
}

describe("the owner has access", () => {
  test.each(Object.entries(OPENINGS))("while strangers %s on every connection", async (_name, opening) => {
    const { server } = await servedAlone({ server: { limits: { connections: 40 } } });
    await openMany(server, 90, [opening]);
    await expect.poll(() => server.connections).toBe(40);
    await expectOwnerServed(server);
    await expect.poll(() => server.connections).toBeLessThanOrEqual(40);
  });

  test("while 2,300 half-sent logins are open", async () => {
    const { server } = await servedAlone();
    await openMany(server, 2300, [OPENINGS["send half a login"] as Opening]);
    await expectOwnerServed(server);
    await expect.poll(() => server.connections).toBeLessThanOrEqual(2000);
  });

  test("while 2,300 strangers in every state reconnect as often as they are disconnected", async () => {
    const { server } = await servedAlone({ script: [{ output: [say("one")] }] });
    const openings = Object.values(OPENINGS);
    let over = false;
    let returns = 0;
    afterTest(() => {
      over = true;
    });
    const keepOpen = async (n: number): Promise<void> => {
      const socket = await open(server, openings[n % openings.length] as Opening);
      const again = (): void => {
        returns += 1;
        // Bounded, because what a busy machine cannot accept is not the question here.
        if (!over && returns < 8000) void keepOpen(n + 1);
      };
      if (socket.destroyed) again();
      else socket.once("close", again);
    };
    await Promise.all(Array.from({ length: 2300 }, (_, n) => keepOpen(n)));
    for (let round = 0; round < 3; round += 1) await expectOwnerServed(server);
    over = true;
  });

  test("and keeps it: a stream and a wait for an answer outlive any number of strangers", async () => {
    const { server } = await servedAlone({ server: { limits: { connections: 10 } } });
    await ask(server, { method: "POST", path: "/api/sessions", body: '{"id":"s1"}' });
    const stream = await rawSocket(server);
    stream.write(
      `GET /api/sessions/s1/events HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nauthorization: Bearer ${server.token}\r\n\r\n`,
    );
    await expect.poll(() => server.counters.open).toBe(1);
    await openMany(server, 100, Object.values(OPENINGS));
    await expectOwnerServed(server);
    expect([server.counters.open, stream.destroyed]).toEqual([1, false]);
  });

  test("on a connection used before, because strangers are disconnected first", async () => {
    const { server } = await servedAlone({ server: { limits: { connections: 10 } } });
    const owner = await rawSocket(server);
    const asked = async (): Promise<string> => {
      const answer = new Promise<string>(
        (resolve) => void owner.once("data", (data) => resolve(String(data))),
      );
      owner.write(
        `GET /api/server HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nauthorization: Bearer ${server.token}\r\n\r\n`,
      );
      return answer;
    };
    expect(await asked()).toMatch(/^HTTP\/1.1 200/);
    await openMany(server, 100, Object.values(OPENINGS));
    expect(await asked()).toMatch(/^HTTP\/1.1 200/);
  });
});

describe("a request without a valid key", () => {
  test("may have only a small body: a login larger than a code is refused", async () => {
    const { server } = await servedAlone();
    const body = JSON.stringify({ code: "x".repeat(5000) });
    const answer = await ask(server, { method: "POST", path: "/api/login", body });
    expect([answer.status, codeIn(answer)]).toEqual([413, "body_too_large"]);
  });

  test.each(Object.entries(OPENINGS).filter(([name]) => /login|body|ask/.test(name)))(
    "has little time: connections that %s are closed",
    async (_name, opening) => {
      const { server } = await servedAlone({ server: { limits: { strangerMs: 200, requestMs: 600_000 } } });
      const socket = await open(server, opening);
      if (!socket.destroyed) await new Promise<void>((resolve) => void socket.on("close", () => resolve()));
      await expect.poll(() => server.connections).toBe(0);
    },
  );
});
