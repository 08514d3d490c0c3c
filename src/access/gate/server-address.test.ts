import { createServer, type Server } from "node:http";

import { expect, test } from "vitest";

import { afterTest } from "../../../test/support/clean-up.ts";
import { bracketed, hostNames, listen } from "./server-address.ts";

function newServer(): Server {
  const server = createServer();
  afterTest(() => server.close());
  return server;
}

test("a server listens on loopback and its default port, unless its caller names others", async () => {
  const { host, port } = await listen(newServer(), {}, 0);
  expect(host).toBe("127.0.0.1");
  expect(port).toBeGreaterThan(0);
  await expect(listen(newServer(), {}, port)).rejects.toMatchObject({ code: "port_in_use" });
  const other = await listen(newServer(), { host: "localhost", port: 0 }, port);
  expect(other.host).toBe("localhost");
});

test("the names of a server are its address and those of loopback, with the port, and those that were added", () => {
  expect([...hostNames("127.0.0.1", 4319, ["Laptop.LAN:4319"])]).toEqual([
    "127.0.0.1:4319",
    "localhost:4319",
    "laptop.lan:4319",
  ]);
  expect([...hostNames("::", 80, [])]).toEqual([
    "[::]",
    "[::]:80",
    "127.0.0.1",
    "127.0.0.1:80",
    "localhost",
    "localhost:80",
    "[::1]",
    "[::1]:80",
  ]);
  expect(["::1", "127.0.0.1"].map(bracketed)).toEqual(["[::1]", "127.0.0.1"]);
});
