import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

import { expect, test } from "vitest";

/** The message of the error with which Node would end the process. */
function strayError(socket: Socket): string {
  try {
    socket.emit("error", new Error("read ECONNRESET"));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

test("an unhandled error of a connection says who made the connection; other errors are left alone", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [far] = await accepted;
  expect(strayError(socket)).toMatch(/^read ECONNRESET\n\(no listener for[^]*stray-errors\.test\.ts/);
  expect(strayError(far)).toMatch(
    /^read ECONNRESET\n\(no listener for this connection of a server, port \d+/,
  );
  const heard: string[] = [];
  socket.on("error", ({ message }) => heard.push(message));
  expect([strayError(socket), heard]).toEqual(["", ["read ECONNRESET"]]);
  socket.destroy();
  far.destroy();
  server.close();
});
