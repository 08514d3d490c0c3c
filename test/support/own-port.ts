/**
 * A port for a server that goes away and comes back on it. Those that the system hands out itself (from 32768 on) may in
 * the meantime be given to anybody who listens or connects anywhere; below them nobody comes by chance.
 *
 * @module
 */

import { createServer } from "node:net";

const FIRST = 20_000;
const COUNT = 12_000;

let given = 0;

export async function ownPort(): Promise<number> {
  for (;;) {
    // Every test file runs in a process of its own, and they must not meet.
    const port = FIRST + ((process.pid * 31 + given) % COUNT);
    given += 1;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port }, () => server.close(() => resolve(true)));
  });
}
