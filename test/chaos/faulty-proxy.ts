/**
 * Stands between one node and the database and breaks connections in the ways a network does: cut, an answer that
 * never arrives, silence in one direction. What a silence held back arrives late, even if its sender has left: that is
 * how a statement of a deposed writer reaches the server after the takeover.
 */

import { createServer, type Server, Socket } from "node:net";
import type { AddressInfo } from "node:net";

export type Direction = "to-server" | "to-client";

/** What to do with the connection whose answer was swallowed: close it, or leave it silent. */
export type AfterSwallow = "cut" | "mute";

interface Swallow {
  /** Only the answer to a statement whose bytes contain this text; undefined: to any. */
  readonly to: string | undefined;
  readonly after: AfterSwallow;
  readonly eaten: () => void;
}

class Pair {
  readonly client: Socket;
  readonly server: Socket;
  readonly #proxy: FaultyProxy;
  /** Chunks that wait for the end of a silence; a null is the end of the stream. */
  readonly #held: Record<Direction, (Buffer | null)[]> = { "to-server": [], "to-client": [] };
  readonly #silent: Record<Direction, boolean> = { "to-server": false, "to-client": false };
  #swallow: Swallow | undefined;
  #muted = false;

  constructor(proxy: FaultyProxy, client: Socket, server: Socket) {
    this.#proxy = proxy;
    this.client = client;
    this.server = server;
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => undefined); // its close follows
    }
    client.on("data", (chunk: Buffer) => this.#fromClient(chunk));
    server.on("data", (chunk: Buffer) => this.#fromServer(chunk));
    client.on("close", () => this.#pass("to-server", null));
    server.on("close", () => this.#pass("to-client", null));
  }

  get ended(): boolean {
    return this.client.destroyed && this.server.destroyed;
  }

  cut(): void {
    for (const socket of [this.client, this.server])
      // A reset of a socket that is already closing leaves its handle open for ever.
      if (socket.writableEnded || socket.destroyed) socket.destroy();
      else socket.resetAndDestroy();
  }

  silence(direction: Direction, isSilent: boolean): void {
    this.#silent[direction] = isSilent;
    if (isSilent) return;
    for (const chunk of this.#held[direction].splice(0)) this.#pass(direction, chunk);
  }

  #fromClient(chunk: Buffer): void {
    this.#swallow ??= this.#proxy.takeSwallow(chunk);
    this.#pass("to-server", chunk);
  }

  #fromServer(chunk: Buffer): void {
    if (this.#muted) return;
    const swallow = this.#swallow;
    if (swallow === undefined) return this.#pass("to-client", chunk);
    // The server answers a statement after its commit, so what is dropped here was done.
    swallow.eaten();
    this.#muted = true;
    if (swallow.after === "cut") this.cut();
  }

  #pass(direction: Direction, chunk: Buffer | null): void {
    if (this.#silent[direction] || this.#held[direction].length > 0) {
      this.#held[direction].push(chunk);
      return;
    }
    const to = direction === "to-server" ? this.server : this.client;
    if (chunk === null) to.destroySoon();
    else if (!to.destroyed) to.write(chunk);
    if (this.ended) this.#proxy.forget(this);
  }
}

export class FaultyProxy {
  readonly #server: Server;
  readonly #target: () => number;
  readonly #pairs = new Set<Pair>();
  readonly #silent: Record<Direction, boolean> = { "to-server": false, "to-client": false };
  #swallows: Swallow[] = [];
  port = 0;

  constructor(target: () => number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  async listen(): Promise<void> {
    await new Promise<void>((done) => {
      this.#server.listen(0, "127.0.0.1", done);
    });
    this.port = (this.#server.address() as AddressInfo).port;
  }

  /** Resets every connection. Returns how many there were. */
  cut(): number {
    const pairs = [...this.#pairs];
    for (const pair of pairs) pair.cut();
    return pairs.length;
  }

  /** The answer to the next statement that fits never arrives. */
  swallow(to: string | undefined, after: AfterSwallow, eaten: () => void): void {
    this.#swallows.push({ to, after, eaten });
  }

  takeSwallow(chunk: Buffer): Swallow | undefined {
    const index = this.#swallows.findIndex(({ to }) => to === undefined || chunk.includes(to));
    return index === -1 ? undefined : this.#swallows.splice(index, 1)[0];
  }

  /** Holds back everything in one direction, also of new connections, until it is called again. */
  silence(direction: Direction, isSilent: boolean): void {
    this.#silent[direction] = isSilent;
    for (const pair of this.#pairs) pair.silence(direction, isSilent);
  }

  /** Ends every fault. */
  calm(): void {
    this.#swallows = [];
    this.silence("to-server", false);
    this.silence("to-client", false);
  }

  forget(pair: Pair): void {
    this.#pairs.delete(pair);
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #accept(client: Socket): void {
    const server = new Socket();
    const pair = new Pair(this, client, server);
    server.connect(this.#target(), "127.0.0.1");
    this.#pairs.add(pair);
    for (const direction of ["to-server", "to-client"] as const)
      if (this.#silent[direction]) pair.silence(direction, true);
  }
}
