/**
 * A server that sends exactly the bytes a test gives it, as no HTTP server would. Closed after the test.
 *
 * @module
 */

import { createServer, type AddressInfo, type Socket } from "node:net";

import { afterTest } from "./clean-up.ts";

export interface RawServer {
  /** Without a path. */
  readonly origin: string;
  /** The connections that are still open. */
  readonly open: ReadonlySet<Socket>;
  readonly connections: () => number;
  readonly requests: () => number;
}

/** `answer` is called with each POST or GET that begins, and their count so far. */
export async function rawServer(answer: (socket: Socket, nth: number) => void): Promise<RawServer> {
  const open = new Set<Socket>();
  let connections = 0;
  let requests = 0;
  const server = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => void open.delete(socket));
    socket.on("data", (bytes) => {
      if (!/^(?:POST|GET) \//.test(bytes.toString("latin1", 0, 8))) return;
      requests += 1;
      answer(socket, requests);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterTest(async () => {
    for (const socket of open) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open,
    connections: () => connections,
    requests: () => requests,
  };
}

/** Sends it again and again until the connection is closed. */
export function flood(socket: Socket, text: string): void {
  const block = text.repeat(200);
  const more = (): void => {
    if (!socket.destroyed) socket.write(block, () => setImmediate(more));
  };
  more();
}

export const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
export const HINT = "HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n";
