/**
 * The server's open sockets, and which of them may be closed to make room. Node's own limit of connections shuts out
 * whoever comes last: a few thousand sockets that never finish a request (slowloris) would lock the owner out. Here only
 * one thing protects a connection: a request on it that passed the gate with a valid key and waits for its answer.
 * Everything a stranger can do (say nothing, send half a head, half a login, a refused body that never ends) leaves the
 * connection where the next newcomer can take its place.
 *
 * Places are cleared after a round of the event loop, and never on behalf of a newcomer whose first bytes the server has
 * not read yet: a flood that arrives together with the owner must not push the owner out before the key is seen.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { ServerLimits } from "./limits.ts";

type Limits = Pick<ServerLimits, "connections" | "pipelined" | "strangerMs">;

export class Connections {
  /** No request on them was ever let in; the oldest first, each with the round in which it came. They make room first. */
  readonly #strangers = new Map<Socket, number>();
  /** A request on them was let in before, and none waits now; the longest idle first. */
  readonly #idle = new Set<Socket>();
  /** How many requests that were let in wait for their answers. */
  readonly #served = new Map<Socket, number>();
  /** Requests of any kind that wait for their answers. */
  readonly #asked = new WeakMap<Socket, number>();
  readonly #limits: Limits;
  #round = 0;
  #clearing = false;
  #closing = false;

  constructor(server: Server, limits: Limits) {
    this.#limits = limits;
    server.on("connection", (socket: Socket) => {
      if (this.#isFull) {
        socket.destroy();
        return;
      }
      this.#strangers.set(socket, this.#round);
      socket.on("close", () => this.#forget(socket));
      // A burst may exceed the limit for one round of the loop, but not without end.
      if (this.count > 2 * limits.connections) this.#evict(this.#strangers.keys());
      else this.#clearSoon();
    });
  }

  get count(): number {
    return this.#strangers.size + this.#idle.size + this.#served.size;
  }

  /** A request whose head has arrived, before anything is known of who sent it. */
  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const asked = (this.#asked.get(socket) ?? 0) + 1;
    this.#asked.set(socket, asked);
    response.on("close", () => this.#asked.set(socket, (this.#asked.get(socket) ?? 1) - 1));
    // No browser asks again before it has its answers; a client that sends thousands at once means harm.
    if (asked > this.#limits.pipelined) socket.destroy();
  }

  /** The request carried a valid key: its connection stays until it is answered. */
  admit({ socket }: IncomingMessage, response: ServerResponse): void {
    const served = this.#served.get(socket) ?? 0;
    if (served === 0 && this.#isFull) socket.destroy();
    if (socket.destroyed) return; // closed before its head was read
    this.#forget(socket);
    this.#served.set(socket, served + 1);
    response.on("close", () => this.#release(socket));
  }

  /** The request carried no valid key: it has a short time for its body and its answer, then its socket is closed. */
  limit(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const deadline = setTimeout(() => socket.destroy(), this.#limits.strangerMs);
    deadline.unref();
    const settle = (): void => {
      if (socket.destroyed || (request.complete && response.writableFinished)) clearTimeout(deadline);
    };
    request.on("close", settle);
    response.on("close", settle);
  }

  /** Each ends with its last answer; at once if it waits for none. */
  closeWhenIdle(): void {
    this.#closing = true;
    for (const socket of [...this.#strangers.keys(), ...this.#idle]) socket.destroy();
  }

  get #isFull(): boolean {
    return this.#served.size >= this.#limits.connections;
  }

  #forget(socket: Socket): void {
    this.#strangers.delete(socket);
    this.#idle.delete(socket);
    this.#served.delete(socket);
  }

  #release(socket: Socket): void {
    const served = this.#served.get(socket);
    if (served === undefined) return;
    if (served > 1) {
      this.#served.set(socket, served - 1);
      return;
    }
    this.#served.delete(socket);
    this.#idle.add(socket);
    if (this.#closing) socket.end();
    this.#clearSoon();
  }

  #clearSoon(): void {
    if (this.#clearing || this.count <= this.#limits.connections) return;
    this.#clearing = true;
    setImmediate(() => {
      this.#clearing = false;
      this.#evict(this.#strangersBefore(this.#round));
      if (this.#strangers.size === 0) this.#evict(this.#idle);
      this.#round += 1;
      this.#clearSoon(); // only newcomers are left: they are read in the round that follows
    });
  }

  *#strangersBefore(round: number): Generator<Socket> {
    for (const [socket, since] of this.#strangers) {
      if (since >= round) return;
      yield socket;
    }
  }

  #evict(candidates: Iterable<Socket>): void {
    for (const socket of candidates) {
      if (this.count <= this.#limits.connections) return;
      this.#forget(socket);
      socket.destroy();
    }
  }
}
