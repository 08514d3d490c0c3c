/**
 * A TCP port that forwards to another until the line is cut: the browser's own offline mode leaves open streams alone.
 */

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

import { afterTest } from "../contracts/file-fixture.ts";

export interface BreakableLine {
  readonly port: number;
  leadTo(port: number): void;
  /** Breaks open connections and refuses new ones. */
  cut(): void;
  mend(): void;
}

export async function breakableLine(): Promise<BreakableLine> {
  const open = new Set<Socket>();
  let target = 0;
  let broken = false;
  const server = createServer((near) => {
    if (broken) {
      near.destroy();
      return;
    }
    const far = connect({ host: "127.0.0.1", port: target });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen({ host: "127.0.0.1", port: 0 }, resolve);
  });
  const cut = (): void => {
    broken = true;
    for (const socket of open) socket.destroy();
  };
  afterTest(() => {
    cut();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(port) {
      target = port;
    },
    cut,
    mend() {
      broken = false;
    },
  };
}
