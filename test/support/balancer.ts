/**
 * A TCP balancer for tests of several servers. It passes each new connection on to the next server in the ring; one that
 * refuses it is passed over. If none accepts, the connection is closed at once, as by a port on which nobody listens.
 * A connection stays with its server and ends with it.
 *
 *   const balancer = await startBalancer();
 *   balancer.join("a", 4319);
 *   balancer.join("b", 4320);
 *   balancer.leave("a");                       no new connections; those that exist stay
 *   balancer.openTo("b");                      how many connections lead there now
 *   await balancer.close();
 *
 * @module
 */

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Balancer {
  readonly port: number;
  /** http://127.0.0.1:PORT */
  readonly url: string;
  join(name: string, port: number): void;
  leave(name: string): void;
  openTo(name: string): number;
  close(): Promise<void>;
}

interface Target {
  readonly name: string;
  readonly port: number;
}

export async function startBalancer(): Promise<Balancer> {
  const links = new Map<Socket, string>();
  let ring: readonly Target[] = [];

  /** The first goes to the end, so that the next connection begins with the one after it. */
  const inTurn = (): readonly Target[] => {
    const order = ring;
    ring = [...ring.slice(1), ...ring.slice(0, 1)];
    return order;
  };

  const passOn = async (near: Socket): Promise<void> => {
    links.set(near, "");
    near.on("error", () => near.destroy());
    near.on("close", () => links.delete(near));
    const found = await firstAccepting(inTurn());
    if (found === undefined || near.destroyed) {
      found?.far.destroy();
      near.destroy();
      return;
    }
    links.set(near, found.name);
    bind(near, found.far);
    near.resume();
  };
  // Nothing is read before it is known where it goes.
  const server = createServer({ pauseOnConnect: true }, (near) => void passOn(near));
  await new Promise<void>((resolve) => {
    server.listen({ host: "127.0.0.1", port: 0 }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    join(name, to) {
      ring = [...ring.filter((one) => one.name !== name), { name, port: to }];
    },
    leave(name) {
      ring = ring.filter((one) => one.name !== name);
    },
    openTo: (name) => [...links.values()].filter((one) => one === name).length,
    async close() {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      for (const near of links.keys()) near.destroy();
      await closed;
    },
  };
}

async function firstAccepting(
  targets: readonly Target[],
): Promise<{ readonly name: string; readonly far: Socket } | undefined> {
  for (const { name, port } of targets) {
    const far = await connected(port);
    if (far !== undefined) return { name, far };
  }
  return undefined;
}

function connected(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const far = connect({ host: "127.0.0.1", port });
    far.once("connect", () => resolve(far));
    far.once("error", () => resolve(undefined));
  });
}

/** What ends one side ends the other, with an error or without. */
function bind(near: Socket, far: Socket): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
    one.pipe(other);
  }
}
