/**
 * A port for a server that stops and restarts on it. The system may meanwhile give the ports that it hands out itself
 * (from 32768) to any process that listens or connects; below those, a collision is unlikely.
 *
 * @module
 */

import { createServer } from "node:net";

const FIRST = 20_000;
/** Each worker of a run has its own ports: one must not take the port of a server that another has just killed. */
const WORKERS = 6;
const COUNT = 2000;
const OWN = FIRST + ((Number(process.env["VITEST_POOL_ID"] ?? 1) - 1) % WORKERS) * COUNT;

let given = 0;

export async function ownPort(): Promise<number> {
  for (;;) {
    // Two runs on one machine begin at different ports.
    const port = OWN + ((process.pid * 31 + given) % COUNT);
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
